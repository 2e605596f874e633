// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import ServerTestSupport
import Synchronization
import Testing

@testable import RelyingParty
@testable import RelyingPartyPostgreSQL

/// What only a database with several connections can do wrong.
@Suite(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
struct PostgreSQLTests {
    private static func schema() throws -> String { try Cluster.shared.get().schema() }

    private static func run(_ conninfo: String, _ statement: String) throws {
        _ = try PostgreSQLConnection(conninfo, node: "").run(statement, [])
    }

    /// Calls a function on as many threads, all of which begin together.
    private static func atOnce(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let ready = Mutex(0)
        let done = DispatchGroup()
        for index in 0..<count {
            done.enter()
            Thread.detachNewThread {
                ready.withLock { $0 += 1 }
                while ready.withLock({ $0 }) < count { sched_yield() }
                body(index)
                done.leave()
            }
        }
        done.wait()
    }

    @Test func signInsOfManyUsersAtOnceOnOneNodeAllSucceedAndAreOneChain() throws {
        let fixture = try Fixture(conninfo: Self.schema())
        let proofs = try (0..<8).map { index in
            let key = try TestKey()
            try fixture.register(key, "user\(index)")
            return try fixture.proof(key, "user\(index)")
        }
        let failures = Mutex<[String]>([])
        Self.atOnce(proofs.count) { index in
            do {
                _ = try fixture.service.signIn(proofs[index])
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try fixture.service.verifyAudit() == (24, nil))
    }

    @Test func everyValueComesBackAsItWas() throws {
        let connection = try PostgreSQLConnection(Self.schema(), node: "")
        _ = try connection.run("CREATE TABLE t (n BIGINT, s TEXT, b BYTEA)", [])
        let rows: [[SQLValue]] = [
            [.integer(.min), .text(""), .blob([])], [.integer(.max), .text("Jürgen 🔑'\"\\"), .blob([UInt8](0...255))],
            [.integer(-1), .text("$1"), .blob([0])], [.null, .null, .null],
        ]
        for row in rows { _ = try connection.run("INSERT INTO t VALUES ($1, $2, $3)", row) }
        #expect(try connection.run("SELECT n, s, b FROM t ORDER BY ctid", []) == rows)
        #expect(
            try connection.run("SELECT true, 2::smallint, 3::integer", []) == [[.integer(1), .integer(2), .integer(3)]])
        #expect(throws: StorageFailure.self, "a type that no statement uses") { try connection.run("SELECT 1.5", []) }
        #expect(throws: StorageFailure.self) { try connection.run("SELECT $1::bigint", []) }
        for number in 0..<200 {
            #expect(try connection.run("SELECT \(number)::bigint", []) == [[.integer(Int64(number))]])
        }
    }

    @Test(arguments: [
        "password=x", "host=a password=", "postgresql://u:p@h/d", "host=a sslpassword=x", "host='a", "hots=a",
    ])
    func connectionStringsWithASecretOrAMistakeAreRefused(text: String) throws {
        let fault = try #require(PostgreSQLDatabase.fault(in: text))
        #expect(!fault.contains("u:p"))
    }

    @Test func connectionStringsWithoutASecretAreTaken() {
        for text in ["host=/run", "service=latchkey passfile=/etc/a", "postgresql://u@h/d?sslmode=verify-full", ""] {
            #expect(PostgreSQLDatabase.fault(in: text) == nil)
        }
    }

    @Test func nodesThatStartAtOnceMakeTheTablesOnce() throws {
        let conninfo = try Self.schema()
        let failures = Mutex<[String]>([])
        Self.atOnce(6) { index in
            do {
                _ = try PostgreSQLDatabase(conninfo, node: "n\(index)", connections: 1)
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test func aUserHasAtMostTwentyKeysAlthoughNodesRegisterThemAtOnce() throws {
        let conninfo = try Self.schema()
        let nodes = [try Fixture(conninfo: conninfo, node: "a"), try Fixture(conninfo: conninfo, node: "b")]
        let first = try TestKey()
        try nodes[0].register(first)
        let token = try nodes[0].service.signIn(nodes[0].proof(first)).token
        let outcomes = Mutex<[String: Int]>([:])
        Self.atOnce(30) { index in
            let node = nodes[index % 2]
            let outcome: String
            do {
                let key = try TestKey()
                let proof = try node.proof(key, "ada", .register)
                let signature = first.sign(node.service.message(proof, .register, "", isRaw: false))
                try node.service.register(
                    key.publicKey, proof, .session(token, .signature(signature)), device: "", isRaw: false, tier: .user)
                outcome = "registered"
            } catch { outcome = "\(error)" }
            outcomes.withLock { $0[outcome, default: 0] += 1 }
        }
        #expect(outcomes.withLock { $0 } == ["registered": 19, "\(RelyingPartyError.refused(.tooManyKeys))": 11])
    }

    @Test func aCodeThatIsUsedAtOnceOnSeveralNodesRegistersOneKey() throws {
        let conninfo = try Self.schema()
        let nodes = [try Fixture(conninfo: conninfo, node: "a"), try Fixture(conninfo: conninfo, node: "b")]
        let code = try nodes[0].service.makeCode(for: "ada")
        let outcomes = Mutex<[String: Int]>([:])
        Self.atOnce(8) { index in
            let (node, outcome) = (nodes[index % 2], Result { try TestKey() })
            let text: String
            do {
                let key = try outcome.get()
                try node.service.register(
                    key.publicKey, node.proof(key, "ada", .register), .code(code), device: "", isRaw: false, tier: .user
                )
                text = "registered"
            } catch { text = "\(error)" }
            outcomes.withLock { $0[text, default: 0] += 1 }
        }
        #expect(outcomes.withLock { $0 } == ["registered": 1, "\(RelyingPartyError.refused(.wrongCode))": 7])
    }

    @Test func aTableThatIsDroppedWhileAChallengeWaitsDoesNotComeBack() throws {
        let conninfo = try Self.schema()
        let fixture = try Fixture(conninfo: conninfo)
        let key = try TestKey()
        try fixture.register(key)
        let proof = try fixture.proof(key)
        _ = try fixture.service.signIn(proof)
        // Another node drops the table between this one's look at the marks and its insertion.
        let other = try PostgreSQLConnection(conninfo, node: "b")
        try other.begin()
        try other.lock(.epochs)
        let epoch = Fixture.start / 3600
        for statement in [
            "UPDATE marks SET value = \(epoch) WHERE name = 'dropped'", "DROP TABLE spent_\(epoch)",
            "DELETE FROM epochs",
        ] { _ = try other.run(statement, []) }
        let outcome = Mutex<RelyingPartyError?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do throws(RelyingPartyError) {
                _ = try fixture.service.signIn(proof)
            } catch { outcome.withLock { $0 = error } }
            done.signal()
        }
        try Self.wait(conninfo, "SELECT 1 FROM pg_locks WHERE NOT granted")
        try other.commit()
        done.wait()
        let error = outcome.withLock { $0 }
        #expect(error != nil, "the challenge was spent twice")
        #expect(throws: RelyingPartyError.refused(.replayed)) { try fixture.service.signIn(proof) }
    }

    @Test(arguments: [
        ("UPDATE keys SET revoked = 1 WHERE id = $1", RefusalReason.revokedKey),
        ("UPDATE keys SET frozen = 1 WHERE id = $1", .frozenKey), ("DELETE FROM keys WHERE id = $1", .revokedKey),
    ])
    func aKeyThatIsRevokedWhileItsSignInWaitsForTheLockIsRefused(statement: String, reason: RefusalReason) throws {
        let conninfo = try Self.schema()
        let (fixture, key) = (try Fixture(conninfo: conninfo), try TestKey())
        try fixture.register(key)
        let proof = try fixture.proof(key)
        let other = try PostgreSQLConnection(conninfo, node: "b")
        try other.begin()
        try other.lock(.user("ada"))
        guard case .integer(let process)? = try other.run("SELECT pg_backend_pid()", []).first?.first else {
            Issue.record("no process")
            return
        }
        let outcome = Mutex<RelyingPartyError?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do throws(RelyingPartyError) {
                _ = try fixture.service.signIn(proof)
            } catch { outcome.withLock { $0 = error } }
            done.signal()
        }
        // The sign-in has read the key and verified the signature.
        try Self.wait(
            conninfo,
            """
            SELECT 1 FROM pg_locks w JOIN pg_locks h USING (locktype, classid, objid, objsubid)
                WHERE h.granted AND NOT w.granted AND locktype = 'advisory' AND h.pid = \(process)
            """)
        _ = try other.run(statement, [.blob(try key.publicKey.identifier)])
        try other.commit()
        done.wait()
        #expect(outcome.withLock { $0 } == .refused(reason))
        #expect(try fixture.count("sessions") == 0)
    }

    @Test func anHourBeginsWhileABackupReadsAllTables() throws {
        let conninfo = try Self.schema()
        let fixture = try Fixture(conninfo: conninfo)
        let backup = try PostgreSQLConnection(conninfo, node: "")
        try backup.begin()
        // What pg_dump holds until it ends.
        _ = try backup.run("LOCK TABLE spent, epochs, marks, audit, keys, sessions IN ACCESS SHARE MODE", [])
        let key = try TestKey()
        try fixture.register(key)
        fixture.advance(3600)
        _ = try fixture.service.signIn(fixture.proof(key))
        #expect(try fixture.count("spent") == 2)
    }

    /// Waits until a statement has a row.
    private static func wait(_ conninfo: String, _ statement: String) throws {
        let connection = try PostgreSQLConnection(conninfo, node: "")
        let deadline = ContinuousClock.now + .seconds(20)
        while try connection.run(statement, []).isEmpty { try #require(ContinuousClock.now < deadline) }
    }

    @Test func lostConnectionsAreReplacedAndATransactionIsRunAgainUnlessItsCommitIsLost() throws {
        let conninfo = try Self.schema()
        let storage = Storage(try PostgreSQLDatabase(conninfo, node: "a", connections: 2))
        var runs = 0
        let end = "SELECT pg_terminate_backend(pg_backend_pid())"
        try storage.transaction { database in
            runs += 1
            _ = try database.run("INSERT INTO epochs VALUES ($1)", [.integer(Int64(runs))])
            if runs == 1 { _ = try database.run(end, []) }
        }
        #expect(try storage.read("SELECT epoch FROM epochs", []) == [[.integer(2)]])
        try Self.run(
            conninfo,
            """
            CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$
            """)
        try Self.run(
            conninfo,
            """
            CREATE CONSTRAINT TRIGGER die AFTER INSERT ON epochs DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION die()
            """)
        runs = 0
        let failure = #expect(throws: StorageFailure.self) {
            try storage.transaction { database in
                runs += 1
                _ = try database.run("INSERT INTO epochs VALUES (3)", [])
            }
        }
        #expect(runs == 1 && failure?.message.contains("unknown") == true)
    }

    @Test func oneOfTwoTransactionsThatWaitForEachOtherIsRunAgain() throws {
        let storage = Storage(try PostgreSQLDatabase(Self.schema(), node: "a", connections: 2))
        _ = try storage.read("INSERT INTO epochs VALUES (1), (2)", [])
        let arrived = Mutex(0)
        let failures = Mutex(0)
        Self.atOnce(2) { index in
            do {
                try storage.transaction { database in
                    let order: [Int64] = index == 0 ? [1, 2] : [2, 1]
                    _ = try database.run("SELECT 1 FROM epochs WHERE epoch = $1 FOR UPDATE", [.integer(order[0])])
                    arrived.withLock { $0 += 1 }
                    let deadline = ContinuousClock.now + .seconds(10)
                    while arrived.withLock({ $0 }) < 2, ContinuousClock.now < deadline { sched_yield() }
                    _ = try database.run("SELECT 1 FROM epochs WHERE epoch = $1 FOR UPDATE", [.integer(order[1])])
                }
            } catch { failures.withLock { $0 += 1 } }
        }
        #expect(failures.withLock { $0 } == 0)
        #expect(arrived.withLock { $0 } >= 3)
    }

    @Test func aCommitAfterAFailedStatementIsAnError() throws {
        let connection = try PostgreSQLDatabase(Self.schema(), node: "a", connections: 1)
        try connection.read { database in
            try database.begin()
            #expect(throws: StorageFailure.self) { try database.run("SELECT 1/0", []) }
            #expect(throws: StorageFailure.self) { try database.commit() }
        }
    }

    @Test func aRequestWaitsForAConnectionForABoundedTime() throws {
        let database = try PostgreSQLDatabase(Self.schema(), node: "a", connections: 1)
        _ = try database.read { _ in
            #expect(throws: StorageFailure.self) { try database.read { _ = $0 } }
        }
        _ = try database.read { try $0.run("SELECT 1", []) }
    }

    @Test func challengesFromBeforeAnotherServerTookOverAreRefused() throws {
        let conninfo = try Self.schema()
        let database = try PostgreSQLDatabase(conninfo, node: "a", connections: 1)
        let before = database.accepted
        // What the nodes see after a promotion, a restart and a restore alike.
        try Self.run(conninfo, "UPDATE server SET identity = 'another'")
        let next = try PostgreSQLDatabase(conninfo, node: "b", connections: 1)
        #expect(next.accepted > before)
        let same = try PostgreSQLDatabase(conninfo, node: "c", connections: 1)
        #expect(same.accepted == next.accepted, "a node that starts changes nothing")
    }

    @Test func theTimeIsThatOfTheDatabase() throws {
        let conninfo = try Self.schema()
        // Before the schema of the system, so that the database seems to be a day ahead.
        try Self.run(
            conninfo,
            """
            CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
                $$ SELECT pg_catalog.clock_timestamp() + interval '1 day' $$
            """)
        let ahead = conninfo.dropLast() + ",pg_catalog'"
        let database = try PostgreSQLDatabase(String(ahead), node: "a", connections: 1)
        #expect(abs(database.now - Int64(Date().timeIntervalSince1970) - 86400) <= 2)
        #expect(database.accepted >= database.now)
    }
}
