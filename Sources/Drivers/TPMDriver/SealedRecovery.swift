// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

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
