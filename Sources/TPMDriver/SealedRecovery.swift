// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// The recovery of a root key that a TPM seals.
package struct SealedRecovery: RecoverableVault {
    private let vault: TPMKeyVault
    private let binding: TPMKeyVault.Binding

    /// Creates a recovery; a recovered root key is sealed with that binding.
    package init(_ vault: TPMKeyVault, _ binding: TPMKeyVault.Binding) { (self.vault, self.binding) = (vault, binding) }

    package func opens(_ key: SecretBytes) throws(Failure) -> Bool { try vault.opens(with: key) }

    package func keep(_ key: SecretBytes?) throws(Failure) { try vault.keepRecovery(key) }

    package func recover(_ key: SecretBytes, replacement: SecretBytes) throws(Failure) -> Bool {
        try vault.recover(with: key, binding, replacement: replacement)
    }
}
