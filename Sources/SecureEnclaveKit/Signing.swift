// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LocalAuthentication
public import Security

extension SecureEnclave.P256.Signing {
    /// A private key that signs. Apple: `SecureEnclave.P256.Signing.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let enclave: EnclaveKey

        /// Its public half.
        public let publicKey: PublicKey

        /// Makes a key.
        ///
        /// - Parameters:
        ///   - accessControl: what has to be proven before it signs; has to hold `.privateKeyUsage`.
        ///   - authenticationContext: what has been proven, and what prompts say; without one each use asks anew.
        /// - Throws: an error of `NSOSStatusErrorDomain`; -25291 where there is no Secure Enclave.
        ///
        /// Blocks; prompts only for a passcode that the rule needs.
        public init(accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclaveKey(accessControl, authenticationContext))
        }

        /// Makes a key that works while the device is unlocked.
        public init(authenticationContext: LAContext? = nil) throws {
            try self.init(EnclaveKey(nil, authenticationContext))
        }

        /// Takes up a key that was made here before.
        ///
        /// - Throws: an error of `NSOSStatusErrorDomain`; -50 for bytes that this Secure Enclave did not make for this app.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclaveKey(dataRepresentation, authenticationContext))
        }

        private init(_ enclave: EnclaveKey) throws {
            self.enclave = enclave
            publicKey = try PublicKey(x963Representation: enclave.point())
        }

        /// Sealed bytes by which the key is taken up again; no secret, and of no use elsewhere.
        public var dataRepresentation: Data { enclave.data }

        /// Signs data with ECDSA over its SHA-256. Blocks, and may prompt.
        ///
        /// - Throws: an error of the key's access control in the domain of `LAError`, else of `NSOSStatusErrorDomain`.
        public func signature(for data: some DataProtocol) throws -> ECDSASignature {
            var error: Unmanaged<CFError>?
            let signature = SecKeyCreateSignature(
                enclave.key, .ecdsaSignatureMessageRFC4754SHA256, Data(data) as CFData, &error)
            guard let signature else { throw thrown(error) }
            return try ECDSASignature(rawRepresentation: signature as Data)
        }
    }

    /// A public key that checks signatures. Stands for CryptoKit's `P256.Signing.PublicKey`.
    public struct PublicKey: Hashable, Sendable {
        private let key: SecKey

        /// 04, X and Y: 65 bytes.
        public let x963Representation: Data

        /// Takes 65 bytes; throws for what is no point of the curve.
        public init(x963Representation: some ContiguousBytes) throws {
            (key, self.x963Representation) = try readPublicKey(x963Representation)
        }

        /// X and Y: 64 bytes.
        public var rawRepresentation: Data { Data(x963Representation.dropFirst()) }

        /// Takes X and Y, 64 bytes; throws for what is no point of the curve.
        public init(rawRepresentation: some ContiguousBytes) throws {
            try self.init(x963Representation: Data([4]) + rawRepresentation.withUnsafeBytes { Data($0) })
        }

        /// Whether it is a signature of the private key over that data.
        public func isValidSignature(_ signature: ECDSASignature, for data: some DataProtocol) -> Bool {
            SecKeyVerifySignature(
                key, .ecdsaSignatureMessageRFC4754SHA256, Data(data) as CFData, signature.rawRepresentation as CFData,
                nil)
        }
    }

    /// An ECDSA signature. Stands for CryptoKit's `P256.Signing.ECDSASignature`.
    public struct ECDSASignature: Hashable, Sendable {
        /// r and s: 64 bytes, as in RFC 4754.
        public let rawRepresentation: Data

        /// Takes r and s; throws for any other length.
        public init(rawRepresentation: some DataProtocol) throws {
            guard rawRepresentation.count == 64 else { throw thrown(nil) }
            self.rawRepresentation = Data(rawRepresentation)
        }
    }
}

/// Reads a public key of P-256.
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
