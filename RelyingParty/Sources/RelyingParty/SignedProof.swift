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

    /// Creates a proof.
    ///
    /// - Parameters:
    ///   - user: the name of the user.
    ///   - key: the identifier of the key, 32 bytes.
    ///   - challenge: the challenge as it was issued.
    ///   - signature: the signature of the key: ECDSA with SHA-256, in DER.
    public init(user: String, key: [UInt8], challenge: [UInt8], signature: [UInt8]) {
        self.user = user
        self.key = key
        self.challenge = challenge
        self.signature = signature
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
            + ChallengeBinding.counted(proof.challenge)
    }

    /// Checks a proof of a registered key: MAC, expiry, purpose, key, then the signature. Writes nothing.
    func verify(_ proof: SignedProof, _ purpose: ChallengePurpose, _ context: String, at now: Int64) throws -> Challenge
    {
        try check(user: proof.user, key: proof.key, context: context)
        let binding = ChallengeBinding(user: proof.user, key: proof.key, purpose: purpose, context: context)
        let checked = try challenges.check(proof.challenge, binding, at: now)
        guard case .success(let challenge) = checked else {
            if case .failure(let reason) = checked { throw RelyingPartyError.refused(reason) }
            throw RelyingPartyError.refused(.challengeFormat)
        }
        let record = try storage.key(proof.key)
        // An unknown key costs as much as a known one: the signature is verified with the base point of the curve.
        let key = P256PublicKey(registered: record?.point ?? Self.decoy, identifier: proof.key)
        let signed = message(proof, purpose, context, isRaw: record?.isRaw ?? false)
        let isValid = key.isValid(proof.signature, for: signed)
        guard let record, record.user.utf8.elementsEqual(proof.user.utf8) else {
            throw RelyingPartyError.refused(.unknownKey)
        }
        guard isValid else { throw RelyingPartyError.refused(.wrongSignature) }
        guard !record.isRevoked else { throw RelyingPartyError.refused(.revokedKey) }
        guard !record.isRaw || purpose == .login else { throw RelyingPartyError.refused(.rawKey) }
        return challenge
    }

    /// The base point of P-256 (SEC 2, section 2.4.2).
    static let decoy: [UInt8] = [
        0x04, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77,
        0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96, 0x4f, 0xe3, 0x42,
        0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce, 0x33, 0x57, 0x6b,
        0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
    ]
}

extension SQLConnection {
    /// Refuses a key that was revoked between the verification of its signature and this transaction.
    func requireActive(_ key: [UInt8]) throws {
        guard let record = try self.key(key), !record.isRevoked else { throw RelyingPartyError.refused(.revokedKey) }
    }
}
