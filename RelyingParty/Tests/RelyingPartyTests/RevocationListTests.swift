// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import RelyingPartySQLite
import ServerTestSupport
import Synchronization
import Testing

@testable import RelyingParty

/// What the list of revocations does to keys that the database does not have, and to those that another node unfroze.
struct RevocationListTests {
    private static let exists = RelyingPartyError.refused(.keyExists)

    @Test(arguments: Backend.all) func aKeyOfADeletedUserIsNeverRegisteredAgain(_ backend: Backend) throws {
        let (fixture, active, revoked) = (try Fixture(backend), try TestKey(), try TestKey())
        try fixture.register(active)
        try fixture.register(revoked)
        #expect(try fixture.service.revoke(.key(revoked.publicKey.identifier), of: "ada") == 1)
        #expect(try fixture.service.delete("ada") == 2)
        for key in [active, revoked] {
            for user in ["ada", "eve"] {
                #expect(throws: Self.exists) { try fixture.register(key, user) }
            }
        }
    }

    @Test func aKeyThatWasRevokedOrFrozenAfterTheBackupIsNeverRegistered() throws {
        let (revoked, frozen, list) = (try TestKey(), try TestKey(), MemoryList())
        // The backup is from before both keys were registered: the database has neither.
        let fixture = try Fixture(revocations: list)
        try list.append([.revoked(revoked.publicKey.identifier), .frozen(frozen.publicKey.identifier, 5)])
        #expect(try fixture.service.compareWithRevocations() == 0)
        for key in [revoked, frozen] {
            #expect(throws: Self.exists) { try fixture.register(key) }
        }
    }

    @Test func aFreezingThatAnotherNodeLiftedIsNotMissingInTheDatabase() throws {
        let (key, lists) = (try TestKey(), [MemoryList(), MemoryList()])
        let storage = Storage(try SQLiteDatabase(":memory:"))
        let nodes = try lists.map { try Fixture(storage, revocations: $0) }
        let id = try key.publicKey.identifier
        try nodes[0].register(key)
        _ = try nodes[0].service.signIn(nodes[0].proof(key, counter: 5))
        #expect(throws: RelyingPartyError.self) { try nodes[0].service.signIn(nodes[0].proof(key, counter: 5)) }
        #expect(try lists[0].entries() == [.frozen(id, nodes[0].now)])
        // An earlier copy, in which the key is active, would be noticed.
        #expect(try nodes[1].service.unfreeze(id, of: "ada"))
        #expect(try lists[1].entries() == [.unfrozen(id)])
        #expect(try nodes[0].service.compareWithRevocations() == 0)
        #expect(try nodes[0].service.restore().frozenKeys == 0)
        // Frozen again later: the first list knows, and the lifting of before does not count.
        nodes[0].advance(1)
        _ = try nodes[0].service.signIn(nodes[0].proof(key, counter: 6))
        #expect(throws: RelyingPartyError.self) { try nodes[0].service.signIn(nodes[0].proof(key, counter: 6)) }
        _ = try storage.read("UPDATE keys SET frozen = NULL", [])
        #expect(try nodes[0].service.compareWithRevocations() == 1)
        #expect(try nodes[0].service.restore().frozenKeys == 1)
    }

    @Test(arguments: Backend.all)
    func anAdministratorWhoWasRemovedAfterTheBackupIsNoticedAndRemovedAgain(_ backend: Backend) throws {
        let (fixture, list) = (try Fixture(backend), MemoryList())
        _ = try fixture.service.addAdministrator("ada")
        _ = try fixture.service.addAdministrator("bob")
        let pseudonym = try #require(try fixture.service.export("ada").pseudonym)
        // The backup is from before the removal, which the list of the lost server has.
        fixture.advance(1)
        try list.append([.demoted(pseudonym, fixture.now)])
        let restored = try Fixture(fixture.service.storage, revocations: list)
        #expect(try restored.service.compareWithRevocations() == 1)
        #expect(try restored.service.restore().removedAdministrators == 1)
        #expect(try restored.service.compareWithRevocations() == 0)
        #expect(try restored.service.restore().removedAdministrators == 0)
        #expect(try fixture.service.removeAdministrator("ada") == false)
        #expect(try fixture.service.removeAdministrator("bob"))
    }

