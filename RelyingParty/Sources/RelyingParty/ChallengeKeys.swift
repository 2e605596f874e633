// SPDX-License-Identifier: Apache-2.0

package import RelyingPartyCrypto
internal import Synchronization

/// Issues and checks challenges. Nothing is stored: the MAC of a challenge says that this relying party issued it.
package struct ChallengeKeys: Sendable {
    /// The longest life of a challenge that can be configured, in seconds. With it, only keys of this hour and the
    /// one before can be valid.
    package static let longestSeconds: Int64 = 600

    private let masters: [EpochKeys]
    private let relyingParty: [UInt8]
    /// The life of a challenge.
    let seconds: Int64
    /// Challenges issued before this time are refused: those that were spent may be missing in a restored database. Until
    /// then, the time of issue is this one, so that it never is in the second in which another process ended.
    private let notBefore: @Sendable () -> Int64
    /// How far the clocks of two nodes may differ, in seconds: a challenge of the other one may seem to come from the
    /// future. This adds nothing to its life, since its expiry is part of it.
    private let tolerance: Int64

    /// - Parameters:
    ///   - masters: the secret that issues, at least 32 bytes, and then the one that it replaces, if any.
    ///   - relyingPartyID: the name of the relying party, such as its domain.
    ///   - seconds: the life of a challenge.
    ///   - notBefore: the time since which challenges are accepted, in seconds since 1970.
    package init(
        masters: [SecretBytes], relyingPartyID: String, seconds: Int64, notBefore: Int64
    ) throws(CryptoFailure) {
        try self.init(
            masters: masters, relyingPartyID: relyingPartyID, seconds: seconds, tolerance: 0, changing: { notBefore })
    }

    /// As the other initialiser, for several nodes.
    ///
    /// - Parameters:
    ///   - tolerance: how far the clocks of two nodes may differ, in seconds.
    ///   - changing: the time since which challenges are accepted at this moment.
    package init(
        masters: [SecretBytes], relyingPartyID: String, seconds: Int64, tolerance: Int64,
        changing notBefore: @escaping @Sendable () -> Int64
    ) throws(CryptoFailure) {
        self.masters = masters.map(EpochKeys.init)
        relyingParty = try LibCrypto.sha256(Array("latchkey relying party id 1\0\(relyingPartyID)".utf8))
        self.seconds = min(max(1, seconds), Self.longestSeconds)
        (self.tolerance, self.notBefore) = (tolerance, notBefore)
    }

    private init(_ other: ChallengeKeys, masters: [SecretBytes]) {
        self.masters = masters.map(EpochKeys.init)
        (relyingParty, seconds, tolerance) = (other.relyingParty, other.seconds, other.tolerance)
        notBefore = other.notBefore
    }

    /// The same with other secrets: the one that issues, and then the one that it replaces, if any.
    func replacing(_ masters: [SecretBytes]) -> ChallengeKeys { ChallengeKeys(self, masters: masters) }

    func issue(_ binding: ChallengeBinding, at now: Int64, nonce: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        guard let master = masters.first, nonce.count == 32 else { throw CryptoFailure() }
        let issued = max(now, notBefore())
        let challenge = Challenge(
            relyingParty: relyingParty, binding: try Self.digest(binding), issued: issued, expiry: issued + seconds,
            nonce: nonce)
        let authenticated = challenge.authenticated
        return authenticated + (try LibCrypto.hmac(master.issuing(challenge.epoch), authenticated))
    }

    /// Checks MAC, relying party, times and binding, in this order; nothing is trusted before the MAC.
    func check(
        _ bytes: [UInt8], _ binding: ChallengeBinding, at now: Int64
    ) throws(CryptoFailure) -> Result<Challenge, RefusalReason> {
        guard let challenge = Challenge(bytes) else { return .failure(.challengeFormat) }
        let (authenticated, given) = (Array(bytes[..<113]), Array(bytes[113...]))
        var isAuthentic = false
        for master in masters {
            let code = try LibCrypto.hmac(master.checking(challenge.epoch), authenticated)
            if LibCrypto.equal(code, given) { isAuthentic = true }
        }
        guard isAuthentic else { return .failure(.challengeCode) }
        guard challenge.relyingParty == relyingParty else { return .failure(.otherRelyingParty) }
        // The times are authentic, so their differences are small and do not overflow.
        guard now < challenge.expiry else { return .failure(.expired) }
        let notBefore = notBefore()
        guard challenge.issued <= max(now, notBefore) + tolerance, challenge.epoch >= now / 3600 - 1,
            challenge.issued >= notBefore,
            challenge.expiry - challenge.issued <= Self.longestSeconds
        else { return .failure(.otherEpoch) }
        guard challenge.binding == (try Self.digest(binding)) else { return .failure(.otherBinding) }
        return .success(challenge)
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
