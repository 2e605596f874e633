// SPDX-License-Identifier: Apache-2.0

package import LatchkeyCrypto
package import LatchkeyModel
import LatchkeyWire

/// Decrypts the records of a backup in order. Malformed input throws and never traps.
package struct BackupReader {
    /// Length of the prefix of each record in bytes: one byte says whether the record is the last, and four bytes are
    /// the length of the sealed bytes that follow (big-endian).
    package static let prefixBytes = 5

    private let header: BackupHeader
    private let key: SymmetricKey
    private var sequence: UInt64 = 0

    /// Starts with the header of a file. Blocks for the duration of scrypt.
    package init(_ header: BackupHeader, _ code: RecoveryCode) throws(Failure) {
        self.header = header
        key = try header.key(code)
    }

    /// A reader at the first record, with the same key and without stretching again.
    package var atStart: BackupReader {
        var reader = self
        reader.sequence = 0
        return reader
    }

    /// Returns the length of the record after a prefix, in bytes; throws `storeUnreadable` for a malformed one.
    package func length(_ prefix: [UInt8]) throws(Failure) -> Int {
        guard prefix.count == Self.prefixBytes, prefix[0] <= 1 else { throw damage }
        let count = prefix[1...].reduce(0) { $0 << 8 | Int($1) }
        // An item is never larger than the frame in which it arrived.
        guard count <= Limits.frameBytes + 64 else { throw damage }
        return count
    }

    /// Decrypts the next record; nil for the one that ends the backup.
    ///
    /// Throws `itemAuthenticationFailed` when the first record does not open, which usually means a wrong code, and
    /// `storeUnreadable` for any other damage.
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
        // What cannot be decoded is the damage that is thrown below.
        guard case .reply(sequence, .items(let items, more: !isLast))? = try? Message(decoding: plain),
            items.count == (isLast ? 0 : 1)
        else { throw damage }
        sequence += 1
        return items.first
    }

    var damage: Failure {
        Failure(
            .storeUnreadable, "The backup is damaged after \(sequence) records.",
            hint: "Nothing of it was imported. Try another copy of the file.")
    }
}
