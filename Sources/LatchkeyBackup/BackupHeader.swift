// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

/// The first bytes of a backup: what it is, its version, and the salt of its key. `docs/backup-format.md` has the rest.
package struct BackupHeader: Equatable, Sendable {
    /// Bytes of a header.
    package static let byteCount = 32
    private static let magic = FileMark.backup.bytes
    private static let version: UInt8 = 1
    /// Exponent of scrypt's cost. The code is random, so this is for those who write their own.
    private static let cost: UInt8 = 15

    let salt: [UInt8]

    /// Makes a header with a new salt.
    package static func make() throws(Failure) -> BackupHeader { BackupHeader(salt: try randomBytes(16)) }

    init(salt: [UInt8]) { self.salt = salt }

    /// The bytes.
    package var bytes: [UInt8] { Self.magic + [Self.version] + salt }

    /// Reads the bytes of a header; tells a newer version from something else.
    package init(_ bytes: [UInt8]) throws(Failure) {
        guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic) else {
            throw Failure(.invalidParameter, "The file is no backup of Latchkey.", hint: "Choose another file.")
        }
        guard bytes[15] == Self.version else {
            throw Failure(
                .unsupportedVersion, "The backup has version \(bytes[15]), and this one reads version 1.",
                hint: "Install a newer version of Latchkey.")
        }
        salt = Array(bytes[16...])
    }

    func key(_ code: RecoveryCode) throws(Failure) -> SymmetricKey {
        try SymmetricKey.stretching(code.characters, salt: salt, cost: Self.cost)
    }

    /// What a record is bound to: the file, its place in it, and whether it is the last.
    func associatedData(_ sequence: UInt64, isLast: Bool) -> [UInt8] {
        CryptographicLabel.backup.bytes + [0] + bytes
            + (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (56 - 8 * UInt64($0))) } + [isLast ? 1 : 0]
    }
}
