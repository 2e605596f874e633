// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
internal import RelyingPartyWebAuthn

/// What a passkey signs: the two texts of WebAuthn, as the browser returns them.
public struct PasskeyAssertion: Sendable {
    /// The client data, JSON, as they were received.
    public let clientDataJSON: [UInt8]
    /// The authenticator data.
    public let authenticatorData: [UInt8]

    /// Creates a value from its parts.
    ///
    /// - Parameters:
    ///   - clientDataJSON: the client data as they were received, at most 4,096 bytes.
    ///   - authenticatorData: the authenticator data.
    public init(clientDataJSON: [UInt8], authenticatorData: [UInt8]) {
        self.clientDataJSON = clientDataJSON
        self.authenticatorData = authenticatorData
    }
}

/// An assertion whose parts have their form. Nothing in it is verified.
struct ReadAssertion {
    let client: ClientData
    let data: AuthenticatorData
    /// What was signed.
    let signed: [UInt8]

    /// What the authenticator reported, for the counter of its key. Whether a passkey can leave its authenticator never
    /// changes (WebAuthn Level 3, section 6.1.3).
    func counter(of record: KeyRecord) throws -> ProofCounter {
        guard data.canBeBackedUp == (record.passkey?.backup != .impossible) else {
            throw RelyingPartyError.refused(.backupState)
        }
        return .authenticator(data.counter, PasskeyBackup(data))
    }
}

extension RelyingPartyService {
    /// Reads an assertion, unless passkeys are not permitted.
    func read(_ assertion: PasskeyAssertion) throws -> ReadAssertion {
        guard policy.permitsPasskeys else { throw RelyingPartyError.refused(.passkeysOff) }
        let data = try AuthenticatorData(assertion.authenticatorData)
        // An assertion has no new key (WebAuthn Level 3, section 6.1).
        guard data.credential == nil else { throw WebAuthnRefusal.authenticatorData }
        return ReadAssertion(
            client: try ClientData(assertion.clientDataJSON), data: data,
            signed: assertion.authenticatorData + (try LibCrypto.sha256(assertion.clientDataJSON)))
    }

    /// Checks what an assertion says about its operation, page, relying party and user. The challenge and the signature are
    /// verified besides.
    func check(_ assertion: ReadAssertion) throws {
        try assertion.client.check(.assertion, origins: policy.origins)
        try assertion.data.check(relyingParty: relyingPartyDigest())
    }

    /// The digest of the name of the relying party that authenticators sign.
    func relyingPartyDigest() throws -> [UInt8] { try LibCrypto.sha256(Array(policy.relyingPartyID.utf8)) }

    /// What a refusal means for the client and the log.
    static func error(_ refusal: WebAuthnRefusal) -> RelyingPartyError {
        switch refusal {
        case .clientData: .malformed("clientDataJSON")
        case .authenticatorData: .malformed("authenticatorData")
        case .attestationObject: .malformed("attestationObject")
        case .publicKey: .refused(.publicKey)
        case .type: .refused(.clientDataType)
        case .origin: .refused(.otherOrigin)
        case .relyingParty: .refused(.otherRelyingParty)
        case .userPresence: .refused(.userPresence)
        case .userVerification: .refused(.userVerification)
        case .backupState: .refused(.backupState)
        case .attestation: .refused(.passkeyStatement)
        case .failure: .unavailable("libcrypto failed.")
        }
    }
}
