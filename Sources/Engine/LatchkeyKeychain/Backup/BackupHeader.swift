// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

/// The first bytes of a backup: magic, version, and the salt of its key (`docs/reference/backup-format.md`).
package struct BackupHeader: Equatable, Sendable {
    /// Length of a header in bytes.
    package static let byteCount = 32
    private static let magic = FileMark.backup.bytes
    private static let version: UInt8 = 1
    /// Base-2 logarithm of scrypt's N. The recovery code has 125 random bits, so its strength does not depend on the
    /// cost.
    private static let cost: UInt8 = 15

    let salt: [UInt8]

    package static func make() throws(Failure) -> BackupHeader { BackupHeader(salt: try randomBytes(16)) }

    init(salt: [UInt8]) { self.salt = salt }

    package var bytes: [UInt8] { Self.magic + [Self.version] + salt }

    /// Decodes a header. Throws `unsupportedVersion` for another version, `invalidParameter` for any other file.
    package init(_ bytes: [UInt8]) throws(Failure) {
        guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic) else {
            throw Failure(.invalidParameter, "The file is not a backup of Latchkey.", hint: "Choose another file.")
        }
        guard bytes[15] == Self.version else {
            throw Failure(
                .unsupportedVersion, "The backup has version \(bytes[15]), and this Latchkey reads version 1.",
                hint: "Install a newer version of Latchkey.")
        }
        salt = Array(bytes[16...])
    }

    func key(_ code: RecoveryCode) throws(Failure) -> SymmetricKey {
        try SymmetricKey.stretching(code.characters, salt: salt, cost: Self.cost)
    }

    /// The associated data of a record: the header, its sequence number, and whether it is the last.
    func associatedData(_ sequence: UInt64, isLast: Bool) -> [UInt8] {
        CryptographicLabel.backup.bytes + [0] + bytes
            + (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (56 - 8 * UInt64($0))) } + [isLast ? 1 : 0]
    }
}
