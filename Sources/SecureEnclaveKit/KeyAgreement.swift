// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LocalAuthentication
public import Security

extension SecureEnclave.P256.KeyAgreement {
    /// A private key that agrees on secrets. Apple: `SecureEnclave.P256.KeyAgreement.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let enclave: EnclaveKey

        /// Its public half.
        public let publicKey: PublicKey

        /// Makes a key.
        ///
        /// - Parameters:
        ///   - accessControl: what has to be proven before it is used; has to hold `.privateKeyUsage`.
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

        /// The secret in common with another key (SEC 1, section 3.3.1). Blocks, and may prompt.
        ///
        /// - Throws: an error of the key's access control in the domain of `LAError`, else of `NSOSStatusErrorDomain`.
        public func sharedSecretFromKeyAgreement(with publicKeyShare: PublicKey) throws -> SharedSecret {
            var error: Unmanaged<CFError>?
            let secret = SecKeyCopyKeyExchangeResult(
                enclave.key, .ecdhKeyExchangeStandard, publicKeyShare.key, NSDictionary(), &error)
            guard let secret else { throw thrown(error) }
            return SharedSecret(secret as Data)
        }
    }

    /// A public key to agree with. Stands for CryptoKit's `P256.KeyAgreement.PublicKey`.
    public struct PublicKey: Hashable, Sendable {
        let key: SecKey

        /// 04, X and Y: 65 bytes.
        public let x963Representation: Data

        /// Takes 65 bytes; throws for what is no point of the curve.
        public init(x963Representation: some ContiguousBytes) throws {
            (key, self.x963Representation) = try readPublicKey(x963Representation)
        }

        /// X and Y: 64 bytes.
        public var rawRepresentation: Data { Data(x963Representation.dropFirst()) }
    }
}

/// A secret that two keys agreed on: the X coordinate, 32 bytes. Stands for CryptoKit's type of the same name.
///
/// It is no key by itself: derive one from it before anything is encrypted.
public struct SharedSecret: ContiguousBytes, Hashable, Sendable {
    private let bytes: Data

    init(_ bytes: Data) { self.bytes = bytes }

    /// Lends the bytes to `body`.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
}
