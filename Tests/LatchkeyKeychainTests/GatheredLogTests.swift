// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SQLiteDriver
import TestSupport
import Testing

/// Buffered log writes reach the file while no other connection may write, and before any connection reads them.
@Suite struct GatheredLogTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/items" }

    init() throws {
        folder = try TemporaryFolder()
        _ = try SQLiteItemStore.create(at: path)
    }

    private func row(_ number: UInt8, _ count: Int = 100) -> StoredRow {
        StoredRow(
            id: [number], itemClass: .genericPassword, primaryKey: [number], group: [0], indexes: [nil, nil, nil],
            version: 1, attributes: [number], secret: Array(repeating: number, count: count))
    }

    private func rows(_ store: SQLiteItemStore) throws(Failure) -> [StoredRow] {
        var rows: [StoredRow] = []
        try store.read { (store) throws(Failure) in
            try store.forEachRow(.all) { (row) throws(Failure) in
                rows.append(row)
                return true
            }
        }
        return rows
    }

    @Test func aRolledBackTransactionNeverOverwritesAnotherProgramsCommit() throws {
        let store = try SQLiteItemStore.open(path)
        let other = try SQLiteItemStore.open(path)
        #expect(throws: Failure.self) {
            try store.write { (store) throws(Failure) in
                // More than SQLite's page cache: the first pages are written to the log before the commit.
                for number: UInt8 in 1...3 { try store.insert(row(number, 1 << 20)) }
                throw Failure(.cancelled, "Rolled back.")
            }
        }
        // This read transaction keeps the log from being merged.
        #expect(try rows(store).isEmpty)
        try other.write { (store) throws(Failure) in
            for number: UInt8 in 11...14 { try store.insert(row(number, 1 << 20)) }
        }
        try store.write { (store) throws(Failure) in try store.insert(row(15)) }
        let expected = (11...14).map { row($0, 1 << 20).secret } + [row(15).secret]
        for reader in [store, other] {
            // Compared outside the macro, which would print megabytes.
            let isWhole = try rows(reader).map(\.secret) == expected
            #expect(isWhole)
        }
        #expect(try other.problems() == [])
    }

    @Test func aCommitIsCompleteWithoutPowersafeOverwrite() throws {
        let plan = FaultPlan()
        plan.isPowersafe = false
        FaultyFiles.plan(plan, for: folder.path)
        defer { FaultyFiles.plan(nil, for: folder.path) }
        let store = try SQLiteItemStore.open(path)
        for number: UInt8 in 1...40 {
            try store.write { (store) throws(Failure) in try store.insert(row(number, 300)) }
            let found = try rows(store)
            #expect(found.map(\.secret) == (1...number).map { row($0, 300).secret })
        }
        #expect(try store.problems() == [])
    }
}
