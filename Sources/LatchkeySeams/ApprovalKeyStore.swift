// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role that stores the private key with which an authority approves uses of keys.
package protocol ApprovalKeyStore: AnyObject, Sendable {
    /// Returns the key, a scalar of P-256 of 32 bytes; makes and stores it when it is needed first. Blocks.
    ///
    /// - Throws: `storeUnreadable` for a changed key. Keys that are bound to it are useless without it, so it is never
    ///   replaced.
    func approvalKey() throws(Failure) -> SecretBytes
}
