// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams

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

    package func keep(_ key: SecretBytes?) throws(Failure) { try vault.keepRecovery(key) }

    package func recover(_ key: SecretBytes, replacement: SecretBytes) throws(Failure) -> Bool {
        try vault.recover(with: key, binding, replacement: replacement)
    }

    package func copy() throws(Failure) -> [UInt8] { try file.read() }

    package func keep(copy: [UInt8]) throws(Failure) { try file.replace(copy) }
}
