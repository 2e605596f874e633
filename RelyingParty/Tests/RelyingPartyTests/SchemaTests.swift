// SPDX-License-Identifier: Apache-2.0

import Foundation
import ServerTestSupport
import SignInVerification
import Synchronization
import Testing

@testable import RelyingParty
@testable import RelyingPartyPostgreSQL
@testable import RelyingPartySQLite

/// Versions of the tables: how a later program takes over a database, and an earlier one stops.
struct SchemaTests {
    /// A version that a later program would have: a column that it adds, and one that only earlier programs need.
    private static func later(_ versions: [SchemaVersion], _ extra: String...) -> [SchemaVersion] {
        versions + [
            SchemaVersion(
                expand: ["ALTER TABLE nodes ADD more INTEGER"] + extra,
                contract: ["ALTER TABLE nodes DROP COLUMN copied"])
        ]
    }

    private static func withFile(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try body(folder.appending(path: "database.sqlite").path)
    }

    private static func marks(_ connection: any SQLConnection) throws -> [Int64] {
        let marks = try #require(SchemaMarks(try connection.run(SchemaMarks.statement, []).first))
        return [marks.version, marks.least]
    }

    @Test func aServerStopsUsingAFileThatALaterProgramHasTakenOver() throws {
        try Self.withFile { path in
            let fixture = try Fixture(path: path)
            let key = try TestKey()
            try fixture.register(key)
            let proof = try fixture.proof(key)
            let sessions = try fixture.count("sessions")
            let later = try SQLiteConnection(path, versions: SQLiteSchema.versions + [SchemaVersion(expand: [])])
            #expect(try Self.marks(later) == [2, 2])
            #expect(throws: RelyingPartyError.self) { try fixture.service.signIn(proof) }
            #expect(throws: RelyingPartyError.self) { try fixture.service.checkStorage() }
            #expect(throws: StorageFailure.self) { try fixture.service.storage.reading { _ in } }
            #expect(try later.run("SELECT count(*) FROM sessions", []) == [[.integer(sessions)]])
            #expect(throws: StorageFailure.self) { try SQLiteConnection(path) }
        }
    }

