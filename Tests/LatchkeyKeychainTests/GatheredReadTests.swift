// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Synchronization
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// A read of an item that nothing protects does not wait for the disk, and is in the audit log nevertheless.
@Suite struct GatheredReadTests {
    private let clock = BootClock(boot: "monday", uptimeSeconds: 1000)

    private func add(_ name: String, to keychain: Keychain) throws {
        let attributes: Attributes = [.account: .text(name), .service: .text("service")]
        _ = try keychain.add(
            Request.AddItem(attributes: attributes, secret: SecretBytes([1])), caller: StoreOnDisk.caller)
    }

    private func read(_ keychain: Keychain, _ returns: Returns = .data, _ caller: Caller = StoreOnDisk.caller) throws {
        var cursor = SearchCursor()
        let request = Request.CopyItems(limit: .all, returns: returns)
        _ = try keychain.search(request, caller: caller, proof: .none, from: &cursor) { _ in
        } emit: {
            _ in
        }
    }

    private func reads(_ keychain: Keychain) throws -> [AuditLine] {
        try keychain.log(Request.Log(after: 0, limit: 1024, verifies: false)).lines.filter { $0.event == .used }
    }

    @Test(.promise("audit.reads")) func readsWithoutAProtectionAreOneEntryWithACount() throws {
        let keychain = try Keychain.inMemory(clock)
        try add("a", to: keychain)
        for _ in 0..<1000 { try read(keychain) }
        #expect(try reads(keychain).isEmpty)
        try keychain.recordReads()
        try keychain.recordReads()
        let entries = try reads(keychain)
        #expect(entries.map(\.count) == [1000] && entries[0].item.count == 16)
        #expect(entries[0].caller == StoreOnDisk.caller.label)
    }

    @Test func anEntryNamesAProcessOnlyIfAllItsReadsAreOfThatOne() throws {
        let keychain = try Keychain.inMemory(clock)
        try add("a", to: keychain)
        var other = StoreOnDisk.caller
        other.processID += 1
        for _ in 0..<2 { try read(keychain) }
        try keychain.recordReads()
        for caller in [StoreOnDisk.caller, other, other] { try read(keychain, .data, caller) }
        try keychain.recordReads()
        let entries = try reads(keychain)
        #expect(entries.map(\.processID) == [StoreOnDisk.caller.processID, 0] && entries.map(\.count) == [2, 3])
    }

    @Test func aSearchThatReturnsNoSecretIsNoRead() throws {
        let keychain = try Keychain.inMemory(clock)
        try add("a", to: keychain)
        try read(keychain, .attributes)
        #expect(!keychain.hasUnrecordedReads)
    }

    @Test func theyAreDueOnceIn10Minutes() throws {
        let keychain = try Keychain.inMemory(clock)
        try add("a", to: keychain)
        clock.advance(seconds: 601)
        #expect(!keychain.isRecordingReadsDue, "nothing was read")
        try read(keychain)
        #expect(keychain.isRecordingReadsDue && !keychain.isRecordingReadsDue)
        clock.advance(seconds: 599)
        #expect(!keychain.isRecordingReadsDue)
        clock.advance(seconds: 1)
        #expect(keychain.isRecordingReadsDue)
    }

    @Test func manyItemsAndCallersShareEntriesAndNoneIsLost() throws {
        let keychain = try Keychain.inMemory(clock)
        for number in 0..<100 { try add("\(number)", to: keychain) }
        for number in 0..<200 {
            var caller = StoreOnDisk.caller
            caller.label = "app \(number)"
            try read(keychain, .data, caller)
        }
        try keychain.recordReads()
        let entries = try reads(keychain)
        #expect(entries.count <= 129 && entries.reduce(0) { $0 + $1.count } == 20_000)
    }

