// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
package import RelyingPartyJSON

// What pages send: the object of `PublicKeyCredential.toJSON()` (WebAuthn Level 3, section 5.1.4). Browsers add members to it, so
// unknown ones are ignored; those that are read have their exact form.

/// What a browser returns after an authenticator made a passkey (`RegistrationResponseJSON`).
public struct PasskeyRegistrationResponse: Sendable {
    /// The identifier of the credential.
    public let credential: [UInt8]
    /// The client data, JSON, as the browser made them.
    public let clientDataJSON: [UInt8]
    /// The attestation object.
    public let attestationObject: [UInt8]
    let client: ClientData

    /// The challenge that was signed. It is what the client sent until the response is verified.
    public var challenge: [UInt8] { client.challenge }

    /// Reads the text that `JSON.stringify(credential)` makes in a page.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameter json: the text, UTF-8. It has no more than 256 values, nested 8 deep at most.
    /// - Throws: `credential` for another form, and `clientData` for client data that cannot be read.
    public init(json: [UInt8]) throws(VerificationError) { try self.init(PublicKeyCredentialJSON.read(json)) }

    /// Reads an object that is a part of a request.
    package init(_ json: JSONValue) throws(VerificationError) {
        let read = try PublicKeyCredentialJSON(json)
        try self.init(
            credential: read.credential, clientDataJSON: read.bytes("clientDataJSON"),
            attestationObject: read.bytes("attestationObject"))
    }

    /// Creates a response from its parts, for a page that sends them in another form.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameters:
    ///   - credential: the identifier of the credential (`rawId`), 16 to 1,023 bytes.
    ///   - clientDataJSON: the client data as they were received, at most 4,096 bytes.
    ///   - attestationObject: the attestation object.
    /// - Throws: `credential` for an identifier of another length, and `clientData` for client data that cannot be read.
    public init(credential: [UInt8], clientDataJSON: [UInt8], attestationObject: [UInt8]) throws(VerificationError) {
        guard AuthenticatorData.identifierBytes.contains(credential.count) else { throw .credential }
        (self.credential, self.clientDataJSON, self.attestationObject) = (
            credential, clientDataJSON, attestationObject
        )
        client = try ClientData(clientDataJSON)
    }
}

/// What a browser returns after an authenticator signed with a passkey (`AuthenticationResponseJSON`).
public struct PasskeyAssertionResponse: Sendable {
    /// The identifier of the credential, by which the server finds the passkey.
    public let credential: [UInt8]
    /// The client data, JSON, as the browser made them.
    public let clientDataJSON: [UInt8]
    /// The authenticator data.
    public let authenticatorData: [UInt8]
    /// The signature, in the form of the key's algorithm.
    public let signature: [UInt8]
    /// The user handle; nil if the authenticator returned none. An empty one names no user, and counts as none.
    public let userHandle: [UInt8]?
    let client: ClientData

    /// The challenge that was signed. It is what the client sent until the response is verified.
    public var challenge: [UInt8] { client.challenge }

    /// Reads the text that `JSON.stringify(credential)` makes in a page.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameter json: the text, UTF-8. It has no more than 256 values, nested 8 deep at most.
    /// - Throws: `credential` for another form, and `clientData` for client data that cannot be read.
    public init(json: [UInt8]) throws(VerificationError) { try self.init(PublicKeyCredentialJSON.read(json)) }

    /// Reads an object that is a part of a request.
    package init(_ json: JSONValue) throws(VerificationError) {
        let read = try PublicKeyCredentialJSON(json)
        try self.init(
            credential: read.credential, clientDataJSON: read.bytes("clientDataJSON"),
            authenticatorData: read.bytes("authenticatorData"), signature: read.bytes("signature"),
            userHandle: read.optionalBytes("userHandle"))
    }

    /// Creates a response from its parts, for a page that sends them in another form.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameters:
    ///   - credential: the identifier of the credential (`rawId`), 16 to 1,023 bytes.
    ///   - clientDataJSON: the client data as they were received, at most 4,096 bytes.
    ///   - authenticatorData: the authenticator data.
    ///   - signature: the signature, in the form of the key's algorithm.
    ///   - userHandle: the user handle, if the authenticator returned it.
    /// - Throws: `credential` for an identifier of another length, and `clientData` for client data that cannot be read.
    public init(
        credential: [UInt8], clientDataJSON: [UInt8], authenticatorData: [UInt8], signature: [UInt8],
        userHandle: [UInt8]? = nil
    ) throws(VerificationError) {
        guard AuthenticatorData.identifierBytes.contains(credential.count) else { throw .credential }
        (self.credential, self.clientDataJSON, self.authenticatorData) = (credential, clientDataJSON, authenticatorData)
        (self.signature, self.userHandle) = (signature, userHandle?.isEmpty == true ? nil : userHandle)
        client = try ClientData(clientDataJSON)
    }
}

/// The members that both responses have.
private struct PublicKeyCredentialJSON {
    let credential: [UInt8]
    private let response: JSONValue

    static func read(_ json: [UInt8]) throws(VerificationError) -> JSONValue {
        do throws(JSONReader.Failure) { return try JSONReader.read(json) } catch { throw .credential }
    }

    init(_ json: JSONValue) throws(VerificationError) {
        guard let identifier = json.member("rawId")?.text, let credential = Self.decode(identifier),
            // The two are the same text, so a response that has two is one of an attacker who wants them to be read differently.
            json.member("id")?.text.map({ $0.utf8.elementsEqual(identifier.utf8) }) == true,
            json.member("type")?.text.map({ $0.utf8.elementsEqual("public-key".utf8) }) == true,
            let response = json.member("response")
        else { throw .credential }
        (self.credential, self.response) = (credential, response)
    }

    func bytes(_ name: String) throws(VerificationError) -> [UInt8] {
        guard let bytes = response.member(name)?.text.flatMap(Self.decode) else { throw .credential }
        return bytes
    }

    /// Nil also for null, which earlier drafts of the specification had.
    func optionalBytes(_ name: String) throws(VerificationError) -> [UInt8]? {
        switch response.member(name) {
        case nil, .null: nil
        default: try bytes(name)
        }
    }

    private static func decode(_ text: String) -> [UInt8]? { StrictBase64.url.decode(text.utf8) }
}
