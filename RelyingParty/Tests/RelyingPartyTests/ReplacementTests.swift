// SPDX-License-Identifier: Apache-2.0

import Foundation
import RelyingPartyCrypto
import ServerTestSupport
import Synchronization
import Testing

@testable import RelyingParty
@testable import RelyingPartyPostgreSQL

/// A database that takes the place of another one while the node runs, such as a standby that was promoted.
struct ReplacementTests {
    // MARK: - What the node does with its list

    @Test(arguments: Backend.all)
    func entriesThatTheDatabaseLacksAreAppliedAndOtherUsersKeepTheirSessionsAndCodes(_ backend: Backend) throws {
        let list = MemoryList()
        let fixture = try Fixture(Fixture(backend).service.storage, revocations: list)
        let keys = try (0..<4).map { _ in try TestKey() }
        let names = ["ada", "bob", "cy", "eve"]
        for (key, name) in zip(keys, names) { try fixture.register(key, name) }
        let tokens = try zip(keys, names).map { key, name in
            try fixture.service.signIn(fixture.proof(key, name)).token
        }
        for name in ["ada", "bob"] { _ = try fixture.service.makeCode(for: name) }
        _ = try fixture.service.addAdministrator("dan")
        let storage = fixture.service.storage
        let credentials = [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)]
        for (name, credential) in zip(["shop", "wiki"], credentials) {
            _ = try storage.transaction {
                try $0.run(
                    "INSERT INTO services (name, credential, rights, created) VALUES ($1, $2, 0, 0)",
                    [.text(name), .blob(credential)])
            }
        }
        let ids = try keys.map { try $0.publicKey.identifier }
        let dan = try #require(try fixture.service.export("dan").pseudonym)
        let eve = try #require(try fixture.service.export("eve").pseudonym)
        // What the node has written down, and the database that takes over has not received.
        fixture.advance(1)
        try list.append([
            .revoked(ids[0]), .frozen(ids[2], fixture.now), .deleted(eve), .demoted(dan, fixture.now),
            .service(credentials[0]),
        ])
        #expect(try fixture.service.missingRevocations() == 5)
        try storage.reading { try fixture.service.applyRevocations(to: $0) }
        #expect(try fixture.service.missingRevocations() == 0)

