// SPDX-License-Identifier: Apache-2.0

import CServerSQLite
import Foundation
import RelyingPartyCrypto
import Testing

@testable import RelyingParty
@testable import RelyingPartyPostgreSQL
@testable import RelyingPartySQLite

/// Databases of every version, which `Vectors/database.py` wrote, become databases of this one.
struct MigrationTests {
    private static func golden(_ name: String) throws -> String {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/\(name).sql")
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// Calls a function with the path of a file of SQLite that has the statements.
    private static func withFile(_ sql: String, _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let path = folder.appending(path: "golden.sqlite").path
        var handle: OpaquePointer?
        #expect(sqlite3_open(path, &handle) == SQLITE_OK)
        #expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
        sqlite3_close_v2(handle)
        try body(path)
    }

    /// What is in every golden database.
    private static func check(_ fixture: Fixture, rows: Int64) throws {
        let session = try fixture.service.session([UInt8](repeating: 7, count: 32))
        #expect(session.user == "Jürgen" && session.expiry == Fixture.start + 40000 && !session.isRaw)
        let key = try #require(try fixture.service.storage.transaction { try $0.key(session.key) })
        #expect(key.device == "phone" && key.tier == .user && !key.isRevoked && key.point == P256PublicKey.basePoint)
        let lost = try #require(try fixture.service.storage.transaction { try $0.key([UInt8](0..<32)) })
        #expect(lost.device == "lost" && lost.isRevoked && lost.isRaw)
        #expect(try fixture.service.verifyAudit() == (rows, nil))
        let spent = Challenge(
            relyingParty: [], binding: [], issued: Fixture.start, expiry: Fixture.start + 60,
            nonce: [UInt8](repeating: 9, count: 32))
        #expect(throws: RelyingPartyError.refused(.replayed)) {
            try fixture.service.storage.transaction { try $0.spend(spent) }
        }
        // Everything still works, and the chain goes on.
        let new = try TestKey()
        try fixture.register(new)
        _ = try fixture.service.signIn(fixture.proof(new))
        #expect(try fixture.service.revoke(.user, of: "Jürgen") == 1)
        #expect(try fixture.service.verifyAudit() == (rows + 4, nil))
    }

    @Test func aFileOfVersion1IsReadAndChanged() throws {
        try Self.withFile(Self.golden("sqlite-1")) { path in
            try Self.check(Fixture(path: path), rows: 3)
            try #expect(
                SQLiteConnection(path).run("PRAGMA user_version", []) == [[.integer(SQLiteSchema.version)]])
        }
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func aDatabaseOfPostgreSQLOfVersion1IsReadAndChanged() throws {
        let conninfo = try Cluster.shared.get().schema()
        let connection = try PostgreSQLConnection(conninfo, node: "")
        for statement in try Self.golden("postgresql-1").split(separator: ";\n") {
            _ = try connection.run(String(statement), [])
        }
        try Self.check(Fixture(conninfo: conninfo), rows: 4)
    }

    @Test func aFileWhoseMigrationIsCutOffStaysOfTheVersionBefore() throws {
        try Self.withFile(Self.golden("sqlite-1")) { path in
            var broken = SQLiteSchema.migrations
            broken[1].append("a statement that fails")
            #expect(throws: StorageFailure.self) { try SQLiteConnection(path, migrations: broken) }
            var handle: OpaquePointer?
            #expect(sqlite3_open(path, &handle) == SQLITE_OK)
            // The column that version 2 adds is not there.
            #expect(sqlite3_exec(handle, "SELECT node FROM audit", nil, nil, nil) == SQLITE_ERROR)
            sqlite3_close_v2(handle)
            try Self.check(Fixture(path: path), rows: 3)
        }
    }

    @Test func aFileOfALaterVersionIsRefused() throws {
        try Self.withFile(Self.golden("sqlite-1") + "PRAGMA user_version = 99;") { path in
            #expect(throws: StorageFailure.self) { try SQLiteConnection(path) }
        }
    }
}