    @Test func aChangeThatFailsLeavesTheVersionBefore() throws {
        try Self.withFile { path in
            let fixture = try Fixture(path: path)
            #expect(throws: StorageFailure.self) {
                try SQLiteConnection(path, versions: Self.later(SQLiteSchema.versions, "a statement that fails"))
            }
            let connection = try SQLiteConnection(path)
            #expect(try Self.marks(connection) == [1, 1])
            #expect(throws: StorageFailure.self) { try connection.run("SELECT more FROM nodes", []) }
            try fixture.register(TestKey())
        }
    }

    @Test(arguments: ["DELETE FROM marks WHERE name = 'version'", "DROP TABLE marks", "DELETE FROM marks"])
    func aFileWithoutItsVersionIsRefused(_ statement: String) throws {
        try Self.withFile { path in
            let connection = try SQLiteConnection(path)
            _ = try connection.run(statement, [])
            #expect(throws: StorageFailure.self) { try SQLiteConnection(path) }
            #expect(throws: StorageFailure.self) { try connection.begin() }
        }
    }

    @Test func aFileOfAnotherProgramIsRefusedAndNotChanged() throws {
        try Self.withFile { path in
            let other = try SQLiteConnection(
                path, versions: [SchemaVersion(expand: Schema.versions(.sqlite)[0].expand)])
            _ = try other.run("DROP TABLE marks", [])
            let tables = try other.run("SELECT count(*) FROM sqlite_master", [])
            #expect(throws: StorageFailure.self) { try SQLiteConnection(path) }
            #expect(try other.run("SELECT count(*) FROM sqlite_master", []) == tables)
        }
    }

    @Test func aFileThatALaterProgramHasOnlyExpandedIsServed() throws {
        try Self.withFile { path in
            let key = try TestKey()
            let fixture = try Fixture(path: path)
            try fixture.register(key)
            for statement in [
                "ALTER TABLE nodes ADD more INTEGER", "UPDATE marks SET value = 2 WHERE name = 'version'",
            ] {
                _ = try SQLiteConnection(path).run(statement, [])
            }
            _ = try fixture.service.signIn(fixture.proof(key))
            // The start of this program does not contract the tables of the later one.
            let again = try SQLiteConnection(path)
            #expect(try Self.marks(again) == [2, 1])
        }
    }

    @Test func aCopyChangesNeitherTheTablesNorTheVersionOfItsSource() throws {
        try Self.withFile { path in
            let later = try SQLiteConnection(path, versions: Self.later(SQLiteSchema.versions))
            let before = try later.run("SELECT sql FROM sqlite_master ORDER BY name", [])
            let backup = try SQLiteBackup(of: path)
            #expect(backup.version == 2)
            try backup.copy(to: path + "-copy")
            #expect(try later.run("SELECT sql FROM sqlite_master ORDER BY name", []) == before)
            #expect(throws: StorageFailure.self) { try SQLiteBackup(of: path).write(to: path + "-second") }
        }
    }

    // MARK: - Several nodes

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func nodesOfTwoVersionsWorkUntilTheUpgradeIsFinished() throws {
        let conninfo = try Cluster.shared.get().schema()
        let old = try Fixture(conninfo: conninfo)
        let key = try TestKey()
        try old.register(key)
        let versions = Self.later(PostgreSQLSchema.versions)
        let new = try PostgreSQLDatabase(conninfo, node: "b", connections: 1, versions: versions)
        // Expanded: both use it, and another old node can start.
        _ = try old.service.signIn(old.proof(key))
        _ = try new.transaction { try $0.run("UPDATE nodes SET more = 1", []) }
        _ = try PostgreSQLDatabase(conninfo, node: "c", connections: 1)
        let proof = try old.proof(key)
        let sessions = try old.count("sessions")
        #expect(try new.finishUpgrade())
        #expect(try !new.finishUpgrade(), "it is finished once")
        // Contracted: the old one stores nothing more, and none can start.
        #expect(throws: RelyingPartyError.self) { try old.service.signIn(proof) }
        #expect(throws: RelyingPartyError.self) { try old.service.checkStorage() }
        #expect(throws: StorageFailure.self) { try PostgreSQLDatabase(conninfo, node: "c", connections: 1) }
        let count = try new.transaction { try $0.run("SELECT count(*) FROM sessions", []) }
        #expect(count == [[.integer(sessions)]])
        // It has found out, and reads nothing more either.
        #expect(throws: StorageFailure.self) { try old.service.storage.reading { _ in } }
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func aNodeThatOnlyReadsLearnsInItsMaintenanceThatItMustNot() throws {
        let conninfo = try Cluster.shared.get().schema()
        let old = Storage(try PostgreSQLDatabase(conninfo, node: "a", connections: 2))
        let new = try PostgreSQLDatabase(
            conninfo, node: "b", connections: 1, versions: Self.later(PostgreSQLSchema.versions))
        try old.maintain()
        // Two connections, of which one finds out.
        try old.reading { _ in try old.reading { _ in } }
        #expect(try new.finishUpgrade())
        #expect(throws: StorageFailure.self) { try old.maintain() }
        #expect(throws: StorageFailure.self) { try old.reading { _ in } }
        #expect(throws: StorageFailure.self) { try old.read("SELECT 1", []) }
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func theUpgradeIsFinishedAfterEveryTransactionThatHasReadTheMarks() throws {
        let conninfo = try Cluster.shared.get().schema()
        let old = try PostgreSQLDatabase(conninfo, node: "a", connections: 2)
        let new = try PostgreSQLDatabase(
            conninfo, node: "b", connections: 1, versions: Self.later(PostgreSQLSchema.versions))
        let finished = Mutex(false)
        let done = DispatchSemaphore(value: 0)
        try old.transaction { connection in
            Thread.detachNewThread {
                _ = try? new.finishUpgrade()
                finished.withLock { $0 = true }
                done.signal()
            }
            let watcher = try PostgreSQLConnection(conninfo, node: "")
            let deadline = ContinuousClock.now + .seconds(10)
            while try watcher.run(
                "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND NOT granted", []
            ).isEmpty { try #require(ContinuousClock.now < deadline) }
            #expect(finished.withLock { !$0 })
            // A column that only earlier programs need is still there.
            _ = try connection.run("SELECT copied FROM nodes", [])
        }
        done.wait()
        #expect(throws: StorageFailure.self) { try old.transaction { _ in } }
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func anEarlierProgramCannotFinishTheUpgrade() throws {
        let conninfo = try Cluster.shared.get().schema()
        let old = try PostgreSQLDatabase(conninfo, node: "a", connections: 1)
        _ = try PostgreSQLDatabase(
            conninfo, node: "b", connections: 1, versions: Self.later(PostgreSQLSchema.versions))
        #expect(throws: StorageFailure.self) { try old.finishUpgrade() }
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func aDatabaseThatWasReplacedByAnEarlierOneIsRefused() throws {
        let conninfo = try Cluster.shared.get().schema()
        let new = try PostgreSQLDatabase(
            conninfo, node: "b", connections: 1, versions: Self.later(PostgreSQLSchema.versions))
        _ = try new.transaction { try $0.run("SELECT 1", []) }
        let connection = try PostgreSQLConnection(conninfo, node: "")
        _ = try connection.run("UPDATE marks SET value = 1 WHERE name = 'version'", [])
        #expect(throws: StorageFailure.self) { try new.transaction { try $0.run("SELECT 1", []) } }
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func aChangeWhoseConnectionIsKilledLeavesTheVersionBefore() throws {
        let conninfo = try Cluster.shared.get().schema()
        _ = try PostgreSQLDatabase(conninfo, node: "a", connections: 1)
        #expect(throws: StorageFailure.self) {
            try PostgreSQLDatabase(
                conninfo, node: "a", connections: 1,
                versions: Self.later(PostgreSQLSchema.versions, "SELECT pg_terminate_backend(pg_backend_pid())"))
        }
        let connection = try PostgreSQLConnection(conninfo, node: "")
        #expect(try Self.marks(connection) == [1, 1])
        _ = try PostgreSQLDatabase(
            conninfo, node: "a", connections: 1, versions: Self.later(PostgreSQLSchema.versions))
        #expect(try Self.marks(connection) == [2, 1])
    }

    /// An order of a locale changes with the C library: an index that was built before would hide rows.
    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func everyTextOfPostgreSQLIsOrderedByItsBytes() throws {
        let conninfo = try Cluster.shared.get().schema()
        _ = try PostgreSQLDatabase(conninfo, node: "a", connections: 1)
        let others = try PostgreSQLConnection(conninfo, node: "").run(
            """
            SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = current_schema()
                AND data_type IN ('text', 'character varying') AND collation_name IS DISTINCT FROM 'C'
            """, [])
        #expect(others == [])
    }
}
