// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import TestSupport
import Testing

@testable import SQLiteDriver

/// The reading connection uses one snapshot until a write makes it stale.
@Suite struct StoreGrowthTests {
    private func value(_ store: any ItemStore) throws -> [UInt8]? {
        try store.read { (store) throws(Failure) in try store.record("name") }
    }

    private func set(_ value: [UInt8], in store: any ItemStore) throws {
        try store.write { (store) throws(Failure) in try store.setRecord("name", value) }
    }

    @Test func everyReadShowsTheWritesBeforeIt() throws {
        let folder = try TemporaryFolder()
        _ = try SQLiteItemStore.create(at: folder.path + "/items")
        let store = try SQLiteItemStore.open(folder.path + "/items")
        for number: UInt8 in 0..<50 {
            try set([number], in: store)
            #expect(try value(store) == [number])
            #expect(
                status { try store.read { (_) throws(Failure) in throw Failure(.itemNotFound, "") } } == .itemNotFound)
            #expect(try value(store) == [number], "a failed read changes nothing")
        }
    }

    @Test func aReadInProgressKeepsItsSnapshotDuringWrites() throws {
        let folder = try TemporaryFolder()
        _ = try SQLiteItemStore.create(at: folder.path + "/items")
        let store = try SQLiteItemStore.open(folder.path + "/items")
        try set([1], in: store)
        try store.read { (view) throws(Failure) in
            #expect(try view.record("name") == [1])
            try store.write { (store) throws(Failure) in try store.setRecord("name", [2]) }
            #expect(try view.record("name") == [1])
        }
        #expect(try value(store) == [2])
    }

    /// A read transaction that stayed open would keep the log from being merged, so that it grows with every write.
    @Test func theLogIsMergedBetweenReads() throws {
        let folder = try TemporaryFolder()
        _ = try SQLiteItemStore.create(at: folder.path + "/items")
        let store = try SQLiteItemStore.open(folder.path + "/items")
        for number in 0..<4000 {
            try set([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1500), in: store)
            _ = try value(store)
        }
        let log = try FileManager.default.attributesOfItem(atPath: folder.path + "/items-wal")[.size] as? Int
        #expect(try #require(log) < 4 << 20, "4,000 commits wrote at least 2 KiB each")
    }

    @Test func releasedMemoryIsThatOfTheCachesAndReadsAndWritesGoOn() throws {
        let folder = try TemporaryFolder()
        _ = try SQLiteItemStore.create(at: folder.path + "/items")
        let store = try SQLiteItemStore.open(folder.path + "/items")
        for number in 0..<300 {
            try store.write { (store) throws(Failure) in
                try store.setRecord("\(number)", [UInt8](repeating: 7, count: 1500))
            }
        }
        for number in 0..<300 {
            _ = try store.read { (store) throws(Failure) in try store.record("\(number)") }
        }
        let before = store.cachedBytes
        store.releaseMemory()
        #expect(before > 500_000 && store.cachedBytes < 50_000, "\(before), then \(store.cachedBytes)")
        try set([1], in: store)
        #expect(try value(store) == [1])
        store.releaseMemory()
        #expect(try value(store) == [1])
        try set([2], in: store)
        #expect(try value(store) == [2])
    }
}
