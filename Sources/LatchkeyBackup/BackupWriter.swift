// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeyWire

/// Turns items into the bytes of a backup, in order. Input and output are the caller's.
package struct BackupWriter {
    private let header: BackupHeader
    private let key: SymmetricKey
    private var sequence: UInt64 = 0

    /// Begins a backup; blocks for scrypt. `header.bytes` come first in the file.
    package init(_ header: BackupHeader, _ code: RecoveryCode) throws(Failure) {
        self.header = header
        key = try header.key(code)
    }

    /// The record of an item; nil for one that is larger than any record.
    package mutating func record(_ item: FoundItem) throws(Failure) -> [UInt8]? {
        let message = Message.reply(id: sequence, .items([item], more: true)).encoded()
        guard message.count <= Limits.frameBytes else { return nil }
        return try seal(message, isLast: false)
    }

    /// The last record: without it a backup is known to have been cut.
    package mutating func end() throws(Failure) -> [UInt8] {
        try seal(Message.reply(id: sequence, .items([], more: false)).encoded(), isLast: true)
    }

    private mutating func seal(_ message: SecretBytes, isLast: Bool) throws(Failure) -> [UInt8] {
        let nonce = try randomBytes(SymmetricKey.nonceBytes)
        let sealed = try key.seal(
            message, nonce: nonce, authenticating: header.associatedData(sequence, isLast: isLast))
        sequence += 1
        let count = UInt32(sealed.count)
        return [isLast ? 1 : 0] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * UInt32($0))) } + sealed
    }
}
