// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LocalAuthentication
public import Security

/// What a private key of the Secure Enclave is for: ``SecureEnclave/P256/Signing`` or
/// ``SecureEnclave/P256/KeyAgreement``.
public protocol EnclaveKeyPurpose: Sendable {
    /// The public keys of this purpose.
    associatedtype PublicKey: EnclavePublicKey
}

/// A P-256 public key in the form that a private key gives it.
public protocol EnclavePublicKey: Sendable {
    /// Reads a public key from its X9.63 representation. Computes in this process; does not prompt.
    ///
    /// - Parameter x963Representation: the uncompressed point 04, X, Y: 65 bytes, coordinates big-endian.
    /// - Throws: an error of `NSOSStatusErrorDomain`, -50 (`errSecParam`), for another length or a point that is
    ///   not on P-256.
    init(x963Representation: some ContiguousBytes) throws
}

extension SecureEnclave.P256 {
    /// A P-256 private key in the Secure Enclave: `Signing.PrivateKey` creates ECDSA signatures,
    /// `KeyAgreement.PrivateKey` computes ECDH shared secrets.
    ///
    /// Apple: `SecureEnclave.P256.Signing.PrivateKey` and `SecureEnclave.P256.KeyAgreement.PrivateKey`.
    public struct PrivateKey<Purpose: EnclaveKeyPurpose>: Sendable {
        let enclave: EnclaveKey

        /// The public key of this private key.
        public let publicKey: Purpose.PublicKey

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
            publicKey = try Purpose.PublicKey(x963Representation: enclave.point())
        }

        /// The key in encrypted form, for the app to store; restore it with
        /// `init(dataRepresentation:authenticationContext:)`.
        ///
        /// It works on this machine, for this user and this app only, and does not have to be kept secret. Its format
        /// is not documented. Apple: `dataRepresentation` of the same type.
        public var dataRepresentation: Data { enclave.data }
    }
}
