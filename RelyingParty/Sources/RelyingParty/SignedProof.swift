// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
public import SignInVerification

/// A challenge and the signature of it.
public struct SignedProof: Sendable {
    /// The name of the user.
    public let user: String
    /// The identifier of the key, 32 bytes.
    public let key: [UInt8]
    /// The challenge as it was issued.
    public let challenge: [UInt8]
    /// The signature of the key: ECDSA with SHA-256, in DER. That of a passkey is of its algorithm.
    public let signature: [UInt8]
    /// How often the key was used, if its client counts; the signature covers it. 0 to 2^53 - 1.
    public let counter: Int64?
    /// What a passkey signed in place of a message; nil for a key of another form.
    public let assertion: PasskeyAssertionResponse?

    /// Creates a proof of a key that is no passkey.
    ///
    /// - Parameters:
    ///   - user: the name of the user.
    ///   - key: the identifier of the key, 32 bytes.
    ///   - challenge: the challenge as it was issued.
    ///   - signature: the signature of the key: ECDSA with SHA-256, in DER.
    ///   - counter: how often the key was used, if its client counts.
    public init(user: String, key: [UInt8], challenge: [UInt8], signature: [UInt8], counter: Int64? = nil) {
        (self.user, self.key, self.challenge, self.signature) = (user, key, challenge, signature)
        (self.counter, assertion) = (counter, nil)
    }

    /// Creates a proof of a passkey.
    ///
    /// - Parameters:
    ///   - user: the name of the user.
    ///   - key: the identifier of the key, 32 bytes.
    ///   - assertion: what the browser returned.
    public init(user: String, key: [UInt8], assertion: PasskeyAssertionResponse) {
        (self.user, self.key, challenge, signature) = (user, key, assertion.challenge, assertion.signature)
        (counter, self.assertion) = (nil, assertion)
    }

    /// The proof as one of a bound key.
    func bound(_ purpose: ChallengePurpose, _ context: String) -> BoundProof {
        BoundProof(
            binding: ChallengeBinding(user: user, key: key, purpose: purpose, context: context), challenge: challenge,
            signature: signature, counter: counter)
    }
}

/// A proof whose challenge and signature were verified.
struct VerifiedProof: Sendable {
    let challenge: Challenge
    let counter: ProofCounter
    /// The key, as it was when the signature was verified.
    let key: KeyRecord
}

/// How often a key was used, according to its proof.
enum ProofCounter: Sendable {
    /// What the client sent, if it counts.
    case client(Int64?)
    /// What the authenticator of a passkey reported; 0 if it does not count.
    case authenticator(Int64, PasskeyBackup)
}

extension RelyingPartyService {
    /// What a key signs. A raw key signs the challenge as it is. Any other signs what it believes it signs, so that a
    /// server cannot pass off the challenge of another one, or one for another purpose.
    func message(_ proof: SignedProof, _ purpose: ChallengePurpose, _ context: String, isRaw: Bool) -> [UInt8] {
        isRaw ? proof.challenge : proof.bound(purpose, context).message(policy.relyingPartyID)
    }

    /// The nonce of a TPM's statement about a key: a digest of what the key signs, and so of relying party, purpose, user,
    /// key and challenge. A relying party cannot pass on the challenge of another one.
    func attestationNonce(_ proof: SignedProof, _ purpose: ChallengePurpose, _ context: String) throws -> [UInt8] {
        try LibCrypto.sha256(
            Array("latchkey attestation nonce 1\0".utf8) + message(proof, purpose, context, isRaw: false))
    }

    /// Checks a proof of a registered key: MAC, expiry, purpose, key, then the signature. Writes nothing.
    func verify(
        _ proof: SignedProof, _ purpose: ChallengePurpose, _ context: String, at now: Int64
    ) throws -> VerifiedProof {
        try check(user: proof.user, key: proof.key, context: context)
        let isCounted = purpose == .login || purpose == .stepUp
        guard proof.counter.map({ Limits.counter.contains($0) && isCounted }) ?? true else {
            throw RelyingPartyError.malformed("counter")
        }
        guard proof.assertion == nil || policy.permitsPasskeys else { throw RelyingPartyError.refused(.passkeysOff) }
        let bound = proof.bound(purpose, context)
        let challenge = try challenges.check(proof.challenge, bound.binding, at: now)
        // An unknown key costs as much as a known one: a row is read, and the signature is verified with its key.
        let record = try storage.keyOrDecoy(proof.key)
        let result = Result { try verifySignature(of: bound, proof.assertion, challenge, record, at: now) }
        // The decoy has another identifier than the proof, or, for a proof that names its identifier, no user.
        guard record.identifier == proof.key, record.user.utf8.elementsEqual(proof.user.utf8) else {
            throw RelyingPartyError.refused(.unknownKey)
        }
        // The form of the registered key decides, so that a signature made for one form is never read as another.
        guard (record.form == .passkey) == (proof.assertion != nil) else { throw RelyingPartyError.refused(.otherForm) }
        let counter = try result.get()
        try record.requireActive()
        // A raw key signs the challenge only, so a counter would not be signed.
        guard !record.isRaw || purpose == .login && proof.counter == nil else {
            throw RelyingPartyError.refused(.rawKey)
        }
        // A passkey signs in by a challenge that names no key, and is not replaced by another key.
        guard proof.assertion == nil || purpose == .stepUp || purpose == .revoke else {
            throw RelyingPartyError.refused(.otherForm)
        }
        try requireAdmitted(record)
        return VerifiedProof(challenge: challenge, counter: counter, key: record)
    }

    /// Verifies the signature of a proof as the form of the key demands it.
    private func verifySignature(
        of proof: BoundProof, _ assertion: PasskeyAssertionResponse?, _ challenge: Challenge, _ record: KeyRecord,
        at now: Int64
    ) throws -> ProofCounter {
        if let assertion { return try verify(assertion, challenge, record, isUserNamed: true, at: now) }
        // Under the identifier of the proof, so that the decoy costs as much.
        let key = record.verificationKey(proof.binding.key)
        if record.isRaw {
            guard key.isValid(proof.signature, for: proof.challenge) else { throw VerificationError.signature }
            return .client(proof.counter)
        }
        let issued = IssuedChallenge(proof.challenge, challenge)
        return .client(
            try verifyBoundProof(proof, challenge: issued, key: key, policy: policy.signIn, at: now).counter)
    }

    /// The minimum may have been raised since the key was registered.
    func requireAdmitted(_ record: KeyRecord) throws {
        guard policy.admits(record.form, record.tier, record.attestation.device) else {
            throw RelyingPartyError.refused(.tierTooLow)
        }
    }
}

extension KeyRecord {
    /// Refuses a key that was revoked or is frozen.
    func requireActive() throws {
        guard !isRevoked else { throw RelyingPartyError.refused(.revokedKey) }
        guard !isFrozen else { throw RelyingPartyError.refused(.frozenKey) }
    }
}

extension SQLConnection {
    /// Refuses a key that was revoked, frozen or deleted between the verification of its signature and this transaction.
    ///
    /// - Returns: the key as it is now. Only what is read here changes after a registration.
    @discardableResult func requireActive(_ record: KeyRecord) throws -> KeyRecord {
        guard let row = try run(Statements.keyState, [.blob(record.identifier)]).first else {
            throw RelyingPartyError.refused(.revokedKey)
        }
        guard let current = record.updated(row) else { throw StorageFailure("A row of the keys cannot be read.") }
        try current.requireActive()
        return current
    }
}
