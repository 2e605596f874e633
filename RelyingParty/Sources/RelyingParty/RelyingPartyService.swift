// SPDX-License-Identifier: Apache-2.0

package import RelyingPartyAttestation
package import RelyingPartyCrypto
public import SignInVerification
internal import Synchronization

/// How much of a key's protection its owner declares, from weak to strong. A declaration proves nothing, so `tpm` as a
/// minimum needs a proof (``RelyingPartyPolicy/admits(_:_:)``).
public enum DeclaredTier: String, CaseIterable, Sendable {
    case simulated, user, file, tpm

    func isAtLeast(_ other: DeclaredTier) -> Bool {
        let order = Self.allCases
        return (order.firstIndex(of: self) ?? -1) >= (order.firstIndex(of: other) ?? order.count)
    }
}

/// What a relying party demands, and how long its sessions live.
public struct RelyingPartyPolicy: Sendable {
    /// The name of the relying party, such as its domain: a part of every challenge and signed message.
    public var relyingPartyID: String
    /// The lowest tier of a key that may be registered and used. `tpm` needs a proof.
    public var minimumTier: DeclaredTier
    /// Whether a proof of a virtual TPM is one. The owner of its machine can copy its keys.
    public var permitsVirtualTPM: Bool
    /// Whether passkeys can be registered and used. A synchronised one leaves its device.
    public var permitsPasskeys: Bool
    /// The origins of the pages that may use passkeys, such as `https://example.com`.
    public var origins: Set<String>
    /// A session ends when it is not used for so long.
    public var sessionIdleSeconds: Int64
    /// A session ends so long after it was opened.
    public var sessionSeconds: Int64
    /// Whether a browser can open the administration.
    public var permitsAdministration = false
    /// What a counter that is not higher than the one before means.
    public var counters = CounterPolicy.tolerant

    /// What is demanded of proofs and passkeys.
    var signIn: SignInPolicy { SignInPolicy(relyingPartyID: relyingPartyID, origins: origins, counters: counters) }

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - relyingPartyID: the name of the relying party.
    ///   - minimumTier: the lowest tier of a key that may be registered.
    ///   - sessionIdleSeconds: the life of a session that is not used, in seconds.
    ///   - sessionSeconds: the life of any session, in seconds.
    ///   - permitsVirtualTPM: whether a proof of a virtual TPM is one.
    ///   - permitsPasskeys: whether passkeys can be registered and used.
    ///   - origins: the origins of the pages that may use passkeys; nil for `https://` and the name of the relying party.
    public init(
        relyingPartyID: String, minimumTier: DeclaredTier = .user, sessionIdleSeconds: Int64 = 900,
        sessionSeconds: Int64 = 43200, permitsVirtualTPM: Bool = false, permitsPasskeys: Bool = false,
        origins: Set<String>? = nil
    ) {
        self.relyingPartyID = relyingPartyID
        self.minimumTier = minimumTier
        self.sessionIdleSeconds = sessionIdleSeconds
        self.sessionSeconds = sessionSeconds
        self.permitsVirtualTPM = permitsVirtualTPM
        self.permitsPasskeys = permitsPasskeys
        self.origins = origins ?? ["https://" + relyingPartyID]
    }

    /// Whether a key of this form and protection may be registered and used. Nothing is known about where a passkey is, so
    /// permitting them decides, unless only proofs count.
    func admits(_ form: KeyForm, _ tier: DeclaredTier, _ device: AttestedDevice) -> Bool {
        if form == .passkey { return permitsPasskeys && minimumTier != .tpm }
        let isProven = device == .tpm || device == .virtualTPM && permitsVirtualTPM
        return isProven || minimumTier != .tpm && tier.isAtLeast(minimumTier)
    }
}

/// The relying party: issues challenges, registers keys, opens sessions and revokes.
///
/// Usable from any thread. Calls block while libcrypto computes and the database writes.
public final class RelyingPartyService: Sendable {
    let policy: RelyingPartyPolicy
    let storage: Storage
    private let secrets: Mutex<DerivedSecrets>
    /// How proofs of TPMs are verified; nil if no roots are configured, and then they are refused.
    let verifier: TPMAttestation?
    /// Where revocations are written besides the database; nil for nowhere.
    let revocations: (any RevocationList)?
    /// How many entries the list has at least, as far as this process knows.
    let listedCount = Mutex(0)
    /// When the storage was checked last, and what was found.
    let readiness = Mutex<(time: Int64, failure: RelyingPartyError?)?>(nil)
    private let clock: @Sendable () -> Int64
    private let random: @Sendable (Int) throws -> [UInt8]

    /// - Parameters:
    ///   - policy: what is demanded.
    ///   - master: the secret from which other keys are derived, at least 32 bytes.
    ///   - challenges: how challenges are issued and checked.
    ///   - storage: the database.
    ///   - clock: the time in seconds since 1970.
    ///   - random: unpredictable bytes, as many as asked for.
    ///   - previousMaster: the secret that `master` replaced, if any.
    ///   - verifier: how proofs of TPMs are verified.
    ///   - revocations: where revocations are written besides the database.
    package init(
        policy: RelyingPartyPolicy, master: SecretBytes, challenges: ChallengeKeys, storage: Storage,
        clock: @escaping @Sendable () -> Int64, random: @escaping @Sendable (Int) throws -> [UInt8],
        previousMaster: SecretBytes? = nil, verifier: TPMAttestation? = nil, revocations: (any RevocationList)? = nil
    ) throws(CryptoFailure) {
        self.policy = policy
        self.storage = storage
        self.clock = clock
        self.random = random
        self.verifier = verifier
        self.revocations = revocations
        secrets = Mutex(try DerivedSecrets(master, previousMaster, challenges))
    }

