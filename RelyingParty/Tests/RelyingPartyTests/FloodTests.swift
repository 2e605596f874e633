// SPDX-License-Identifier: Apache-2.0

import RelyingPartySQLite
import ServerTestSupport
import Synchronization
import Testing

@testable import RelyingParty

/// Requests of clients without a key do not disturb the transactions of others.
struct FloodTests {
    /// A database in memory that counts its transactions.
    private final class CountingDatabase: SQLDatabase {
        private let real: SQLiteDatabase
        private let counted = Mutex(0)

        init() throws { real = try SQLiteDatabase(":memory:") }

        var transactions: Int { counted.withLock(\.self) }
        func read<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result { try real.read(body) }
        func transaction<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
            counted.withLock { $0 += 1 }
            return try real.transaction(body)
        }
        func finishUpgrade() throws(StorageFailure) -> Bool { false }
        func maintain() {}
        var use: DatabaseUse { real.use }
    }

    @Test func inventedTokensAndCodesBeginNoTransaction() throws {
        let database = try CountingDatabase()
        let fixture = try Fixture(Storage(database), policy: Fixture.passkeys)
        let (service, token) = (fixture.service, [UInt8](repeating: 7, count: 32))
        let (key, passkey) = (try TestKey(), try TestPasskey())
        let proof = try fixture.proof(key, "ada", .register)
        let registration = try passkey.registration(service.passkeyChallenge(registering: "ada").challenge)
        let requests: [(RefusalReason, () throws -> Void)] = [
            (.unknownSession, { _ = try service.session(token) }),
            (.unknownSession, { _ = try service.browserSession(token) }),
            (.unknownSession, { _ = try service.administrator(token) }),
            (.browserCode, { _ = try service.userOfBrowserCode(token) }),
            (.browserCode, { _ = try service.openBrowserSession(code: token) }),
            (
                .unknownSession,
                {
                    try service.register(
                        key.publicKey, proof, .session(token, .signature(proof.signature)), device: "", isRaw: false,
                        tier: .user)
                }
            ),
            (
                .unknownSession,
                {
                    try service.registerPasskey(
                        registration, of: "ada", device: "", .session(token, .signature(proof.signature)))
                }
            ),
        ]
        for (reason, request) in requests {
            #expect(throws: RelyingPartyError.refused(reason)) { try request() }
            #expect(database.transactions == 0)
        }
        for kind in [SessionKind.program, .browser] { try service.endSession(token, of: kind) }
        #expect(database.transactions == 0)
    }

    @Test func theChainsOfTheAuditLogAreListedWithoutATransaction() throws {
        let database = try CountingDatabase()
        var policy = Fixture.passkeys
        policy.permitsAdministration = true
        let (fixture, passkey) = (try Fixture(Storage(database), policy: policy), try TestPasskey())
        try fixture.register(passkey)
        _ = try fixture.service.addAdministrator("ada")
        let administrator = try fixture.service.administrator(fixture.signIn(passkey, in: .browser))
        let before = database.transactions
        #expect(try fixture.service.chains(for: administrator).map(\.count) == [fixture.count("audit")])
        #expect(database.transactions == before, "a page that follows the log asks every few seconds")
    }

    @Test func theUseOfASessionIsWrittenWhenItIsDue() throws {
        let database = try CountingDatabase()
        let (fixture, key) = (try Fixture(Storage(database)), try TestKey())
        try fixture.register(key)
        let token = try fixture.service.signIn(fixture.proof(key)).token
        let before = database.transactions
        for _ in 0..<20 {
            _ = try fixture.service.session(token)
            fixture.advance(80)
        }
        // A tenth of 900 seconds is over at every second use; without any the session would have ended.
        #expect(database.transactions - before == 9)
    }
}