    /// Each question to the kernel about a process costs more than the rest of a read.
    @Test func readsOfManyItemsAskOnceForEachEntryWhoTheCallerIs() throws {
        final class Asked: CallerProcess {
            let times = Atomic(0)
            var isUnchanged: Bool {
                times.add(1, ordering: .relaxed)
                return true
            }
        }
        let process = Asked()
        let caller = Caller(groups: ["app"], label: "app", processID: 7, userID: 1000, process: process)
        let reads = GatheredReads(now: 0)
        for _ in 0..<10 { for number in 0..<200 { reads.count([UInt8(number)], of: caller, at: 0) } }
        reads.take { entries in
            #expect(entries.reduce(0) { $0 + $1.count } == 2000)
            #expect(process.times.load(ordering: .relaxed) == entries.count)
        }
    }

    @Test func whatCouldNotBeWrittenIsCountedFurther() throws {
        let reads = GatheredReads(now: 0)
        reads.count([1], of: StoreOnDisk.caller, at: 7)
        #expect(throws: Failure(.diskFull)) {
            try reads.take { (_) throws(Failure) in
                reads.count([1], of: StoreOnDisk.caller, at: 9)
                throw Failure(.diskFull)
            }
        }
        #expect(!reads.isEmpty)
        reads.take { entries in #expect(entries.map(\.count) == [2] && entries.map(\.time) == [9]) }
        #expect(reads.isEmpty)
    }

    /// Of two requests for the log at once, the second one waits for what the first one writes.
    @Test func readsAreUnrecordedUntilTheyAreCommitted() throws {
        let reads = GatheredReads(now: 0)
        reads.count([1], of: StoreOnDisk.caller, at: 0)
        reads.take { _ in
            #expect(!reads.isEmpty, "they are being written")
            reads.take { _ in Issue.record("there are no others") }
            #expect(!reads.isEmpty, "the first writer is not done")
        }
        #expect(reads.isEmpty)
    }

    @Test func readsUnderAnAnswerHaveAnEntryThatSaysSo() throws {
        let reads = GatheredReads(now: 0)
        for answer in [.always, [], .always, .untilLogout] as [UseGrounds] {
            reads.count([1], of: StoreOnDisk.caller, answer, at: 0)
        }
        reads.take { entries in
            #expect(entries.map(\.answer) == [.always, [], .untilLogout] && entries.map(\.count) == [2, 1, 1])
        }
    }

    /// Written with the time of writing, a read would seem to come after all that was recorded meanwhile.
    @Test(.promise("audit.reads")) func anEntryHasTheTimeOfTheNewestOfItsReads() throws {
        let keychain = try Keychain.inMemory(clock)
        for name in ["a", "b"] { try add(name, to: keychain) }
        let start = clock.wallTime
        func read(_ name: String, after seconds: Int64) throws {
            clock.setWallTime(start + seconds * 1_000_000)
            var cursor = SearchCursor()
            let request = Request.CopyItems(
                query: ItemQuery(itemClass: .genericPassword, attributes: [.account: .text(name)]), limit: .one,
                returns: .data, authentication: Authentication())
            _ = try keychain.search(request, caller: StoreOnDisk.caller, proof: .none, from: &cursor) { _ in
            } emit: {
                _ in
            }
        }
        for (name, seconds) in [("a", 10), ("b", 20), ("a", 30)] { try read(name, after: Int64(seconds)) }
        clock.setWallTime(start + 500_000_000)
        try keychain.recordReads()
        let entries = try reads(keychain)
        #expect(entries.map(\.time) == [start + 20_000_000, start + 30_000_000], "the oldest first")
        #expect(entries.map(\.count) == [1, 2])
    }

    /// Its name is asked for when it reads: when the entry is written, a command has ended.
    @Test func theCallerHasTheNameOfItsRead() throws {
        final class Ending: CallerProcess {
            let isOver = Atomic(false)
            var isUnchanged: Bool { !isOver.load(ordering: .relaxed) }
        }
        let process = Ending()
        let keychain = try Keychain.inMemory(clock)
        try add("a", to: keychain)
        let caller = Caller(
            groups: StoreOnDisk.caller.groups, label: "command", processID: 7, userID: 1000, process: process)
        for _ in 0..<3 { try read(keychain, .data, caller) }
        process.isOver.store(true, ordering: .relaxed)
        try keychain.recordReads()
        #expect(try reads(keychain).map(\.caller) == ["command"])
    }
}
