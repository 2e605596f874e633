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
    private static func check(_ fixture: Fixture, rows: Int64, keys: Int = 1) throws {
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
        #expect(try fixture.service.revoke(.user, of: "Jürgen") == keys)
        #expect(try fixture.service.verifyAudit() == (rows + 4, nil))
    }

    /// What version 2 has besides: a counter, a proof, a frozen key, a retired one, and a pseudonym.
    private static func checkSecond(_ fixture: Fixture, retired: Int64 = 1) throws {
        let keys = try fixture.service.keys(of: "Jürgen")
        #expect(keys.map(\.device) == ["phone", "lost", "copied"])
        let phone = try #require(keys.first)
        #expect(phone.counter == 41 && phone.attestation.device == .tpm && phone.attestation.model == "id:1 CHIP")
        #expect(phone.attestation.chip == [UInt8](0..<32) && phone.attestation.claimedUserVerification == "approval")
        let copied = try #require(keys.first { $0.device == "copied" })
        #expect(copied.frozen == Fixture.start - 20 && copied.counter == 7 && copied.identifier == [UInt8](100..<132))
        #expect(keys.allSatisfy { $0.passkey == nil && $0.form == ($0.device == "lost" ? .raw : .bound) })
        #expect(try fixture.service.export("Jürgen").pseudonym == "AAECAwQFBgcICQoLDA0ODw")
        #expect(try fixture.service.export("Jürgen").events.map(\.event) == ["code", "register", "login"])
        #expect(try fixture.count("retired") == retired)
        // What this version adds works on the tables.
        let passkey = try TestPasskey()
        try fixture.register(passkey, "eve")
        _ = try fixture.service.browserSession(fixture.signIn(passkey, in: .browser))
        #expect(try fixture.service.delete("eve") == 1)
    }

    /// What version 3 has besides: a passkey, an administrator, a session of a browser, and a code that opens another.
    private static func checkThird(_ fixture: Fixture) throws {
        let key = try #require(try fixture.service.keys(of: "Grace").first)
        #expect(key.form == .passkey && key.device == "browser" && key.counter == 9)
        #expect(key.passkey?.backup == .possible && key.passkey?.credential == [UInt8](200..<216))
        #expect(try fixture.service.storage.passkeyOrDecoy([UInt8](200..<216)).identifier == key.identifier)
        #expect(try fixture.service.administrator([UInt8](repeating: 8, count: 32)).user == "Grace")
        let code = [UInt8](repeating: 6, count: 32)
        #expect(try fixture.service.userOfBrowserCode(code) == "Grace")
        let opened = try fixture.service.openBrowserSession(code: code)
        #expect(try fixture.service.administrator(opened.token).user == "Grace")
        #expect(try fixture.service.removeAdministrator("Grace"))
        #expect(try fixture.service.delete("Grace") == 1)
    }

    @Test func aFileOfVersion3IsRead() throws {
        try Self.withFile(Self.golden("sqlite-3")) { path in
            let fixture = try Fixture(path: path, policy: Fixture.passkeys)
            try Self.checkThird(fixture)
            try Self.checkSecond(fixture, retired: 2)
            try Self.check(fixture, rows: 11, keys: 2)
        }
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func aDatabaseOfPostgreSQLOfVersion3IsRead() throws {
        let fixture = try Fixture(conninfo: Self.filled("postgresql-3"), policy: Fixture.passkeys)
        try Self.checkThird(fixture)
        try Self.checkSecond(fixture, retired: 2)
        try Self.check(fixture, rows: 12, keys: 2)
    }

    @Test func aFileOfVersion2IsReadAndChanged() throws {
        try Self.withFile(Self.golden("sqlite-2")) { path in
            let fixture = try Fixture(path: path, policy: Fixture.passkeys)
            try Self.checkSecond(fixture)
            try Self.check(fixture, rows: 7, keys: 2)
            try #expect(
                SQLiteConnection(path).run("PRAGMA user_version", []) == [[.integer(SQLiteSchema.version)]])
        }
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func aDatabaseOfPostgreSQLOfVersion2IsReadAndChanged() throws {
        let fixture = try Fixture(conninfo: Self.filled("postgresql-2"), policy: Fixture.passkeys)
        try Self.checkSecond(fixture)
        try Self.check(fixture, rows: 8, keys: 2)
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
        try Self.check(Fixture(conninfo: Self.filled("postgresql-1")), rows: 4)
    }

    /// The connection string of a schema of PostgreSQL that has the statements.
    private static func filled(_ name: String) throws -> String {
        let conninfo = try Cluster.shared.get().schema()
        let connection = try PostgreSQLConnection(conninfo, node: "")
        for statement in try golden(name).split(separator: ";\n") { _ = try connection.run(String(statement), []) }
        return conninfo
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
