// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LatchkeyModel
import LatchkeySeams
import TestSupport
import Testing

/// The contract of `ItemStore`, which every driver must fulfil: snapshots, transactions, order and filters.
@Suite struct ItemStoreContract {
    private func row(_ number: UInt8, group: UInt8 = 0, indexes: [[UInt8]?] = [nil, nil, nil]) -> StoredRow {
        StoredRow(
            id: [number], itemClass: .genericPassword, primaryKey: [number], group: [group], indexes: indexes,
            version: 1, attributes: [number, 1], secret: [number, 2])
    }

    private func ids(_ store: any ItemReading, _ filter: RowFilter) throws(Failure) -> [UInt8] {
        var ids: [UInt8] = []
        try store.forEachRow(filter) { (row) throws(Failure) in
            ids += row.id
            return true
        }
        return ids
    }

    @Test(arguments: Driver.all)
    func aRowIsReadAsItWasWritten(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        var rows = [row(1), row(2, indexes: [[7], nil, []])]
        rows[0].secret = nil
        rows[1].secret = []
        rows[1].version = .max
        for row in rows { try store.write { (store) throws(Failure) in try store.insert(row) } }
        var found: [StoredRow] = []
        try store.read { (store) throws(Failure) in
            try store.forEachRow(.all) { (row) throws(Failure) in
                found.append(row)
                return true
            }
        }
        for (offset, row) in rows.enumerated() {
            var expected = row
            expected.position = Int64(offset + 1)
            #expect(found[offset] == expected)
        }
    }

    @Test(arguments: Driver.all)
    func aRowIsFoundByEachOfItsPairsUntilTheyAreReplacedOrTheRowIsDeleted(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        func secret(_ number: UInt8, _ pairs: [[UInt8]]) -> StoredRow {
            var row = row(number)
            (row.itemClass, row.pairs) = (.secret, pairs)
            return row
        }
        func found(_ pair: UInt8) throws(Failure) -> [UInt8] {
            try store.read { (store) throws(Failure) in try ids(store, .pair([pair])) }
        }
        func count(_ pair: UInt8, limit: Int) throws(Failure) -> Int {
            try store.read { (store) throws(Failure) in try store.pairCount([pair], limit: limit) }
        }
        func pairs(at position: Int64) throws(Failure) -> [[UInt8]] {
            try store.read { (store) throws(Failure) in try store.pairs(at: position) }
        }
        #expect(try found(1) == [] && count(1, limit: 9) == 0 && pairs(at: 1) == [])
        try store.write { (store) throws(Failure) in
            try store.insert(secret(1, [[1], [2], [2]]))
            try store.insert(row(2))
            try store.insert(secret(3, [[2]]))
        }
        #expect(try found(1) == [1] && found(2) == [1, 3])
        #expect(try count(2, limit: 9) == 2 && count(2, limit: 1) == 1)
        #expect(try pairs(at: 1) == [[1], [2]] && pairs(at: 2) == [])
        try store.write { (store) throws(Failure) in
            var changed = secret(1, [[3]])
            changed.position = 1
            try store.replace(changed)
            try store.quarantine(position: 3, entry: 1)
        }
        #expect(try found(1) == [] && found(2) == [] && found(3) == [1])
        try store.write { (store) throws(Failure) in
            var back = secret(3, [[2]])
            back.position = 3
            try store.restore(back, from: 1)
            try store.delete(position: 1)
        }
        #expect(try found(3) == [] && found(2) == [3])
    }

    @Test(arguments: Driver.all)
    func usageCountsRowsOfTheOpenTransactionAndNoFreePages(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        var large = row(1)
        large.secret = [UInt8](repeating: 7, count: 100_000)
        let before = try store.read { (store) throws(Failure) in try store.usage() }
        let during = try store.write { (store) throws(Failure) in
            try store.insert(large)
            return try store.usage()
        }
        #expect(during.databaseBytes >= before.databaseBytes + 90_000)
        #expect(try store.read { (store) throws(Failure) in try store.usage() }.databaseBytes == during.databaseBytes)
        try store.write { (store) throws(Failure) in try store.delete(position: 1) }
        let after = try store.read { (store) throws(Failure) in try store.usage() }
        #expect(after.databaseBytes < before.databaseBytes + 10_000)
        #expect((after.disk == nil) == (made.folder == nil))
        #expect((after.logBytes > 0) == (made.folder != nil))
        #expect(try store.mergeLog())
        #expect(try store.read { (store) throws(Failure) in try store.usage() }.logBytes == 0)
    }

    @Test(arguments: Driver.all)
    func filtersFindTheirRowsInInsertionOrder(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        try store.write { (store) throws(Failure) in
            for number: UInt8 in [9, 3, 7, 1, 5] {
                try store.insert(row(number, group: number % 2, indexes: [[number / 4], [1], nil]))
            }
        }
        try store.read { (store) throws(Failure) in
            #expect(try ids(store, .all) == [9, 3, 7, 1, 5])
            #expect(try ids(store, .group([1])) == [9, 3, 7, 1, 5])
            #expect(try ids(store, .group([0])) == [])
            #expect(try ids(store, .primaryKey([7])) == [7])
            #expect(try ids(store, .id([3])) == [3])
            #expect(try ids(store, .indexed(number: 0, [1])) == [7, 5])
            #expect(try ids(store, .indexed(number: 1, [1])) == [9, 3, 7, 1, 5])
            #expect(try ids(store, .indexed(number: 2, [1])) == [])
        }
    }

