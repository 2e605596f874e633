// SPDX-License-Identifier: Apache-2.0

package import RelyingPartyCrypto
internal import Synchronization

/// Issues and checks challenges. Nothing is stored: the MAC of a challenge says that this relying party issued it.
///
/// The server remembers only which challenges were used: a proof is accepted once if the server stores
/// ``IssuedChallenge/nonce`` until ``IssuedChallenge/expiry``, in the transaction that has the effect of the proof.
/// `docs/reference/relying-party.md` defines the format. Usable from any thread.
public struct ChallengeKeys: Sendable {
    /// The longest life of a challenge that can be configured, in seconds. With it, only keys of this hour and the
    /// one before can be valid.
    public static let longestSeconds: Int64 = 600

    private let masters: [EpochKeys]
    private let relyingParty: [UInt8]
    /// The life of a challenge.
    package let seconds: Int64
    /// The life of a challenge for a registration of a passkey or a sign-in with one: a person chooses a passkey in this time.
    package let passkeySeconds: Int64
    /// Challenges issued before this time are refused: those that were spent may be missing in a restored database. Until
    /// then, the time of issue is this one, so that it never is in the second in which another process ended.
    private let notBefore: @Sendable () -> Int64
    /// How far the clocks of two nodes may differ, in seconds: a challenge of the other one may seem to come from the
    /// future. This adds nothing to its life, since its expiry is part of it.
    private let tolerance: Int64

    /// Takes the secrets of a server.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameters:
    ///   - secrets: the secret that issues, at least 32 random bytes, and then the one that it replaces, if any.
    ///   - relyingPartyID: the name of the relying party, such as its domain.
    ///   - seconds: the life of a challenge in seconds, 1 to 600; other values are taken as the nearest of these.
    ///   - passkeySeconds: the life of a challenge for ``ChallengePurpose/passkeyLogin`` and
    ///     ``ChallengePurpose/passkeyRegister`` in seconds, 1 to 600.
    /// - Throws: `failure` for no secret or a shorter one, and if libcrypto fails.
    public init(
        secrets: [[UInt8]], relyingPartyID: String, seconds: Int64 = 60, passkeySeconds: Int64 = 300
    ) throws(VerificationError) {
        guard !secrets.isEmpty, secrets.allSatisfy({ $0.count >= 32 }) else { throw .failure }
        let masters = secrets.map { secret in
            var copy = secret
            return SecretBytes(taking: &copy)
        }
        do throws(CryptoFailure) {
            try self.init(
                masters: masters, relyingPartyID: relyingPartyID, seconds: seconds, passkeySeconds: passkeySeconds,
                notBefore: 0)
        } catch {
            throw .failure
        }
    }

    /// - Parameters:
    ///   - masters: the secret that issues, at least 32 bytes, and then the one that it replaces, if any.
    ///   - relyingPartyID: the name of the relying party, such as its domain.
    ///   - seconds: the life of a challenge.
    ///   - passkeySeconds: the life of a challenge for a passkey that the person chooses.
    ///   - notBefore: the time since which challenges are accepted, in seconds since 1970.
    package init(
        masters: [SecretBytes], relyingPartyID: String, seconds: Int64, passkeySeconds: Int64 = 300, notBefore: Int64
    ) throws(CryptoFailure) {
        try self.init(
            masters: masters, relyingPartyID: relyingPartyID, seconds: seconds, passkeySeconds: passkeySeconds,
            tolerance: 0, changing: { notBefore })
    }

    /// As the other initialiser, for several nodes.
    ///
    /// - Parameters:
    ///   - tolerance: how far the clocks of two nodes may differ, in seconds.
    ///   - changing: the time since which challenges are accepted at this moment.
    package init(
        masters: [SecretBytes], relyingPartyID: String, seconds: Int64, passkeySeconds: Int64, tolerance: Int64,
        changing notBefore: @escaping @Sendable () -> Int64
    ) throws(CryptoFailure) {
        self.masters = masters.map(EpochKeys.init)
        relyingParty = try LibCrypto.sha256(Array("latchkey relying party id 1\0\(relyingPartyID)".utf8))
        self.seconds = min(max(1, seconds), Self.longestSeconds)
        self.passkeySeconds = min(max(1, passkeySeconds), Self.longestSeconds)
        (self.tolerance, self.notBefore) = (tolerance, notBefore)
    }

    private init(_ other: ChallengeKeys, masters: [SecretBytes]) {
        self.masters = masters.map(EpochKeys.init)
        (relyingParty, seconds, tolerance) = (other.relyingParty, other.seconds, other.tolerance)
        passkeySeconds = other.passkeySeconds
        notBefore = other.notBefore
    }

    /// The same with other secrets: the one that issues, and then the one that it replaces, if any.
    package func replacing(_ masters: [SecretBytes]) -> ChallengeKeys { ChallengeKeys(self, masters: masters) }