        for index in [0, 2, 3] {
            #expect(throws: RelyingPartyError.self) {
                try fixture.service.signIn(fixture.proof(keys[index], names[index]))
            }
            #expect(throws: RelyingPartyError.self) { try fixture.service.session(tokens[index]) }
        }
        _ = try fixture.service.session(tokens[1])
        _ = try fixture.service.signIn(fixture.proof(keys[1], "bob"))
        #expect(try fixture.service.export("ada").codeExpiry == nil, "it could bring the access back")
        #expect(try fixture.service.export("bob").codeExpiry != nil)
        #expect(try storage.read(Statements.administrators, []) == [])
        #expect(try storage.read("SELECT name FROM services", []) == [[.text("wiki")]])
        let rows = try storage.read("SELECT detail FROM audit WHERE event = 'restored'", [])
        #expect(rows == [[.text("1 revoked, 1 frozen, 1 deleted, 1 demoted, 1 services")]])
        try storage.reading { try fixture.service.applyRevocations(to: $0) }
        #expect(try fixture.count("audit") == fixture.service.verifyAudit().count, "nothing is applied twice")
        #expect(try storage.read("SELECT detail FROM audit WHERE event = 'restored'", []).count == 1)
    }

    @Test func moreUsersThanHaveLocksAtOnceAreApplied() throws {
        let list = MemoryList()
        let fixture = try Fixture(revocations: list)
        for index in 0..<300 { _ = try fixture.service.makeCode(for: "user\(index)") }
        let pseudonyms = try fixture.service.storage.read("SELECT pseudonym FROM users", [])
        try list.append(
            pseudonyms.map { row in
                guard case .text(let text) = row[0] else { throw StorageFailure("no text") }
                return .deleted(text)
            })
        try fixture.service.storage.reading { try fixture.service.applyRevocations(to: $0) }
        #expect(try fixture.count("users") == 0)
    }

    @Test func aListThatHasFewerEntriesThanBeforeIsRefused() throws {
        let list = MemoryList()
        let fixture = try Fixture(revocations: list)
        let key = try TestKey()
        try fixture.register(key)
        #expect(try fixture.service.compareWithRevocations() == 0)
        #expect(try fixture.service.revoke(.user, of: "ada") == 1)
        // The disk of the list was unmounted: there seems to be none.
        list.clear()
        #expect(throws: StorageFailure.self) {
            try fixture.service.storage.reading { try fixture.service.applyRevocations(to: $0) }
        }
        #expect(throws: RelyingPartyError.self) { try fixture.service.restore() }
    }

    @Test func aCredentialOfAServiceIsRemovedAgainByARestore() throws {
        let list = MemoryList()
        let fixture = try Fixture(revocations: list)
        let credential = [UInt8](repeating: 7, count: 32)
        _ = try fixture.service.storage.read(
            "INSERT INTO services (name, credential, rights, created) VALUES ('shop', $1, 0, 0)", [.blob(credential)])
        try list.append([.service(credential)])
        #expect(try fixture.service.compareWithRevocations() == 1)
        #expect(try fixture.service.restore().removedServices == 1)
        #expect(try fixture.service.compareWithRevocations() == 0)
        #expect(try fixture.count("services") == 0)
    }

    @Test func theCodesOfAnEndedServiceEndInADatabaseThatLacksItsEnd() throws {
        let list = MemoryList()
        let fixture = try Fixture(revocations: list)
        let secret = try fixture.service.addService("shop", [.check, .enroll])
        _ = try fixture.service.makeCode(for: "ada", by: ServiceCredential(name: "shop", secret: secret))
        _ = try fixture.service.makeCode(for: "bob")
        // What the standby lacks: the removal of the service, which only the list has.
        try list.append([.service(LibCrypto.sha256(secret))])
        try fixture.service.storage.reading { try fixture.service.applyRevocations(to: $0) }
        #expect(try fixture.count("services") == 0)
        #expect(try fixture.service.export("ada").codeExpiry == nil)
        #expect(try fixture.service.export("bob").codeExpiry != nil, "that of the operator stays")
    }

    // MARK: - When the database uses it

    /// Replaces the table `server`, as a dump that is restored does.
    private static func replace(_ conninfo: String) throws {
        _ = try PostgreSQLConnection(conninfo, node: "").run("TRUNCATE server", [])
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func aDatabaseThatTookAPlaceIsComparedOnceBeforeAnyConnectionUsesIt() throws {
        let conninfo = try Cluster.shared.get().schema()
        let database = try PostgreSQLDatabase(conninfo, node: "a", connections: 4)
        let compared = Mutex(0)
        let early = Mutex(0)
        let served = Mutex(0)
        let inside = DispatchSemaphore(value: 0)
        let proceed = DispatchSemaphore(value: 0)
        database.compareReplacements { connection in
            _ = try connection.run("SELECT 1", [])
            inside.signal()
            proceed.wait()
            compared.withLock { $0 += 1 }
        }
        // The database that is used when the function is set is not compared.
        _ = try database.transaction { try $0.run("SELECT 1", []) }
        #expect(compared.withLock { $0 } == 0)
        try Self.replace(conninfo)
        let storage = Storage(database)
        let done = DispatchGroup()
        func request(_ read: Bool) {
            done.enter()
            Thread.detachNewThread {
                let body = { (_: any SQLConnection) in
                    if compared.withLock({ $0 }) == 0 { early.withLock { $0 += 1 } }
                    served.withLock { $0 += 1 }
                }
                _ = try? read ? storage.reading(body) : storage.transaction(body)
                done.leave()
            }
        }
        request(false)
        inside.wait()
        // One compares now. The others find connections of their own.
        for index in 0..<6 { request(index.isMultiple(of: 2)) }
        let other = #expect(throws: StorageFailure.self) { try database.read { _ in } }
        #expect(other?.message.contains("not yet compared") == true)
        proceed.signal()
        done.wait()
        #expect(early.withLock { $0 } == 0)
        #expect(served.withLock { $0 } >= 1)
        try storage.transaction { _ in }
        #expect(compared.withLock { $0 } == 1)
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func aDatabaseThatCannotBeComparedIsNotUsed() throws {
        let conninfo = try Cluster.shared.get().schema()
        let database = try PostgreSQLDatabase(conninfo, node: "a", connections: 2)
        let fails = Mutex(true)
        database.compareReplacements { _ in
            if fails.withLock({ $0 }) { throw StorageFailure("The list cannot be read.") }
        }
        try Self.replace(conninfo)
        let storage = Storage(database)
        #expect(throws: StorageFailure.self) { try storage.transaction { _ in } }
        let failure = #expect(throws: StorageFailure.self) { try storage.reading { _ in } }
        #expect(failure?.message == "The list cannot be read.")
        fails.withLock { $0 = false }
        // The next attempt is made a second later at most.
        let deadline = ContinuousClock.now + .seconds(10)
        while (try? storage.reading { _ in }) == nil { try #require(ContinuousClock.now < deadline) }
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func whatIsAddedToTheListAfterTheComparisonIsComparedToo() throws {
        let conninfo = try Cluster.shared.get().schema()
        let database = try PostgreSQLDatabase(conninfo, node: "a", connections: 2)
        let compared = Mutex(0)
        database.compareReplacements { _ in compared.withLock { $0 += 1 } }
        database.recompare()
        let storage = Storage(database)
        try storage.transaction { _ in }
        #expect(compared.withLock { $0 } == 0, "nothing took a place")
        try Self.replace(conninfo)
        try storage.transaction { _ in }
        #expect(compared.withLock { $0 } == 1)
        // A request that had its effect in the database before writes its line now.
        database.recompare()
        try storage.reading { _ in }
        #expect(compared.withLock { $0 } == 2)
    }

    @Test(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
    func everyNodeComparesADatabaseThatAnotherNodeHasMetAlready() throws {
        let conninfo = try Cluster.shared.get().schema()
        let compared = Mutex<[String]>([])
        let nodes = try ["a", "b"].map { name in
            let database = try PostgreSQLDatabase(conninfo, node: name, connections: 1)
            database.compareReplacements { _ in compared.withLock { $0.append(name) } }
            return Storage(database)
        }
        try Self.replace(conninfo)
        try nodes[0].transaction { _ in }
        #expect(compared.withLock { $0 } == ["a"])
        try nodes[1].transaction { _ in }
        #expect(compared.withLock { $0 } == ["a", "b"])
    }
}
