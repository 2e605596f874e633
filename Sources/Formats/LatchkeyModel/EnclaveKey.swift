// SPDX-License-Identifier: Apache-2.0

/// The implementation of the Secure Enclave's operations. Raw values are part of the wire format.
package enum EnclaveKind: UInt8, CaseIterable, Sendable {
    /// The daemon itself; a private key is in its memory for the duration of one operation.
    case software = 1
    /// A TPM 2.0.
    case tpm = 2

    /// The name shown to the user and used in the configuration file.
    package var name: String {
        switch self {
        case .software: "software"
        case .tpm: "tpm"
        }
    }
}

/// The device of an implementation of the Secure Enclave, as it describes itself. Raw values are part of the wire format.
package enum EnclaveDevice: UInt8, CaseIterable, Sendable {
    case chip = 1
    /// A program: its administrator can copy the keys.
    case program = 2
}

/// Identifies a private key of the enclave.
package enum EnclaveKeyName: Equatable, Sendable {
    /// A key in the keychain, identified by its persistent reference.
    case stored([UInt8])
    /// A key that the app stores itself, as the blob that the daemon sealed.
    case detached([UInt8])
}

/// An operation of a private key of the enclave.
package enum EnclaveOperation: Equatable, Sendable {
    /// Signs a digest of 20, 28, 32, 48 or 64 bytes with ECDSA; the result is r and s, each 32 bytes, big-endian.
    case sign(digest: [UInt8])
    /// Computes an ECDH shared secret with a P-256 public key (X9.63, 65 bytes); the result is the X coordinate, 32
    /// bytes.
    case agree(point: [UInt8])
}

/// The description of a private key of the enclave; reading it requires no proof.
package struct EnclaveKey: Equatable, Sendable {
    package var name: EnclaveKeyName
    /// The public key in X9.63 format: 04, X, Y; 65 bytes.
    package var publicKey: [UInt8]
    package var attributes: Attributes
    package var accessControl: AccessControl

    package init(name: EnclaveKeyName, publicKey: [UInt8], attributes: Attributes, accessControl: AccessControl) {
        (self.name, self.publicKey, self.attributes, self.accessControl) = (name, publicKey, attributes, accessControl)
    }
}

extension Request {
    /// `SecKeyCreateRandomKey` with `kSecAttrTokenIDSecureEnclave`.
    package struct CreateEnclaveKey: ClientRequest {
        package typealias Response = EnclaveKey
        package static var operation: Operation { .createEnclaveKey }
        package var traits: RequestTraits { .asks }

        package var attributes: Attributes
        package var accessControl: AccessControl
        /// Whether the key is stored in the keychain; otherwise the app stores the sealed blob.
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
    package struct UseEnclaveKey: ClientRequest {
        package typealias Response = SecretBytes
        package static var operation: Operation { .useEnclaveKey }
        package var traits: RequestTraits { .asks }
        package static func response(_ reply: Reply) -> SecretBytes? {
            if case .enclaveResult(let result) = reply { result } else { nil }
        }

        package var name: EnclaveKeyName
        package var operation: EnclaveOperation
        package var authentication: Authentication
        /// The process for which an agent uses the key: if it has a terminal, the prompt is shown there, and names its program.
        /// Nil for the process that sends this request.
        package var process: ProcessName?
        package init(
            name: EnclaveKeyName, operation: EnclaveOperation, authentication: Authentication,
            for process: ProcessName? = nil
        ) {
            (self.name, self.operation, self.authentication) = (name, operation, authentication)
            self.process = process
        }
    }

    /// Describes a private key of the enclave.
    package struct DescribeEnclaveKey: ClientRequest {
        package typealias Response = EnclaveKey
        package static var operation: Operation { .describeEnclaveKey }
        package var traits: RequestTraits { .mayBeRepeated }

        package var name: EnclaveKeyName
        package init(_ name: EnclaveKeyName) { self.name = name }
    }
}

/// The public or private half of a key pair. Raw values are those of `kSecAttrKeyClass...` and part of the store
/// format.
package enum KeyHalf: Int64, Sendable {
    case publicKey = 0
    case privateKey = 1
}

/// The algorithm family of a key. Raw values are those of `kSecAttrKeyType...` and part of the store format.
package enum KeyFamily: Int64, Sendable {
    case rsa = 42
    case ellipticCurve = 73
}

extension Attributes {
    /// Returns the attributes of a key item, wherever the key is held (behaviour SK-09). The caller adds label and tag.
    package static func ofKey(_ half: KeyHalf, _ family: KeyFamily, bitCount: Int, isPermanent: Bool) -> Attributes {
        let isPrivate = half == .privateKey
        return [
            .keyClass: .number(half.rawValue), .keyType: .number(family.rawValue),
            .keySizeInBits: .number(Int64(bitCount)), .effectiveKeySize: .number(Int64(bitCount)),
            .isPermanent: .boolean(isPermanent), .canEncrypt: .boolean(!isPrivate), .canDecrypt: .boolean(isPrivate),
            .canDerive: .boolean(true), .canSign: .boolean(isPrivate), .canVerify: .boolean(!isPrivate),
            .canWrap: .boolean(!isPrivate), .canUnwrap: .boolean(isPrivate),
        ]
    }
}
