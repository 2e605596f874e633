// SPDX-License-Identifier: Apache-2.0

import CServerOpenSSL
import Foundation
import RelyingPartyCrypto
import RelyingPartySQLite
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
    init(party: String = "example.com", minimumTier: DeclaredTier = .user, path: String = ":memory:") throws {
        var secret = [UInt8](0..<32)
        let master = SecretBytes(taking: &secret)
        let challenges = try ChallengeKeys(masters: [master], relyingPartyID: party, seconds: 60, notBefore: 0)
        let time = ClockReference()
        service = try RelyingPartyService(
            policy: RelyingPartyPolicy(relyingPartyID: party, minimumTier: minimumTier), master: master,
            challenges: challenges, storage: Storage(try SQLiteConnection(path)), clock: { time.fixture?.now ?? 0 },
            random: { count in try LibCrypto.random(count) })
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

    /// The number of rows of a table.
    func count(_ table: String) throws -> Int64 {
        guard case .integer(let count)? = try service.storage.read("SELECT count(*) FROM \(table)", []).first?.first
        else { return -1 }
        return count
    }

    /// A proof of a key for a purpose, signed as its form demands.
    func proof(
        _ key: TestKey, _ user: String = "ada", _ purpose: ChallengePurpose = .login, context: String = "",
        isRaw: Bool = false
    ) throws -> SignedProof {
        let id = try key.publicKey.identifier
        let challenge = try service.challenge(user: user, key: id, purpose: purpose, context: context)
        let unsigned = SignedProof(user: user, key: id, challenge: challenge, signature: [])
        let message = service.message(unsigned, purpose, context, isRaw: isRaw)
        return SignedProof(user: user, key: id, challenge: challenge, signature: key.sign(message))
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

/// A key pair of libcrypto.
final class TestKey: @unchecked Sendable {
    // Only the initialiser changes the key.
    private let key: OpaquePointer

    init() throws {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        EVP_PKEY_keygen_init(context)
        EVP_PKEY_CTX_set_group_name(context, "P-256")
        EVP_PKEY_generate(context, &made)
        key = try #require(made)
    }

    deinit { EVP_PKEY_free(key) }

    var der: [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(key, &bytes)
        defer { CRYPTO_free(bytes, nil, 0) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    var publicKey: P256PublicKey { get throws { try #require(try P256PublicKey(der: der)) } }

    func sign(_ message: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key)
        var signature = [UInt8](repeating: 0, count: 80)
        var count = signature.count
        EVP_DigestSign(context, &signature, &count, message, message.count)
        return Array(signature[..<count])
    }
}