    /// How long a challenge for a purpose is valid, in seconds. A step-up by a passkey names its key, as one by another key
    /// does: the two cannot be told apart before they are signed.
    private func seconds(for purpose: ChallengePurpose) -> Int64 {
        switch purpose {
        case .passkeyLogin, .passkeyRegister: passkeySeconds
        case .login, .stepUp, .register, .rotate, .revoke: seconds
        }
    }

    /// Issues a challenge.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameters:
    ///   - binding: what a signature of the challenge will be about.
    ///   - now: the time, in seconds since 1970.
    ///   - nonce: 32 unpredictable bytes, which were never used before.
    /// - Returns: the challenge, 145 bytes.
    /// - Throws: `binding` for one with parts of another length; `failure` for a nonce of another length, and if libcrypto fails.
    public func issue(
        _ binding: ChallengeBinding, at now: Int64, nonce: [UInt8]
    ) throws(VerificationError) -> [UInt8] {
        guard binding.isValid else { throw .binding }
        guard let master = masters.first, nonce.count == 32 else { throw .failure }
        let issued = max(now, notBefore())
        do throws(CryptoFailure) {
            let challenge = Challenge(
                relyingParty: relyingParty, binding: try Self.digest(binding), issued: issued,
                expiry: issued + seconds(for: binding.purpose), nonce: nonce)
            let authenticated = challenge.authenticated
            return authenticated + (try LibCrypto.hmac(master.issuing(challenge.epoch), authenticated))
        } catch {
            throw .failure
        }
    }

    /// Checks a challenge that a client sent back: that this relying party issued it for the binding, and that it has not
    /// expired. The caller checks that it was not used before.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameters:
    ///   - bytes: the challenge.
    ///   - binding: what it must have been issued for.
    ///   - now: the time, in seconds since 1970.
    /// - Returns: the challenge, for the functions that verify a signature of it.
    /// - Throws: `binding` for one with parts of another length; `challengeFormat`, `challengeCode`, `otherRelyingParty`, `expired`, `otherEpoch` or `otherBinding` for a
    ///   challenge that is not accepted; `failure` if libcrypto fails.
    public func accepted(
        _ bytes: [UInt8], for binding: ChallengeBinding, at now: Int64
    ) throws(VerificationError) -> IssuedChallenge {
        guard binding.isValid else { throw .binding }
        return IssuedChallenge(bytes, try check(bytes, binding, at: now))
    }

    /// Checks MAC, relying party, times and binding, in this order; nothing is trusted before the MAC.
    package func check(
        _ bytes: [UInt8], _ binding: ChallengeBinding, at now: Int64
    ) throws(VerificationError) -> Challenge {
        guard let challenge = Challenge(bytes) else { throw .challengeFormat }
        let (authenticated, given) = (Array(bytes[..<113]), Array(bytes[113...]))
        var isAuthentic = false
        let expected: [UInt8]
        do throws(CryptoFailure) {
            for master in masters {
                let code = try LibCrypto.hmac(master.checking(challenge.epoch), authenticated)
                if LibCrypto.equal(code, given) { isAuthentic = true }
            }
            expected = try Self.digest(binding)
        } catch {
            throw .failure
        }
        guard isAuthentic else { throw .challengeCode }
        guard challenge.relyingParty == relyingParty else { throw .otherRelyingParty }
        // The times are authentic, so their differences are small and do not overflow.
        guard now < challenge.expiry else { throw .expired }
        let notBefore = notBefore()
        guard challenge.issued <= max(now, notBefore) + tolerance, challenge.epoch >= now / 3600 - 1,
            challenge.issued >= notBefore,
            challenge.expiry - challenge.issued <= Self.longestSeconds
        else { throw .otherEpoch }
        guard challenge.binding == expected else { throw .otherBinding }
        return challenge
    }

    private static func digest(_ binding: ChallengeBinding) throws(CryptoFailure) -> [UInt8] {
        try LibCrypto.sha256(Array("latchkey challenge binding 1\0".utf8) + binding.bytes)
    }
}

/// The keys of MACs that are derived from one secret. The one that issued last is kept: almost every challenge that is
/// checked was issued in the same hour.
private final class EpochKeys: Sendable {
    private let master: SecretBytes
    private let last = Mutex<(epoch: Int64, key: SecretBytes)?>(nil)

    init(_ master: SecretBytes) { self.master = master }

    /// The key that issues challenges in an epoch.
    func issuing(_ epoch: Int64) throws(CryptoFailure) -> SecretBytes {
        let key = try checking(epoch)
        last.withLock { $0 = (epoch, key) }
        return key
    }

    /// The key that checks challenges of an epoch, which is what the sender claims: it is not kept.
    func checking(_ epoch: Int64) throws(CryptoFailure) -> SecretBytes {
        if let known = last.withLock(\.self), known.epoch == epoch { return known.key }
        return try LibCrypto.derive(master, Array("latchkey challenge epoch 1\0".utf8) + Challenge.number(epoch))
    }
}