    /// Takes other secrets, without a restart: challenges that this process issued before are accepted if their secret is
    /// one of these.
    ///
    /// - Parameters:
    ///   - master: the secret from which other keys are derived, at least 32 bytes.
    ///   - previous: the secret that it replaced, if any.
    package func replaceSecrets(_ master: SecretBytes, previous: SecretBytes?) throws(CryptoFailure) {
        let challenges = challenges.replacing([master] + (previous.map { [$0] } ?? []))
        let derived = try DerivedSecrets(master, previous, challenges)
        secrets.withLock { $0 = derived }
    }

    /// The origins of the pages that may use passkeys, and of the administration.
    public var origins: Set<String> { policy.origins }

    /// Whether passkeys can be registered and used.
    public var permitsPasskeys: Bool { policy.permitsPasskeys }

    var challenges: ChallengeKeys { secrets.withLock(\.challenges) }

    /// The secrets that are valid: the one that is used now comes first.
    var masters: [SecretBytes] { secrets.withLock(\.masters) }

    /// The name of the relying party.
    public var relyingPartyID: String { policy.relyingPartyID }

    var now: Int64 { max(0, clock()) }

    func randomBytes(_ count: Int) throws -> [UInt8] { try random(count) }

    /// What is stored of an enrolment code: a stolen database does not contain codes. First under the secret that is used
    /// now, then under the one before.
    func stored(_ code: EnrolmentCode) throws -> [[UInt8]] {
        try secrets.withLock(\.codeKeys).map { key in try LibCrypto.hmac(key, code.digits) }
    }

    /// What authenticators store as the user: a keyed digest, 32 bytes, which does not contain the name (WebAuthn Level 3,
    /// section 14.6.1). First under the secret that is used now, then under the one before.
    func userHandles(of user: String) throws -> [[UInt8]] {
        try secrets.withLock(\.handleKeys).map { key in
            try LibCrypto.hmac(key, ChallengeBinding.counted(Array(user.utf8)))
        }
    }

    /// Runs an operation and makes every other error than those of the relying party `unavailable`.
    func working<Result>(_ body: () throws -> Result) throws(RelyingPartyError) -> Result {
        do {
            return try body()
        } catch let error as RelyingPartyError {
            throw error
        } catch let failure as StorageFailure {
            throw .unavailable(failure.message)
        } catch let refusal as VerificationError {
            throw Self.error(refusal)
        } catch {
            throw .unavailable("A computation failed.")
        }
    }

    func check(user: String, key: [UInt8], context: String = "") throws {
        guard Limits.userBytes.contains(user.utf8.count), !user.utf8.contains(0) else {
            throw RelyingPartyError.malformed("user")
        }
        guard key.count == 32 else { throw RelyingPartyError.malformed("key") }
        try check(context: context)
    }

    func check(context: String) throws {
        guard Limits.contextBytes.contains(context.utf8.count), !context.utf8.contains(0) else {
            throw RelyingPartyError.malformed("context")
        }
    }

    // MARK: - Challenges

    /// Issues a challenge. Reads and writes no storage, so the reply is the same for users and keys that do not exist.
    ///
    /// - Parameters:
    ///   - user: the name of the user, 1 to 128 bytes.
    ///   - key: the identifier of the key that will sign, 32 bytes.
    ///   - purpose: what the signature is for.
    ///   - context: what the purpose is about, at most 512 bytes.
    /// - Returns: the challenge, 145 bytes.
    /// - Throws: `malformed` and `unavailable`.
    public func challenge(
        user: String, key: [UInt8], purpose: ChallengePurpose, context: String = ""
    ) throws(RelyingPartyError) -> [UInt8] {
        try working {
            try check(user: user, key: key, context: context)
            let binding = ChallengeBinding(user: user, key: key, purpose: purpose, context: context)
            return try challenges.issue(binding, at: now, nonce: randomBytes(32))
        }
    }

    // MARK: - Housekeeping

    /// How the database is used now.
    package var databaseUse: DatabaseUse { storage.use }

    /// Deletes sessions and enrolment codes that are over and the tables of epochs whose challenges have all expired for 10
    /// minutes, and copies the heads of the other nodes in the audit log once an hour.
    ///
    /// - Throws: `unavailable`.
    public func removeOld() throws(RelyingPartyError) {
        try working {
            let now = now
            try storage.transaction { database in
                _ = try database.run(Statements.endOld, [.integer(now), .integer(now - policy.sessionIdleSeconds)])
                _ = try database.run(Statements.endCodes, [.integer(now)])
                _ = try database.run(Statements.endApprovals, [.integer(now)])
            }
            // An epoch is over an hour after its begin; its last challenge expires 600 seconds later.
            let first = (now - ChallengeKeys.longestSeconds - 600) / 3600
            try storage.transaction { database in
                try database.lock(.epochs)
                for row in try database.run(Statements.epochsBefore, [.integer(first)]) {
                    guard case .integer(let epoch)? = row.first else { continue }
                    _ = try database.run(Statements.setDropped, [.integer(epoch)])
                    _ = try database.run(Statements.dropSpent(epoch), [])
                    _ = try database.run(Statements.dropEpoch, [.integer(epoch)])
                }
            }
            try storage.transaction { try $0.copyHeads(at: now) }
        }
    }

    /// Renews connections and the time of the database. To be called about once a second.
    ///
    /// - Throws: `unavailable`.
    public func maintain() throws(RelyingPartyError) { try working { try storage.maintain() } }
}
