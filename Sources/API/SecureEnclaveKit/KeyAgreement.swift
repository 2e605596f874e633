// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LocalAuthentication
public import Security

extension SecureEnclave.P256.KeyAgreement {
    /// A P-256 private key in the Secure Enclave for ECDH key agreement.
    ///
    /// Apple: `SecureEnclave.P256.KeyAgreement.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let enclave: EnclaveKey

        /// The public key of this private key.
        public let publicKey: PublicKey

        /// Creates a private key with an access control in the Secure Enclave.
        ///
        /// Blocks until the daemon has created the key. Prompts for the passcode only when the protection of
        /// `accessControl` is `kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly` and the passcode was not entered
        /// since the daemon started.
        /// Apple: `init(compactRepresentable:accessControl:authenticationContext:)` of the same type.
        ///
        /// - Parameters:
        ///   - accessControl: the protection of the key and the constraints that the user must satisfy before each use.
        ///     Include `.privateKeyUsage`: without it every use fails with code -1009 of the domain of `LAError`.
        ///   - authenticationContext: the context that provides the proofs and the prompt texts for this call and for all
        ///     later uses of the key; with nil, each use of a protected key prompts.
        /// - Throws: an error of `NSOSStatusErrorDomain`: -25291 (`errSecNotAvailable`) when there is no Secure
        ///   Enclave, or another code of `SecKeyCreateRandomKey`.
        public init(accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclaveKey(accessControl, authenticationContext))
        }

        /// Creates a private key without user constraints, which can be used while the device is unlocked.
        ///
        /// Its access control is `kSecAttrAccessibleWhenUnlockedThisDeviceOnly` with `.privateKeyUsage`. Blocks until
        /// the daemon has created the key; does not prompt.
        /// Apple: `init(compactRepresentable:accessControl:authenticationContext:)` of the same type.
        ///
        /// - Parameter authenticationContext: the context that is passed with each use of the key; nil for none.
        /// - Throws: an error of `NSOSStatusErrorDomain`: -25291 (`errSecNotAvailable`) when there is no Secure
        ///   Enclave, or another code of `SecKeyCreateRandomKey`.
        public init(authenticationContext: LAContext? = nil) throws {
            try self.init(EnclaveKey(nil, authenticationContext))
        }

        /// Restores a private key from its `dataRepresentation`.
        ///
        /// Blocks for one request to the daemon; does not prompt.
        /// Apple: `init(dataRepresentation:authenticationContext:)` of the same type.
        ///
        /// - Parameters:
        ///   - dataRepresentation: the `dataRepresentation` of a key that this app created on this machine for this
        ///     user.
        ///   - authenticationContext: the context that provides the proofs and the prompt texts for all uses of the key;
        ///     with nil, each use of a protected key prompts.
        /// - Throws: an error of `NSOSStatusErrorDomain`: -50 (`errSecParam`) for bytes that the Secure Enclave did not
        ///   create for this app. Changes to the encrypted private key are detected at its first use instead.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclaveKey(dataRepresentation, authenticationContext))
        }

        private init(_ enclave: EnclaveKey) throws {
            self.enclave = enclave
            publicKey = try PublicKey(x963Representation: enclave.point())
        }

        /// The key in encrypted form, for the app to store; restore it with
        /// `init(dataRepresentation:authenticationContext:)`.
        ///
        /// It works on this machine, for this user and this app only, and does not have to be kept secret. Its format
        /// is not documented. Apple: `SecureEnclave.P256.KeyAgreement.PrivateKey.dataRepresentation`.
        public var dataRepresentation: Data { enclave.data }

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
        public func sharedSecretFromKeyAgreement(with publicKeyShare: PublicKey) throws -> SharedSecret {
            var error: Unmanaged<CFError>?
            let secret = SecKeyCopyKeyExchangeResult(
                enclave.key, .ecdhKeyExchangeStandard, publicKeyShare.key, NSDictionary(), &error)
            guard let secret else { throw thrown(error) }
            return SharedSecret(secret as Data)
        }
    }

    /// A P-256 public key for key agreement. Apple: CryptoKit's `P256.KeyAgreement.PublicKey`.
    public struct PublicKey: Hashable, Sendable {
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