    @Test(arguments: Driver.all)
    func aRowInsertedAfterADeletionComesLast(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        try store.write { (store) throws(Failure) in
            try store.insert(row(1))
            try store.insert(row(2))
            try store.delete(position: 2)
            try store.insert(row(3))
            try store.delete(position: 1)
            try store.insert(row(4))
        }
        try store.read { (store) throws(Failure) in #expect(try ids(store, .all) == [3, 4]) }
    }

    @Test(arguments: Driver.all)
    func concurrentWritesRunOneAfterTheOther(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        let failures = Recorder<Failure>()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            do throws(Failure) {
                for _ in 0..<25 {
                    // Two transactions at once would read the same number.
                    try store.write { (store) throws(Failure) in
                        let count = try store.record("count")?.first ?? 0
                        try store.setRecord("count", [count + 1])
                    }
                }
            } catch {
                failures.add(error)
            }
        }
        #expect(failures.all == [])
        #expect(try store.read { (store) throws(Failure) in try store.record("count") } == [200])
    }

    @Test(arguments: Driver.all)
    func aFailedTransactionIsRolledBack(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        try store.write { (store) throws(Failure) in try store.insert(row(1)) }
        let failure = status {
            try store.write { (store) throws(Failure) in
                try store.setRecord("name", [1])
                try store.insert(row(2))
                try store.delete(position: 1)
                throw Failure(.duplicateItem)
            }
        }
        #expect(failure == .duplicateItem)
        try store.read { (store) throws(Failure) in
            #expect(try ids(store, .all) == [1])
            #expect(try store.record("name") == nil)
            #expect(try store.itemCount() == 1)
        }
    }

    @Test(arguments: Driver.all)
    func aSecondRowWithTheSamePrimaryKeyOrIdIsRefused(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        try store.write { (store) throws(Failure) in try store.insert(row(1)) }
        var twin = row(1)
        twin.id = [2]
        #expect(status { try store.write { (store) throws(Failure) in try store.insert(twin) } } != nil)
        twin = row(2)
        twin.id = [1]
        #expect(status { try store.write { (store) throws(Failure) in try store.insert(twin) } } != nil)
        #expect(try store.read { (store) throws(Failure) in try store.itemCount() } == 1)
    }

    @Test(arguments: Driver.all)
    func recordsAreReplacedAndRemoved(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        for value: [UInt8]? in [[1], [], [2, 3], nil, nil] {
            try store.write { (store) throws(Failure) in try store.setRecord("name", value) }
            #expect(try store.read { (store) throws(Failure) in try store.record("name") } == value)
        }
    }

    /// A search reads twice, first for the missing proofs and then for the items; no write may come between.
    @Test(arguments: Driver.all.filter(\.readsDuringWrites))
    func aReadSeesOneSnapshotDuringWrites(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        try store.write { (store) throws(Failure) in try store.insert(row(1)) }
        try store.read { (view) throws(Failure) in
            #expect(try view.itemCount() == 1)
            try store.write { (store) throws(Failure) in try store.insert(row(2)) }
            #expect(try view.itemCount() == 1)
            #expect(try ids(view, .all) == [1])
        }
        #expect(try store.read { (store) throws(Failure) in try store.itemCount() } == 2)
    }

    @Test(arguments: Driver.all)
    func aReadMayStopAtAnyRow(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        try store.write { (store) throws(Failure) in for number: UInt8 in 1...5 { try store.insert(row(number)) } }
        for stop in 1...5 {
            var seen = 0
            try store.read { (store) throws(Failure) in
                try store.forEachRow(.all) { (_) throws(Failure) in
                    seen += 1
                    return seen < stop
                }
            }
            #expect(seen == stop)
        }
    }

    @Test(arguments: Driver.all)
    func writesSurviveReopening(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        try made.store.write { (store) throws(Failure) in
            try store.insert(row(1))
            try store.setRecord("name", [1])
        }
        let store = try made.reopen()
        try store.read { (store) throws(Failure) in
            #expect(try ids(store, .all) == [1])
            #expect(try store.record("name") == [1])
        }
    }

    /// A row of the quarantine is not an item, and returns unchanged.
    @Test(arguments: Driver.all)
    func aQuarantinedRowIsKeptApartAndRestoredUnchanged(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        let store = made.store
        try store.write { (store) throws(Failure) in
            try store.insert(row(1))
            try store.insert(row(2))
            try store.quarantine(position: 1, entry: 7)
        }
        var kept: [QuarantinedRow] = []
        try store.read { (store) throws(Failure) in
            #expect(try ids(store, .all) == [2])
            #expect(try store.quarantineCount() == 1)
            try store.forEachQuarantined { (row) throws(Failure) in
                kept.append(row)
                return true
            }
        }
        #expect(kept.map(\.entry) == [7])
        try store.write { (store) throws(Failure) in
            for quarantined in kept { try store.restore(quarantined.row, from: quarantined.number) }
        }
        try store.read { (store) throws(Failure) in
            #expect(try ids(store, .all) == [1, 2])
            #expect(try store.quarantineCount() == 0)
        }
    }

    @Test(arguments: Driver.all)
    func aNewStoreHasNoProblems(driver: Driver) throws {
        let made = try driver.make()
        defer { withExtendedLifetime(made) {} }
        #expect(try made.store.problems() == [])
    }
}
