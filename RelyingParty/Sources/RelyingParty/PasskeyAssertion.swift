// SPDX-License-Identifier: Apache-2.0

package import SignInVerification

extension RelyingPartyService {
    /// Verifies an assertion whose challenge was checked.
    ///
    /// - Parameters:
    ///   - record: the key that it names, or the decoy.
    ///   - isUserNamed: whether the client named the user before.
    func verify(
        _ assertion: PasskeyAssertionResponse, _ challenge: Challenge, _ record: KeyRecord, isUserNamed: Bool,
        at now: Int64
    ) throws(VerificationError) -> ProofCounter {
        let passkey = record.stored(assertion)
        // Whose key it is was compared by name.
        let user: ExpectedUser = isUserNamed ? .known(handle: passkey.userHandle) : .unknown
        let verified = try verifyPasskeyAssertion(
            assertion, challenge: IssuedChallenge(assertion.challenge, challenge), passkey: passkey, user: user,
            policy: policy.signIn, at: now)
        let stays: PasskeyBackup = record.passkey?.backup == .impossible ? .impossible : .possible
        return .authenticator(verified.counter, verified.isBackedUp ? .done : stays)
    }

    /// What a refusal means for the client and the log.
    package static func error(_ refusal: VerificationError) -> RelyingPartyError {
        switch refusal {
        case .challengeFormat: .refused(.challengeFormat)
        case .challengeCode: .refused(.challengeCode)
        case .otherRelyingParty, .relyingParty: .refused(.otherRelyingParty)
        case .expired: .refused(.expired)
        case .otherEpoch: .refused(.otherEpoch)
        case .otherBinding: .refused(.otherBinding)
        case .binding: .malformed("context")
        case .credential: .malformed("credential")
        case .otherCredential: .refused(.otherCredential)
        case .clientData: .malformed("clientDataJSON")
        case .authenticatorData: .malformed("authenticatorData")
        case .attestationObject: .malformed("attestationObject")
        case .publicKey: .refused(.publicKey)
        case .type: .refused(.clientDataType)
        case .origin: .refused(.otherOrigin)
        case .userPresence: .refused(.userPresence)
        case .userVerification: .refused(.userVerification)
        case .backupState: .refused(.backupState)
        case .attestation: .refused(.passkeyStatement)
        case .userHandle: .refused(.userHandle)
        case .signature: .refused(.wrongSignature)
        case .counter: .malformed("counter")
        case .failure: .unavailable("libcrypto failed.")
        }
    }
}

extension KeyRecord {
    /// The public key, under the identifier of a proof.
    func verificationKey(_ identifier: [UInt8]) -> VerificationKey {
        VerificationKey(stored: publicKey, algorithm, identifier: identifier)
    }

    /// The passkey for the verification of an assertion. For a key of another form and the decoy it is one with the credential
    /// of the assertion, so that its verification costs as much.
    fileprivate func stored(_ assertion: PasskeyAssertionResponse) -> Passkey {
        Passkey(
            credential: passkey?.credential ?? assertion.credential, key: verificationKey(identifier),
            userHandle: passkey?.handle ?? [], authenticator: passkey?.authenticator ?? [],
            statement: passkey?.statement ?? .none, canBeBackedUp: passkey?.backup != .impossible,
            isBackedUp: passkey?.backup == .done, counter: counter ?? 0)
    }
}
