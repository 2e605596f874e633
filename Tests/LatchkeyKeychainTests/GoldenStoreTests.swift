// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import TestSupport
import Testing

/// The committed store of version 1 must open as long as version 1 is supported.
///
/// To write the vectors again before the format is released, run
/// `LATCHKEY_WRITE_GOLDEN_STORE=1 swift test --filter GoldenStoreTests` and say in the commit why they changed.
@Suite struct GoldenStoreTests {
    private static let writes = ProcessInfo.processInfo.environment["LATCHKEY_WRITE_GOLDEN_STORE"] != nil

    @Test(.enabled(if: writes, "only to write the vectors again"))
    func writesTheGoldenStore() throws {
        let files = try GoldenStore.make().files()
        for name in GoldenFile.names { try GoldenFile(name: name).write(try #require(files[name])) }
    }

    @Test(.disabled(if: writes))
    func everyItemOfTheGoldenStoreIsReadable() throws {
        let store = try GoldenStore.committed()
        let keychain = try store.open()
        #expect(!keychain.isRolledBack)
        #expect(try !keychain.apply(GoldenStore.set), "the enrolled set is the same")
        #expect(try !keychain.unlock(SecretBytes("4321".utf8)))
        #expect(try keychain.unlock(GoldenStore.passcode))
        #expect(try keychain.itemCount() == Int64(GoldenStore.entries.count))
        for entry in GoldenStore.entries {
            let query = ItemQuery(itemClass: .genericPassword, attributes: entry.attributes, anySynchronizable: true)
            let found = try #require(
                try keychain.find(query, proof: GoldenStore.match, returns: [.attributes, .data]), "\(entry)")
            let item = try #require(
                found.first { entry.attributes.isEmpty ? $0.attributes?[.account] == .text("") : true })
            #expect(item.secret?.copyBytes() == entry.secret, "\(entry)")
            #expect(item.accessControl == entry.rule)
            for (code, value) in entry.attributes { #expect(item.attributes?[code] == value, "\(code)") }
        }
    }

    @Test(.disabled(if: writes))
    func countersAndDatesOfTheGoldenStoreAreReadable() throws {
        let store = try GoldenStore.committed()
        let keychain = try store.open(clock: BootClock(boot: "golden"))
        let stored = try #require(try keychain.storedCounters())
        #expect(stored.0 == GoldenStore.counters)
        #expect(stored.isOfThisBoot)
        let updated = try keychain.find(.account("every byte"), returns: .attributes)?.first?.attributes
        #expect(updated?[.comment] == .text("updated once"))
        #expect(updated?[.creationDate] == .date(1_767_225_600_000_000))
        #expect(updated?[.modificationDate] == .date(1_767_225_600_000_001))
    }

    @Test(.disabled(if: writes))
    func anotherSetInvalidatesBoundItemsOfTheGoldenStore() throws {
        let store = try GoldenStore.committed()
        let keychain = try store.open()
        #expect(try keychain.unlock(GoldenStore.passcode))
        #expect(try keychain.apply(EnrolmentSet([9])))
        #expect(status { _ = try keychain.secret("current set", proof: GoldenStore.match) } == .itemNotFound)
        #expect(try keychain.secret("user presence", proof: GoldenStore.match) == "present")
    }

    /// Covers every byte of envelopes, indexes, slots, header and chain: equal inputs give equal rows.
    @Test(.disabled(if: writes))
    func theSameInputsGiveTheSameBytes() throws {
        let (made, committed) = (try GoldenStore.make(), try GoldenStore.committed())
        #expect(try made.rows() == committed.rows())
        #expect(try made.files()["root.key"] == committed.files()["root.key"])
        for name in ["anchor", "counters"] { #expect(try made.files()[name] == committed.files()[name], "\(name)") }
        for name in ["header", "header.code", "slot.automatic", "state", "audit.end"] {
            let (one, other) = (try record(name, of: made), try record(name, of: committed))
            #expect(one != nil)
            #expect(one == other, "\(name)")
        }
        #expect(try lastEntry(of: made) == lastEntry(of: committed))
    }

    private func record(_ name: String, of store: StoreOnDisk) throws -> [UInt8]? {
        var value: [UInt8]?
        try store.edit { value = try $0.record(name) }
        return value
    }

    private func lastEntry(of store: StoreOnDisk) throws -> AuditEntry {
        var entry: AuditEntry?
        try store.edit { entry = try $0.lastAuditEntry() }
        return try #require(entry)
    }
}
