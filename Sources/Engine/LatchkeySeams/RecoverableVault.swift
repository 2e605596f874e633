// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role of a vault whose root key a recovery code opens, also when the device that seals it is gone. All functions
/// block. The keys are derived from a code by `latchkey-authd`, 32 bytes.
package protocol RecoverableVault: Sendable {
    /// Returns whether a key opens the root key.
    func opens(_ key: SecretBytes) throws(Failure) -> Bool
    /// Returns whether any key opens the root key without its device.
    func hasCode() throws(Failure) -> Bool
    /// Makes a key open the root key, instead of every earlier one; with nil, none does. Durable on return.
    func keep(_ key: SecretBytes?) throws(Failure)
    /// Opens the root key, seals it to the present device, and makes the replacement open it instead of the key. Durable
    /// on return; on a failure nothing is changed.
    ///
    /// - Returns: whether the present device is another one than before, so that keys in that one are lost.
    /// - Throws: `itemAuthenticationFailed` for another key.
    func recover(_ key: SecretBytes, replacement: SecretBytes) throws(Failure) -> Bool
    /// Returns what the authority has had kept; empty for nothing.
    func copy() throws(Failure) -> [UInt8]
    /// Keeps records of the authority that no key of this process opens; empty to remove them. Durable on return.
    func keep(copy: [UInt8]) throws(Failure)
}
