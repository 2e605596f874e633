// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams
import LatchkeySystem

/// The root key under a recovery code, which opens a store whose TPM was replaced or does not unseal. A code has enough
/// random bits that it is not stretched.
enum RootKeyRecovery {
    private static let associated = CryptographicLabel.rootRecovery.bytes

    static func seal(_ rootKey: SecretBytes, _ code: SecretBytes, _ random: any RandomSource) throws(Failure) -> [UInt8]
    {
        try SymmetricKey.combining([code], label: .rootRecovery)
            .seal(rootKey, nonce: random.bytes(SymmetricKey.nonceBytes).copyBytes(), authenticating: associated)
    }

    /// Decrypts the root key.
    ///
    /// - Throws: `itemAuthenticationFailed` for another code, or if there is none.
    static func open(_ sealed: [UInt8], _ code: SecretBytes) throws(Failure) -> SecretBytes {
        guard !sealed.isEmpty else {
            throw Failure(
                .itemAuthenticationFailed, "The store has no recovery code.",
                hint: "Only the TPM that sealed its root key can open it.")
        }
        let key = try SymmetricKey.combining([code], label: .rootRecovery)
        guard let rootKey = try key.open(sealed, authenticating: associated) else {
            throw Failure(
                .itemAuthenticationFailed, "The recovery code is not the one of this store, or root.key was changed.",
                hint: "Enter the code that was shown last. A new code replaces the one before.")
        }
        return rootKey
    }
}

/// The recovery of a root key that a TPM seals.
package struct SealedRecovery: RecoverableVault {
    private let vault: TPMKeyVault
    private let binding: TPMKeyVault.Binding
    private let file: RecoveryCopyFile

    /// Creates a recovery.
    ///
    /// - Parameters:
    ///   - binding: what a recovered root key is sealed with.
    ///   - path: the file of the authority's records.
    package init(_ vault: TPMKeyVault, _ binding: TPMKeyVault.Binding, copy path: String) {
        (self.vault, self.binding, file) = (vault, binding, RecoveryCopyFile(path: path))
    }

    package func opens(_ key: SecretBytes) throws(Failure) -> Bool { try vault.opens(with: key) }

    package func hasCode() throws(Failure) -> Bool { try vault.hasCode() }

    package func persist(_ key: SecretBytes?) throws(Failure) { try vault.storeRecovery(key) }

    package func recover(_ key: SecretBytes, replacement: SecretBytes) throws(Failure) -> Bool {
        try vault.recover(with: key, binding, replacement: replacement)
    }

    package func copy() throws(Failure) -> [UInt8] { try file.read() }

    package func persist(copy: [UInt8]) throws(Failure) { try file.replace(copy) }
}

/// The file `recovery` in the folder of a store: a copy of latchkey-authd's records of the recovery codes, behind a header
/// that names its format. It has no authentication code, because latchkey-authd authenticates the records with the
/// recovery code.
struct RecoveryCopyFile: Sendable {
    let path: String

    private static let mark = FileMark.recoveryCopy.bytes

    /// Returns the bytes; empty without a file. Throws `storeUnreadable` for a file of another form or one that cannot be
    /// read.
    func read() throws(Failure) -> [UInt8] {
        let stored: SecretBytes?
        do throws(SystemError) {
            stored = try Files.read(path, limit: Self.mark.count + Limits.recoveryCopyBytes)
        } catch {
            throw Failure(
                .storeUnreadable, "\(path) cannot be read: \(String(cString: strerror(error.code))).",
                hint: "Make it a readable file of the keychain's owner, or restore it from a backup.", cause: error)
        }
        guard let bytes = stored?.copyBytes() else { return [] }
        guard !bytes.isEmpty else {
            throw Failure(.storeUnreadable, "\(path) is empty.", hint: "Restore it from a backup.")
        }
        guard bytes.starts(with: Self.mark) else {
            guard bytes.starts(with: Self.family) else {
                throw Failure(
                    .storeUnreadable, "\(path) was changed by another program.", hint: "Restore it from a backup.")
            }
            throw Failure(
                .storeUnreadable, "\(path) is of a version that this Latchkey does not read.",
                hint: "Install the newest version of Latchkey, or restore the file from a backup.")
        }
        return Array(bytes[Self.mark.count...])
    }

    /// The header without its version.
    private static let family = mark.dropLast(2)

    /// Replaces the bytes; durable on return.
    func replace(_ bytes: [UInt8]) throws(Failure) {
        guard bytes.count <= Limits.recoveryCopyBytes else {
            throw Failure(.invalidParameter, "The records of the recovery codes are too large.")
        }
        do throws(SystemError) {
            try Files.replace(path, with: SecretBytes(Self.mark + bytes))
        } catch {
            throw Failure(error, "\(path) cannot be written")
        }
    }
}
