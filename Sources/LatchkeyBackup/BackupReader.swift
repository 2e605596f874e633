// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeyWire

/// Turns the bytes of a backup into items, in order. Nothing in them can stop the program.
package struct BackupReader {
    /// Bytes in front of each record: whether it is the last, then the length of what follows.
    package static let prefixBytes = 5

    private let header: BackupHeader
    private let key: SymmetricKey
    private var sequence: UInt64 = 0

    /// Begins with the header of a file; blocks for scrypt.
    package init(_ header: BackupHeader, _ code: RecoveryCode) throws(Failure) {
        self.header = header
        key = try header.key(code)
    }

    /// The same at its first record again; the key is not stretched anew.
    package var atStart: BackupReader {
        var reader = self
        reader.sequence = 0
        return reader
    }

    /// How many bytes follow a prefix.
    package func length(_ prefix: [UInt8]) throws(Failure) -> Int {
        guard prefix.count == Self.prefixBytes, prefix[0] <= 1 else { throw damage }
        let count = prefix[1...].reduce(0) { $0 << 8 | Int($1) }
        // An item never takes more than the frame it came in.
        guard count <= Limits.frameBytes + 64 else { throw damage }
        return count
    }

    /// The item of a record; nil for the record that ends the backup.
    package mutating func item(_ prefix: [UInt8], _ sealed: [UInt8]) throws(Failure) -> FoundItem? {
        let isLast = prefix.first == 1
        guard let plain = try key.open(sealed, authenticating: header.associatedData(sequence, isLast: isLast)) else {
            guard sequence > 0 else {
                throw Failure(
                    .itemAuthenticationFailed, "The recovery code does not open this backup, or the file was changed.",
                    hint: "Type the code that was shown when it was made.")
            }
            throw damage
        }
        guard case .reply(sequence, .items(let items, more: !isLast))? = try? Message(decoding: plain),
            items.count == (isLast ? 0 : 1)
        else { throw damage }
        sequence += 1
        return items.first
    }

    var damage: Failure {
        Failure(
            .storeUnreadable, "The backup is damaged behind \(sequence) records.",
            hint: "Nothing of it was imported. Try another copy of the file.")
    }
}
