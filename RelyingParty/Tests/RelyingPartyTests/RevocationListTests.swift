// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import RelyingPartySQLite
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

    @Test(arguments: [
        "frozen", "revoked x", "frozen \(id)", "frozen \(id) -1", "frozen \(id) 1 1", "revoked \(id) 1", "thawed \(id)",
    ])
    func anotherLineIsNoEntry(_ line: String) {
        #expect(RevocationEntry(line: line) == nil)
    }

    @Test func aLineIsReadAsItWasWritten() {
        let id = [UInt8](repeating: 9, count: 32)
        for entry: RevocationEntry in [.revoked(id), .frozen(id, 1_800_000_000), .unfrozen(id)] {
            #expect(RevocationEntry(line: entry.line) == entry)
        }
    }

    private static let id = StrictBase64.url.encode([UInt8](repeating: 9, count: 32))
}

/// A list in memory.
private final class MemoryList: RevocationList {
    private let held = Mutex<[RevocationEntry]>([])

    func append(_ entries: [RevocationEntry]) throws(StorageFailure) { held.withLock { $0 += entries } }
    func entries() throws(StorageFailure) -> [RevocationEntry] { held.withLock(\.self) }
}
