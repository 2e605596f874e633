// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A new private key of P-256 as its module gives it away.
package struct ModuleKey: Sendable {
    /// What the module needs to use the key again: a sealed object of a TPM, or the key itself.
    package var blob: SecretBytes
    /// X9.63: 04, X, Y; 65 bytes.
    package var publicKey: [UInt8]

    /// Makes a key.
    package init(blob: SecretBytes, publicKey: [UInt8]) {
        self.blob = blob
        self.publicKey = publicKey
    }
}

/// Who holds private keys: the Secure Enclave's place. One contract suite runs over every driver.
///
/// Calls block, and may come from any thread. The engine has checked rule and proof before any of them; a module that
/// can check them itself (a TPM's policy) is given the rule at creation.
package protocol KeyModule: AnyObject, Sendable {
    /// What does the work.
    var kind: EnclaveKind { get }
    /// Makes a private key of P-256 that is used under `rule`.
    func create(_ rule: AccessControl) throws(Failure) -> ModuleKey
    /// ECDSA over a digest of 20 to 64 bytes, of which the leftmost 32 count: r and s, each 32 bytes, big-endian.
    func sign(_ blob: SecretBytes, digest: [UInt8]) throws(Failure) -> SecretBytes
    /// ECDH: the X coordinate, 32 bytes. Throws `invalidParameter` for what is no point of the curve.
    func agree(_ blob: SecretBytes, point: [UInt8]) throws(Failure) -> SecretBytes
}
