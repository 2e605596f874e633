// SPDX-License-Identifier: Apache-2.0

package import LatchkeyCrypto
package import LatchkeyModel
import LatchkeyWire

/// Encrypts items as the records of a backup, in order. The caller does all input and output.
package struct BackupWriter {
    private let header: BackupHeader
    private let key: SymmetricKey
    private var sequence: UInt64 = 0

    /// Starts a backup, whose first bytes must be `header.bytes`. Blocks for the duration of scrypt.
    package init(_ header: BackupHeader, _ code: RecoveryCode) throws(Failure) {
        self.header = header
        key = try header.key(code)
    }

    /// Returns the record of an item; nil for an item that exceeds the size limit.
    package mutating func record(_ item: FoundItem) throws(Failure) -> [UInt8]? {
        let message = Message.encoded(.items([item], more: true), id: sequence)
        guard message.count <= Limits.frameBytes else { return nil }
        return try seal(message, isLast: false)
    }

    /// Returns the last record, without which a backup is recognised as truncated.
    package mutating func end() throws(Failure) -> [UInt8] {
        try seal(Message.encoded(.items([], more: false), id: sequence), isLast: true)
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
