// SPDX-License-Identifier: Apache-2.0

import Foundation
import RelyingPartyAttestation
import RelyingPartyCrypto
import RelyingPartyPostgreSQL
import RelyingPartySQLite
import ServerTestSupport
import SignInVerification
import Synchronization
import Testing

@testable import RelyingParty

/// A relying party in memory, with a clock that the test sets.
final class Fixture: Sendable {
    static let start: Int64 = 1_800_000_000
    let time = Mutex(start)
    let service: RelyingPartyService

    /// - Parameters:
    ///   - party: the name of the relying party.
    ///   - path: the database; `:memory:` for one of this fixture.
    ///   - policy: what is demanded; nil for the minimum tier alone.
    ///   - verifier: how proofs of TPMs are verified.
    ///   - revocations: where revocations are written besides the database.
    convenience init(
        party: String = "example.com", minimumTier: DeclaredTier = .user, path: String = ":memory:",
        policy: RelyingPartyPolicy? = nil, verifier: TPMAttestation? = nil, revocations: (any RevocationList)? = nil
    ) throws {
        try self.init(
            Storage(try SQLiteDatabase(path)), party: party, minimumTier: minimumTier, policy: policy,
            verifier: verifier, revocations: revocations)
    }

    /// A relying party on an empty database.
    convenience init(
        _ backend: Backend, minimumTier: DeclaredTier = .user, policy: RelyingPartyPolicy? = nil
    ) throws {
        switch backend {
        case .sqlite: try self.init(minimumTier: minimumTier, policy: policy)
        case .postgresql:
            try self.init(conninfo: Cluster.shared.get().schema(), minimumTier: minimumTier, policy: policy)
        }
    }

    /// A node on a database of PostgreSQL.
    convenience init(
        conninfo: String, node: String = "a", minimumTier: DeclaredTier = .user, policy: RelyingPartyPolicy? = nil
    ) throws {
        let storage = Storage(try PostgreSQLDatabase(conninfo, node: node, connections: 4))
        // The clock of the test is not the server's.
        _ = try storage.read("UPDATE marks SET value = 0 WHERE name = 'accepted'", [])
        try self.init(storage, minimumTier: minimumTier, policy: policy)
    }

    init(
        _ storage: Storage, party: String = "example.com", minimumTier: DeclaredTier = .user,
        policy: RelyingPartyPolicy? = nil, verifier: TPMAttestation? = nil, revocations: (any RevocationList)? = nil
    ) throws {
        var secret = [UInt8](0..<32)
        let master = SecretBytes(taking: &secret)
        let challenges = try ChallengeKeys(masters: [master], relyingPartyID: party, seconds: 60, notBefore: 0)
        let time = ClockReference()
        service = try RelyingPartyService(
            policy: policy ?? RelyingPartyPolicy(relyingPartyID: party, minimumTier: minimumTier), master: master,
            challenges: challenges, storage: storage, clock: { time.fixture?.now ?? 0 },
            random: { count in try LibCrypto.random(count) }, verifier: verifier, revocations: revocations)
        time.set(self)
    }

    var now: Int64 { time.withLock { $0 } }
    func advance(_ seconds: Int64) { time.withLock { $0 += seconds } }

    private final class ClockReference: Sendable {
        private let held = Mutex<WeakFixture>(WeakFixture())
        var fixture: Fixture? { held.withLock { $0.fixture } }
        func set(_ fixture: Fixture) { held.withLock { $0.fixture = fixture } }
    }

    private struct WeakFixture { weak var fixture: Fixture? }

    /// Another process with the same database, clock and secret.
    func again(_ policy: RelyingPartyPolicy, verifier: TPMAttestation? = nil) throws -> RelyingPartyService {
        var secret = [UInt8](0..<32)
        let master = SecretBytes(taking: &secret)
        let challenges = try ChallengeKeys(
            masters: [master], relyingPartyID: policy.relyingPartyID, seconds: 60, notBefore: 0)
        return try RelyingPartyService(
            policy: policy, master: master, challenges: challenges, storage: service.storage,
            clock: { [weak self] in self?.now ?? 0 }, random: { count in try LibCrypto.random(count) },
            verifier: verifier)
    }

    /// The number of rows of a table.
    func count(_ table: String) throws -> Int64 {
        guard case .integer(let count)? = try service.storage.read("SELECT count(*) FROM \(table)", []).first?.first
        else { return -1 }
        return count
    }

    /// A proof of a key for a purpose, signed as its form demands.
    func proof(
        _ key: TestKey, _ user: String = "ada", _ purpose: ChallengePurpose = .login, context: String = "",
        isRaw: Bool = false, counter: Int64? = nil
    ) throws -> SignedProof {
        let id = try key.publicKey.identifier
        let challenge = try service.challenge(user: user, key: id, purpose: purpose, context: context)
        let unsigned = SignedProof(user: user, key: id, challenge: challenge, signature: [], counter: counter)
        let message = service.message(unsigned, purpose, context, isRaw: isRaw)
        return SignedProof(
            user: user, key: id, challenge: challenge, signature: key.sign(message), counter: counter)
    }

    func register(
        _ key: TestKey, _ user: String = "ada", device: String = "", isRaw: Bool = false, tier: DeclaredTier = .user
    ) throws {
        let proof = try proof(key, user, .register, isRaw: isRaw)
        let code = try service.makeCode(for: user)
        try service.register(
            key.publicKey, proof, .code(code), device: device, isRaw: isRaw, tier: tier)
    }
}
