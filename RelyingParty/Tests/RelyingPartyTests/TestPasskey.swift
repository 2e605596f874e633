// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import ServerTestSupport
import SignInVerification
import Testing

@testable import RelyingParty

/// An authenticator with one passkey, and the browser that shows its page, after WebAuthn Level 3, sections 5.8.1 and 6.
final class TestPasskey {
    static let userPresent: UInt8 = 1
    static let userVerified: UInt8 = 4
    static let eligible: UInt8 = 8
    static let backedUp: UInt8 = 16

    let key: TestKey
    let credential: [UInt8]
    /// The user handle, which the authenticator stores with the key.
    var handle: [UInt8]?
    var flags = userPresent | userVerified
    /// What the next response reports; it stays 0 for an authenticator that does not count.
    var counter: UInt32
    var origin = "https://example.com"
    var party = "example.com"

    init(counter: UInt32 = 0, credential: [UInt8]? = nil) throws {
        key = try TestKey()
        self.credential = try credential ?? LibCrypto.random(32)
        self.counter = counter
    }

    var identifier: [UInt8] { get throws { try key.publicKey.identifier } }

    func clientData(_ type: String, _ challenge: [UInt8]) -> [UInt8] {
        let text = StrictBase64.url.encode(challenge)
        return Array(
            #"{"type":"webauthn.\#(type)","challenge":"\#(text)","origin":"\#(origin)","crossOrigin":false}"#.utf8)
    }

    func data(attested: Bool = false) throws -> [UInt8] {
        var bytes = try LibCrypto.sha256(Array(party.utf8)) + [flags | (attested ? 0x40 : 0)]
        bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> $0) }
        if counter > 0 { counter += 1 }
        guard attested else { return bytes }
        let point = try key.publicKey.point
        return bytes + [UInt8](0..<16) + [0, UInt8(credential.count)] + credential
            + [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + point[1..<33] + [0x22, 0x58, 0x20]
            + point[33...]
    }

    func registration(_ challenge: [UInt8], type: String = "create") throws -> PasskeyRegistrationResponse {
        let data = try data(attested: true)
        let object: [UInt8] =
            [0xa3, 0x63] + Array("fmt".utf8) + [0x64] + Array("none".utf8) + [0x67] + Array("attStmt".utf8) + [0xa0]
            + [0x68] + Array("authData".utf8) + [0x58, UInt8(data.count)] + data
        return try PasskeyRegistrationResponse(
            credential: credential, clientDataJSON: clientData(type, challenge), attestationObject: object)
    }

    /// - Parameter signer: the key that signs; nil for the one of the passkey.
    func sign(
        _ challenge: [UInt8], type: String = "get", by signer: TestKey? = nil
    ) throws -> PasskeyAssertionResponse {
        let (json, data) = (clientData(type, challenge), try data())
        return try PasskeyAssertionResponse(
            credential: credential, clientDataJSON: json, authenticatorData: data,
            signature: (signer ?? key).sign(data + (try LibCrypto.sha256(json))), userHandle: handle)
    }
}

extension Fixture {
    /// What is demanded where passkeys are permitted.
    static let passkeys = RelyingPartyPolicy(relyingPartyID: "example.com", permitsPasskeys: true)

    @discardableResult func register(
        _ passkey: TestPasskey, _ user: String = "ada", device: String = ""
    ) throws -> [UInt8] {
        let (challenge, handle) = try service.passkeyChallenge(registering: user)
        passkey.handle = handle
        let code = try service.makeCode(for: user)
        try service.registerPasskey(passkey.registration(challenge), of: user, device: device, .code(code))
        return handle
    }

    /// - Parameter kind: for a browser the user of the passkey becomes an administrator.
    func signIn(_ passkey: TestPasskey, in kind: SessionKind = .program) throws -> [UInt8] {
        if kind == .browser { try giveRole(passkey) }
        let response = try passkey.sign(service.passkeyChallenge())
        return try kind == .browser ? service.signInAdministrator(response).token : service.signIn(response).token
    }

    /// Makes the user of a passkey an administrator, without a row of the audit log.
    func giveRole(_ passkey: TestPasskey) throws {
        let id = try passkey.identifier
        _ = try service.storage.transaction { database in
            try database.run(
                #"INSERT INTO administrators SELECT "user" FROM keys WHERE id = $1 ON CONFLICT DO NOTHING"#,
                [.blob(id)])
        }
    }

    /// A proof of a passkey for a purpose that names its key.
    func proof(
        _ passkey: TestPasskey, _ user: String = "ada", _ purpose: ChallengePurpose, context: String = ""
    ) throws -> SignedProof {
        let challenge = try service.challenge(
            user: user, key: passkey.identifier, purpose: purpose, context: context)
        return SignedProof(user: user, key: try passkey.identifier, assertion: try passkey.sign(challenge))
    }
}

extension PasskeyAssertionResponse {
    /// The same with other parts.
    func with(
        credential: [UInt8]? = nil, client: [UInt8]? = nil, data: [UInt8]? = nil, signature: [UInt8]? = nil,
        userHandle: [UInt8]?
    ) throws -> PasskeyAssertionResponse {
        try PasskeyAssertionResponse(
            credential: credential ?? self.credential, clientDataJSON: client ?? clientDataJSON,
            authenticatorData: data ?? authenticatorData, signature: signature ?? self.signature,
            userHandle: userHandle)
    }
}
