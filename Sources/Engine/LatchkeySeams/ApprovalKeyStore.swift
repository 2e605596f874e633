// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role that stores the private key with which an authority approves uses of keys.
package protocol ApprovalKeyStore: AnyObject, Sendable {
    /// Returns the stored key, a scalar of P-256 of 32 bytes; nil if there is none. Blocks.
    ///
    /// - Throws: `storeUnreadable` for a changed key.
    func storedApprovalKey() throws(Failure) -> SecretBytes?
    /// Stores a key durably if there is none, and returns the stored one. Keys of the TPM that are bound to it are useless
    /// without it, so it is never replaced. Blocks.
    ///
    /// - Parameter key: the key; nil for a new one.
    /// - Throws: `storeUnreadable` for a changed key.
    func keepApprovalKey(_ key: SecretBytes?) throws(Failure) -> SecretBytes
}
