// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

/// What a program signs with a bound key: what it believes it signs, so that a server cannot pass off the challenge of another
/// one, or one for another purpose. `docs/reference/relying-party.md` defines the message.
public struct BoundProof: Sendable {
    /// The user, key, purpose and context that the signature is about.
    public let binding: ChallengeBinding
    /// The challenge as the client returned it.
    public let challenge: [UInt8]
    /// The signature: ECDSA with SHA-256, in DER.
    public let signature: [UInt8]
    /// How often the key was used, if its client counts, 0 to 2^53 - 1; the signature covers it.
    public let counter: Int64?

    /// Creates a proof from what a client sent.
    ///
    /// - Parameters:
    ///   - binding: the user, key, purpose and context that the signature is about.
    ///   - challenge: the challenge as the client returned it, 145 bytes if ``ChallengeKeys`` issued it.
    ///   - signature: the signature: ECDSA with SHA-256, in DER.
    ///   - counter: how often the key was used, if its client counts.
    public init(binding: ChallengeBinding, challenge: [UInt8], signature: [UInt8], counter: Int64? = nil) {
        (self.binding, self.challenge, self.signature, self.counter) = (binding, challenge, signature, counter)
    }

    /// What the key signs.
    package func message(_ relyingPartyID: String) -> [UInt8] {
        Array("latchkey relying party 1\0".utf8) + ChallengeBinding.counted(Array(relyingPartyID.utf8)) + binding.bytes
            + ChallengeBinding.counted(challenge) + (counter.map(Challenge.number) ?? [])
    }
}

/// What is known after a bound proof was verified.
public struct VerifiedBoundProof: Equatable, Sendable {
    /// How often the key was used, for ``CounterPolicy/decision(for:after:)``; nil if its client does not count. A key that
    /// counted once must go on: refuse nil where a counter is stored.
    public let counter: Int64?
}

/// The counters that a client can send: integers that every reader of JSON has exactly (RFC 8259, section 6).
package let countersOfClients: ClosedRange<Int64> = 0...9_007_199_254_740_991

/// Verifies that a bound key signed a challenge.
///
/// The caller finds the key by the identifier and the user of the binding, refuses a key that is revoked, and afterwards, in one
/// transaction, stores ``IssuedChallenge/nonce`` once and decides about the counter.
///
/// Computes only: it neither blocks nor prompts, and reads no clock and no storage.
///
/// - Parameters:
///   - proof: what the client sent, with the binding that the server expects: never one that the client sent.
///   - challenge: the challenge that the server issued for `proof.binding`.
///   - key: the key that is registered under the identifier in the binding; its algorithm is ES256.
///   - policy: what is demanded; the name of the relying party is a part of the message.
///   - now: the time, in seconds since 1970.
/// - Returns: the counter.
/// - Throws: `binding` for one with parts of another length, `expired` or `otherBinding` for another challenge, `counter` for one out of range, `publicKey` for a key with another
///   identifier or algorithm, `signature` for a signature that the key did not make for this message, and if libcrypto fails.
public func verifyBoundProof(
    _ proof: BoundProof, challenge: IssuedChallenge, key: VerificationKey, policy: SignInPolicy, at now: Int64
) throws(VerificationError) -> VerifiedBoundProof {
    guard proof.binding.isValid else { throw .binding }
    try challenge.check(proof.challenge, at: now)
    guard proof.counter.map(countersOfClients.contains) ?? true else { throw .counter }
    guard key.algorithm == .es256, key.identifier == proof.binding.key else { throw .publicKey }
    guard key.isValid(proof.signature, for: proof.message(policy.relyingPartyID)) else { throw .signature }
    return VerifiedBoundProof(counter: proof.counter)
}
