// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Security

extension SecureEnclave.P256.PrivateKey where Purpose == SecureEnclave.P256.KeyAgreement {
    /// Computes the ECDH shared secret of this key and the public key of another party.
    ///
    /// Blocks until the daemon has computed it. Prompts when the key's access control has constraints that the
    /// context's proofs do not satisfy. Source: SEC 1, section 3.3.1.
    /// Apple: `SecureEnclave.P256.KeyAgreement.PrivateKey.sharedSecretFromKeyAgreement(with:)`.
    ///
    /// - Parameter publicKeyShare: the public key of the other party.
    /// - Returns: the shared secret, 32 bytes; do not use it as a key, but derive keys from it.
    /// - Throws: an error of the domain of `LAError` when the user does not authenticate or the access control
    ///   does not allow key agreement; otherwise an error of `NSOSStatusErrorDomain`.
    public func sharedSecretFromKeyAgreement(with publicKeyShare: Purpose.PublicKey) throws -> SharedSecret {
        var error: Unmanaged<CFError>?
        let secret = SecKeyCopyKeyExchangeResult(
            enclave.key, .ecdhKeyExchangeStandard, publicKeyShare.key, NSDictionary(), &error)
        guard let secret else { throw thrown(error) }
        return SharedSecret(secret as Data)
    }
}

extension SecureEnclave.P256.KeyAgreement: EnclaveKeyPurpose {
    /// A P-256 private key in the Secure Enclave for ECDH key agreement.
    public typealias PrivateKey = SecureEnclave.P256.PrivateKey<Self>

    /// A P-256 public key for key agreement. Apple: CryptoKit's `P256.KeyAgreement.PublicKey`.
    public struct PublicKey: EnclavePublicKey, Hashable {
        let key: SecKey

        /// The key in X9.63 representation: the uncompressed point 04, X, Y, 65 bytes, coordinates big-endian.
        public let x963Representation: Data

        /// Reads a public key from its X9.63 representation. Computes in this process; does not prompt.
        ///
        /// - Parameter x963Representation: the uncompressed point 04, X, Y: 65 bytes, coordinates big-endian.
        /// - Throws: an error of `NSOSStatusErrorDomain`, -50 (`errSecParam`), for another length or a point that is
        ///   not on P-256.
        public init(x963Representation: some ContiguousBytes) throws {
            (key, self.x963Representation) = try readPublicKey(x963Representation)
        }

        /// The key in raw representation: X, Y, 64 bytes, coordinates big-endian.
        public var rawRepresentation: Data { Data(x963Representation.dropFirst()) }
    }
}

/// An ECDH shared secret: the X coordinate of the common point, 32 bytes, big-endian. Apple: CryptoKit's
/// `SharedSecret`.
///
/// The bytes are not uniformly random. Derive a symmetric key from them, for example with HKDF, before encrypting.
public struct SharedSecret: ContiguousBytes, Hashable, Sendable {
    private let bytes: Data

    init(_ bytes: Data) { self.bytes = bytes }

    /// Calls a closure with the 32 bytes of the secret.
    ///
    /// Never prompts, and blocks only if the closure does.
    ///
    /// - Parameter body: a closure that reads the bytes; the buffer is valid only during the call.
    /// - Returns: the result of `body`.
    /// - Throws: the error that `body` throws.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
}
