// SPDX-License-Identifier: Apache-2.0

/// What a browser returns after it made a passkey.
public struct PasskeyRegistration: Sendable {
    /// The name of the user.
    public let user: String
    /// A name of the device, at most 64 bytes, by which its keys can be revoked together.
    public let device: String
    /// The client data, JSON, as they were received.
    public let clientDataJSON: [UInt8]
    /// The attestation object.
    public let attestationObject: [UInt8]

    /// Creates a value from its parts.
    ///
    /// - Parameters:
    ///   - user: the name of the user.
    ///   - device: a name of the device, at most 64 bytes.
    ///   - clientDataJSON: the client data as they were received, at most 4,096 bytes.
    ///   - attestationObject: the attestation object.
    public init(user: String, device: String, clientDataJSON: [UInt8], attestationObject: [UInt8]) {
        (self.user, self.device) = (user, device)
        (self.clientDataJSON, self.attestationObject) = (clientDataJSON, attestationObject)
    }
}

/// What a browser returns after a user chose a passkey.
public struct PasskeySignIn: Sendable {
    /// The identifier of the credential.
    public let credential: [UInt8]
    /// What was signed.
    public let assertion: PasskeyAssertion
    /// The signature: ECDSA with SHA-256, in DER.
    public let signature: [UInt8]
    /// The user handle, if the authenticator returned it. A session of a browser demands it.
    public let userHandle: [UInt8]?

    /// Creates a value from its parts.
    ///
    /// - Parameters:
    ///   - credential: the identifier of the credential, 16 to 1,023 bytes.
    ///   - assertion: what was signed.
    ///   - signature: the signature: ECDSA with SHA-256, in DER.
    ///   - userHandle: the user handle, if the authenticator returned it.
    public init(credential: [UInt8], assertion: PasskeyAssertion, signature: [UInt8], userHandle: [UInt8]? = nil) {
        (self.credential, self.assertion, self.signature) = (credential, assertion, signature)
        self.userHandle = userHandle
    }
}
