// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import TestSupport
import Testing

@testable import FuzzProperties
@testable import LatchkeyKeychain

/// Arbitrary bytes in the files of a store never stop the program, and damaged data is never accepted.
@Suite struct StoreFuzzTests {
    @Test func theCorpusOfTheFuzzerIsReadWithoutComplaint() throws {
        let files = try Repository.inputs("store")
        #expect(files.count > 20)
        for (name, edits) in files {
            let complaint = FuzzedStore.complaint(aboutEdits: edits)
            #expect(complaint == nil, "\(name)")
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func randomEditsAreReadWithoutComplaint(seed: UInt64) {
        var numbers = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let edits = (0..<numbers.next(below: 120)).map { _ in UInt8(numbers.next(below: 256)) }
            #expect(FuzzedStore.complaint(aboutEdits: edits) == nil, "\(edits)")
        }
    }

    // MARK: - The golden store

    private enum Column: CaseIterable, Sendable {
        case attributes, secret, primaryKey, id
    }

    /// Flips one bit, cuts off the end, doubles the bytes, or empties them.
    private static func mutate(_ bytes: [UInt8], _ numbers: inout SeededGenerator) -> [UInt8] {
        guard !bytes.isEmpty else { return [1] }
        switch numbers.next(below: 6) {
        case 0: return Array(bytes.dropLast(1 + numbers.next(below: bytes.count)))
        case 1: return bytes + bytes
        case 2: return Array(bytes.reversed())
        default:
            var changed = bytes
            changed[numbers.next(below: bytes.count)] ^= UInt8(1 << numbers.next(below: 8))
            return changed
        }
    }

    private static func all(_ keychain: Keychain) throws -> [FoundItem] {
        let query = ItemQuery(itemClass: .genericPassword, anySynchronizable: true)
        return try keychain.find(query, proof: GoldenStore.match, returns: [.attributes, .data]) ?? []
    }

    @Test(arguments: Column.allCases, 0..<6 as Range<UInt64>)
    private func aDamagedRowOfTheGoldenStoreIsQuarantinedAndTheOthersAreRead_KC17_abuse33(
        column: Column, seed: UInt64
    ) throws {
        let store = try GoldenStore.committed()
        let before: [FoundItem]
        do {
            let keychain = try store.open()
            #expect(try keychain.unlock(GoldenStore.passcode))
            before = try Self.all(keychain)
        }
        var numbers = SeededGenerator(seed: seed &* 7919 &+ 1)
        let whole = try store.rows()
        var rows = whole
        // Damages every second row, so that others remain.
        let damaged = rows.indices.filter { $0 % 2 == Int(seed) % 2 }
        for index in damaged {
            switch column {
            case .attributes: rows[index].attributes = Self.mutate(rows[index].attributes, &numbers)
            case .secret: rows[index].secret = Self.mutate(rows[index].secret ?? [], &numbers)
            case .primaryKey: rows[index].primaryKey = Self.mutate(rows[index].primaryKey, &numbers)
            case .id: rows[index].id = Self.mutate(rows[index].id, &numbers)
            }
        }
        let changed = damaged.filter { rows[$0] != whole[$0] }
        try store.edit { editor in for index in changed { try editor.replace(rows[index]) } }
        let keychain = try store.open()
        #expect(try keychain.unlock(GoldenStore.passcode))
        let found = try Self.all(keychain)
        #expect(found == before.indices.filter { !changed.contains($0) }.map { before[$0] })
        try keychain.quarantineDamaged()
        #expect(try keychain.quarantineCount() == Int64(changed.count))
        #expect(try keychain.itemCount() == Int64(whole.count - changed.count))
        #expect(try Self.all(keychain) == found)
    }

    @Test func changedRecordsOfTheGoldenStoreAreRefusedAndNeverReplaced() throws {
        let names = ["header", "header.code", "slot.automatic", "state", "audit.end"]
        var numbers = SeededGenerator(seed: 1)
        for name in names {
            for _ in 0..<6 {
                let store = try GoldenStore.committed()
                var changed: [UInt8] = []
                try store.edit { editor in
                    let old = try editor.record(name) ?? []
                    repeat { changed = Self.mutate(old, &numbers) } while changed == old
                    try editor.setRecord(name, changed)
                }
                let refusal = status {
                    let keychain = try store.open()
                    _ = try keychain.storedCounters()
                    _ = try keychain.unlock(GoldenStore.passcode)
                    guard try keychain.findings().isEmpty else { throw Failure.damagedStore("a finding") }
                }
                #expect(
                    [
                        .storeUnreadable, .storeNewer, .storeOlder, .storeRolledBack, .storeOfAnotherUser,
                        .storeOfAnotherTier,
                    ].contains(refusal))
                var kept: [UInt8]?
                try store.edit { kept = try $0.record(name) }
                #expect(kept == changed, "\(name)")
            }
        }
    }

    // MARK: - Extreme numbers

    @Test func aLogAtTheLargestNumberRefusesWritesAndStaysReadable() throws {
        let store = try StoreOnDisk()
        do { try store.open().add("one") }
        try store.execute("UPDATE audit SET sequence = \(Int64.max)")
        let keychain = try store.open()
        #expect(try keychain.secret("one") == "secret")
        #expect(status { try keychain.add("two") } == .storeUnreadable)
        #expect(try !keychain.findings().isEmpty)
        #expect(try keychain.log(Request.Log(after: .max, limit: 10, verifies: true)).lines.isEmpty)
    }

    @Test func extremePositionsAreReadAndListedInPages() throws {
        let store = try StoreOnDisk()
        do {
            let keychain = try store.open()
            for account in ["one", "two", "three"] { try keychain.add(account) }
        }
        try store.execute(
            """
            UPDATE item SET position = -5 WHERE position = 1;
            UPDATE item SET position = \(Int64.max) WHERE position = 2;
            """)
        let keychain = try store.open()
        #expect(try keychain.find(ItemQuery(itemClass: .genericPassword))?.count == 3)
        _ = try keychain.findings()
        try keychain.add("four")
        #expect(try keychain.secret("four") == "secret")
    }
}
