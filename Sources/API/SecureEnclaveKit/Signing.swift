// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Security

extension SecureEnclave.P256.PrivateKey where Purpose == SecureEnclave.P256.Signing {
    /// Signs data with ECDSA and SHA-256.
    ///
    /// Blocks until the daemon has signed. Prompts when the key's access control has constraints that the
    /// context's proofs do not satisfy. Apple: `SecureEnclave.P256.Signing.PrivateKey.signature(for:)`.
    ///
    /// - Parameter data: the message, of any length; this function computes its SHA-256 digest.
    /// - Returns: the signature; its numbers are available as `rawRepresentation`.
    /// - Throws: an error of the domain of `LAError` when the user does not authenticate or the access control
    ///   does not allow signing; otherwise an error of `NSOSStatusErrorDomain`.
    public func signature(for data: some DataProtocol) throws -> SecureEnclave.P256.Signing.ECDSASignature {
        var error: Unmanaged<CFError>?
        let signature = SecKeyCreateSignature(
            enclave.key, .ecdsaSignatureMessageRFC4754SHA256, Data(data) as CFData, &error)
        guard let signature else { throw thrown(error) }
        return try SecureEnclave.P256.Signing.ECDSASignature(rawRepresentation: signature as Data)
    }
}

extension SecureEnclave.P256.Signing: EnclaveKeyPurpose {
    /// A P-256 private key in the Secure Enclave that creates ECDSA signatures.
    public typealias PrivateKey = SecureEnclave.P256.PrivateKey<Self>

    /// A P-256 public key that verifies ECDSA signatures. Apple: CryptoKit's `P256.Signing.PublicKey`.
    public struct PublicKey: EnclavePublicKey, Hashable {
        private let key: SecKey

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

        /// Reads a public key from its raw representation. Computes in this process; does not prompt.
        ///
        /// - Parameter rawRepresentation: X, Y: 64 bytes, coordinates big-endian.
        /// - Throws: an error of `NSOSStatusErrorDomain`, -50 (`errSecParam`), for another length or a point that is
        ///   not on P-256.
        public init(rawRepresentation: some ContiguousBytes) throws {
            try self.init(x963Representation: Data([4]) + rawRepresentation.withUnsafeBytes { Data($0) })
        }

        /// Verifies an ECDSA signature with SHA-256. Computes in this process; does not prompt.
        ///
        /// - Parameters:
        ///   - signature: the signature to verify.
        ///   - data: the message, of any length; this function computes its SHA-256 digest.
        /// - Returns: true when the private key of this public key created the signature for `data`; false otherwise.
        public func isValidSignature(_ signature: ECDSASignature, for data: some DataProtocol) -> Bool {
            SecKeyVerifySignature(
                key, .ecdsaSignatureMessageRFC4754SHA256, Data(data) as CFData, signature.rawRepresentation as CFData,
                nil)
        }
    }

    /// An ECDSA signature of P-256. Apple: CryptoKit's `P256.Signing.ECDSASignature`.
    public struct ECDSASignature: Hashable, Sendable {
        /// The signature as r ‖ s: 64 bytes, both numbers big-endian (RFC 4754, section 7).
        public let rawRepresentation: Data

        /// Creates a signature from its raw representation; does not check the numbers, and neither blocks nor prompts.
        ///
        /// - Parameter rawRepresentation: r ‖ s: 64 bytes, both numbers big-endian (RFC 4754, section 7).
        /// - Throws: an error of `NSOSStatusErrorDomain`, -50 (`errSecParam`), for any other length.
        public init(rawRepresentation: some DataProtocol) throws {
            guard rawRepresentation.count == 64 else { throw thrown(nil) }
            self.rawRepresentation = Data(rawRepresentation)
        }
    }
}

/// Reads a P-256 public key from its X9.63 representation (65 bytes).
func readPublicKey(_ point: some ContiguousBytes) throws -> (SecKey, Data) {
    let data = point.withUnsafeBytes { Data($0) }
    let attributes: [CFString: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic,
    ]
    var error: Unmanaged<CFError>?
    guard data.count == 65, let key = SecKeyCreateWithData(data as CFData, attributes as CFDictionary, &error) else {
        throw thrown(error)
    }
    return (key, data)
}
