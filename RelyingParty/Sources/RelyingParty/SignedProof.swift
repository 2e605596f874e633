// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

/// A challenge and the signature of it.
public struct SignedProof: Sendable {
    /// The name of the user.
    public let user: String
    /// The identifier of the key, 32 bytes.
    public let key: [UInt8]
    /// The challenge as it was issued.
    public let challenge: [UInt8]
    /// The signature of the key: ECDSA with SHA-256, in DER.
    public let signature: [UInt8]
    /// How often the key was used, if its client counts; the signature covers it. 0 to 2^53 - 1.
    public let counter: Int64?

    /// Creates a proof.
    ///
    /// - Parameters:
    ///   - user: the name of the user.
    ///   - key: the identifier of the key, 32 bytes.
    ///   - challenge: the challenge as it was issued.
    ///   - signature: the signature of the key: ECDSA with SHA-256, in DER.
    ///   - counter: how often the key was used, if its client counts.
    public init(user: String, key: [UInt8], challenge: [UInt8], signature: [UInt8], counter: Int64? = nil) {
        self.user = user
        self.key = key
        self.challenge = challenge
        self.signature = signature
        self.counter = counter
    }
}

extension RelyingPartyService {
    /// What a key signs. A raw key signs the challenge as it is. Any other signs what it believes it signs, so that a
    /// server cannot pass off the challenge of another one, or one for another purpose.
    func message(_ proof: SignedProof, _ purpose: ChallengePurpose, _ context: String, isRaw: Bool) -> [UInt8] {
        if isRaw { return proof.challenge }
        let binding = ChallengeBinding(user: proof.user, key: proof.key, purpose: purpose, context: context)
        return Array("latchkey relying party 1\0".utf8)
            + ChallengeBinding.counted(Array(policy.relyingPartyID.utf8)) + binding.bytes
            + ChallengeBinding.counted(proof.challenge) + (proof.counter.map(Challenge.number) ?? [])
    }

    /// The nonce of a TPM's statement about a key: a digest of what the key signs, and so of relying party, purpose, user,
    /// key and challenge. A relying party cannot pass on the challenge of another one.
    func attestationNonce(_ proof: SignedProof, _ purpose: ChallengePurpose, _ context: String) throws -> [UInt8] {
        try LibCrypto.sha256(
            Array("latchkey attestation nonce 1\0".utf8) + message(proof, purpose, context, isRaw: false))
    }

    /// Checks a proof of a registered key: MAC, expiry, purpose, key, then the signature. Writes nothing.
    func verify(_ proof: SignedProof, _ purpose: ChallengePurpose, _ context: String, at now: Int64) throws -> Challenge
    {
        try check(user: proof.user, key: proof.key, context: context)
        guard proof.counter.map({ Limits.counter.contains($0) && (purpose == .login || purpose == .stepUp) }) ?? true
        else { throw RelyingPartyError.malformed("counter") }
        let binding = ChallengeBinding(user: proof.user, key: proof.key, purpose: purpose, context: context)
        let checked = try challenges.check(proof.challenge, binding, at: now)
        guard case .success(let challenge) = checked else {
            if case .failure(let reason) = checked { throw RelyingPartyError.refused(reason) }
            throw RelyingPartyError.refused(.challengeFormat)
        }
        // An unknown key costs as much as a known one: a row is read, and the signature is verified with its point.
        let record = try storage.keyOrDecoy(proof.key)
        let key = P256PublicKey(registered: record.point, identifier: proof.key)
        let signed = message(proof, purpose, context, isRaw: record.isRaw)
        let isValid = key.isValid(proof.signature, for: signed)
        // The decoy has another identifier than the proof, or, for a proof that names its identifier, no user.
        guard record.identifier == proof.key, record.user.utf8.elementsEqual(proof.user.utf8) else {
            throw RelyingPartyError.refused(.unknownKey)
        }
        guard isValid else { throw RelyingPartyError.refused(.wrongSignature) }
        guard !record.isRevoked else { throw RelyingPartyError.refused(.revokedKey) }
        guard !record.isFrozen else { throw RelyingPartyError.refused(.frozenKey) }
        // A raw key signs the challenge only, so a counter would not be signed.
        guard !record.isRaw || purpose == .login && proof.counter == nil else {
            throw RelyingPartyError.refused(.rawKey)
        }
        // The minimum may have been raised since the key was registered.
        guard policy.admits(record.tier, record.attestation.device) else {
            throw RelyingPartyError.refused(.tierTooLow)
        }
        return challenge
    }
}

extension SQLConnection {
    /// Refuses a key that was revoked or frozen between the verification of its signature and this transaction.
    @discardableResult func requireActive(_ key: [UInt8]) throws -> KeyRecord {
        guard let record = try self.key(key), !record.isRevoked else { throw RelyingPartyError.refused(.revokedKey) }
        guard !record.isFrozen else { throw RelyingPartyError.refused(.frozenKey) }
        return record
    }
}
