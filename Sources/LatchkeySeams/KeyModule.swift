// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A new P-256 private key in the form in which its module exports it.
package struct ModuleKey: Sendable {
    /// The bytes with which the module can use the key again: a sealed object of a TPM, or the private key itself.
    package var blob: SecretBytes
    /// The public key in X9.63 format: 04, X, Y; 65 bytes.
    package var publicKey: [UInt8]

    /// Creates a key from its parts.
    package init(blob: SecretBytes, publicKey: [UInt8]) {
        self.blob = blob
        self.publicKey = publicKey
    }
}

/// The role of the Secure Enclave: creates and uses private keys. One contract suite tests every driver.
///
/// All calls block and may come from any thread. The engine checks access control and proofs before each call. A
/// module that can check them itself (a TPM by its policy) receives the access control when the key is created.
package protocol KeyModule: AnyObject, Sendable {
    /// The kind of implementation.
    var kind: EnclaveKind { get }
    /// Creates a P-256 private key with the access control `rule`.
    func create(_ rule: AccessControl) throws(Failure) -> ModuleKey
    /// Signs a digest with ECDSA.
    ///
    /// - Parameters:
    ///   - blob: the `ModuleKey.blob` of the key.
    ///   - digest: 20 to 64 bytes, of which ECDSA uses the leftmost 32.
    /// - Returns: r and s, each 32 bytes, big-endian.
    func sign(_ blob: SecretBytes, digest: [UInt8]) throws(Failure) -> SecretBytes
    /// Computes an ECDH shared secret.
    ///
    /// - Parameters:
    ///   - blob: the `ModuleKey.blob` of the key.
    ///   - point: the other public key in X9.63 format, 65 bytes.
    /// - Returns: the X coordinate, 32 bytes.
    /// - Throws: `invalidParameter` if `point` is not on the curve.
    func agree(_ blob: SecretBytes, point: [UInt8]) throws(Failure) -> SecretBytes
}