    @Test func anAdministratorWhoWasAddedAgainOnAnotherNodeIsNotMissingInTheDatabase() throws {
        let lists = [MemoryList(), MemoryList()]
        let storage = Storage(try SQLiteDatabase(":memory:"))
        let nodes = try lists.map { try Fixture(storage, revocations: $0) }
        _ = try nodes[0].service.addAdministrator("ada")
        #expect(try nodes[0].service.removeAdministrator("ada"))
        nodes[1].advance(1)
        _ = try nodes[1].service.addAdministrator("ada")
        #expect(try nodes[0].service.compareWithRevocations() == 0)
        // Removed again: the first list does not have it, and says nothing about an administrator who is none.
        #expect(try nodes[1].service.removeAdministrator("ada"))
        #expect(try lists[0].entries().count == 1 && lists[1].entries().count == 1)
        #expect(try nodes[0].service.compareWithRevocations() == 0)
    }

    @Test func aRemovalAndANewAdditionInOneSecondIsNotMissingInTheDatabase() throws {
        let (storage, list) = (Storage(try SQLiteDatabase(":memory:")), MemoryList())
        let fixture = try Fixture(storage, revocations: list)
        _ = try fixture.service.addAdministrator("ada")
        #expect(try fixture.service.removeAdministrator("ada"))
        // Another node adds the user, whose list has nothing of it.
        _ = try Fixture(storage, revocations: MemoryList()).service.addAdministrator("ada")
        #expect(try fixture.service.compareWithRevocations() == 0)
        #expect(try fixture.service.restore().removedAdministrators == 0)
    }

    @Test func aRemovalThatIsRepeatedIsInTheList() throws {
        let (storage, list) = (Storage(try SQLiteDatabase(":memory:")), MemoryList())
        let fixture = try Fixture(storage, revocations: list)
        _ = try fixture.service.addAdministrator("ada")
        // The process that removed the user was killed before it wrote its line.
        let killed = try Fixture(storage)
        #expect(try killed.service.removeAdministrator("ada"))
        #expect(try list.entries().isEmpty)
        let removed = killed.now
        fixture.advance(5)
        #expect(try fixture.service.removeAdministrator("ada"), "the line was missing")
        let pseudonym = try #require(try fixture.service.export("ada").pseudonym)
        #expect(try list.entries() == [.demoted(pseudonym, removed)])
        #expect(try fixture.service.compareWithRevocations() == 0)
        #expect(try fixture.service.removeAdministrator("ada") == false, "the list has the line")
        #expect(try fixture.service.removeAdministrator("eve") == false, "no user has this name")
        #expect(try list.entries().count == 1)
    }

    @Test(arguments: Backend.all)
    func theRemovalOfAUserWhoWasNoAdministratorIsNotInTheList(_ backend: Backend) throws {
        let list = MemoryList()
        let fixture = try Fixture(Fixture(backend).service.storage, revocations: list)
        _ = try fixture.service.makeCode(for: "ada")
        #expect(try fixture.service.removeAdministrator("ada") == false)
        #expect(try list.entries().isEmpty)
        // In the same second the user becomes an administrator, whom a restart must not remove.
        _ = try fixture.service.addAdministrator("ada")
        #expect(try fixture.service.compareWithRevocations() == 0)
        #expect(try fixture.service.restore().removedAdministrators == 0)
        #expect(try fixture.service.removeAdministrator("ada"))
    }

    @Test(arguments: [
        "demoted", "demoted \(id) 1", "demoted AAAAAAAAAAAAAAAAAAAAAA", "demoted AAAAAAAAAAAAAAAAAAAAAA -1",
        "frozen", "revoked x", "frozen \(id)", "frozen \(id) -1", "frozen \(id) 1 1", "revoked \(id) 1", "thawed \(id)",
        "service", "service AAAA", "service \(id) 1",
    ])
    func anotherLineIsNoEntry(_ line: String) {
        #expect(RevocationEntry(line: line) == nil)
    }

    @Test func aLineIsReadAsItWasWritten() {
        let id = [UInt8](repeating: 9, count: 32)
        for entry: RevocationEntry in [
            .revoked(id), .frozen(id, 1_800_000_000), .unfrozen(id), .deleted("AAAAAAAAAAAAAAAAAAAAAA"),
            .demoted("AAAAAAAAAAAAAAAAAAAAAA", 7), .service(id),
        ] {
            #expect(RevocationEntry(line: entry.line) == entry)
        }
    }

    private static let id = StrictBase64.url.encode([UInt8](repeating: 9, count: 32))
}

/// A list in memory.
final class MemoryList: RevocationList {
    private let held = Mutex<[RevocationEntry]>([])

    func append(_ entries: [RevocationEntry]) throws(StorageFailure) { held.withLock { $0 += entries } }
    func entries() throws(StorageFailure) -> [RevocationEntry] { held.withLock(\.self) }
    func clear() { held.withLock { $0 = [] } }
}
