// SPDX-License-Identifier: Apache-2.0

/// What does the work of a Secure Enclave. Numbers are part of the wire format.
package enum EnclaveKind: UInt8, CaseIterable, Sendable {
    /// The daemon itself: a private key is in its memory for the time of one operation.
    case software = 1
    /// A TPM 2.0.
    case tpm = 2

    /// The name on the screen and in the configuration.
    package var name: String {
        switch self {
        case .software: "software"
        case .tpm: "tpm"
        }
    }
}

/// Which key of the enclave is meant.
package enum EnclaveKeyName: Equatable, Sendable {
    /// One of the keychain, by its persistent reference.
    case stored([UInt8])
    /// One that the app keeps itself, in the form in which the daemon sealed it.
    case detached([UInt8])
}

/// What a private key of the enclave is to do.
package enum EnclaveOperation: Equatable, Sendable {
    /// Sign a digest of 20 to 64 bytes; the answer is r and s, each 32 bytes, big-endian.
    case sign(digest: [UInt8])
    /// Agree on a secret with a public key of P-256 (X9.63, 65 bytes); the answer is the X coordinate, 32 bytes.
    case agree(point: [UInt8])
}

/// What is known of a key of the enclave without any proof.
package struct EnclaveKey: Equatable, Sendable {
    package var name: EnclaveKeyName
    /// X9.63: 04, X, Y; 65 bytes.
    package var publicKey: [UInt8]
    package var attributes: Attributes
    package var accessControl: AccessControl

    /// Makes a description.
    package init(name: EnclaveKeyName, publicKey: [UInt8], attributes: Attributes, accessControl: AccessControl) {
        self.name = name
        self.publicKey = publicKey
        self.attributes = attributes
        self.accessControl = accessControl
    }
}

extension Request {
    /// `SecKeyCreateRandomKey` with `kSecAttrTokenIDSecureEnclave`.
    package struct CreateEnclaveKey: Equatable, Sendable {
        package var attributes: Attributes
        package var accessControl: AccessControl
        /// Whether the key is put into the keychain.
        package var isPermanent: Bool
        package var authentication: Authentication
        package init(
            attributes: Attributes, accessControl: AccessControl, isPermanent: Bool, authentication: Authentication
        ) {
            self.attributes = attributes
            self.accessControl = accessControl
            self.isPermanent = isPermanent
            self.authentication = authentication
        }
    }

    /// One operation of a private key.
    package struct UseEnclaveKey: Equatable, Sendable {
        package var name: EnclaveKeyName
        package var operation: EnclaveOperation
        package var authentication: Authentication
        package init(name: EnclaveKeyName, operation: EnclaveOperation, authentication: Authentication) {
            self.name = name
            self.operation = operation
            self.authentication = authentication
        }
    }
}
