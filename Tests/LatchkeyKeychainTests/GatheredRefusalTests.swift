// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import TestPromises
import Testing

/// A program that is refused in a loop does not make the audit log grow without bound.
@Suite struct GatheredRefusalTests {
    private let clock = BootClock(boot: "monday", uptimeSeconds: 1000)

    private func refusals(_ keychain: Keychain) throws -> [UInt64] {
        try keychain.log(Request.Log(after: 0, limit: 1024, verifies: false)).lines
            .filter { $0.event == .refused }.map(\.count)
    }

    private func caller(_ label: String, process: Int32 = 1) -> Caller {
        Caller(groups: [label], label: label, processID: process, userID: 1000)
    }

    @Test(.promise("audit.refusals")) func equalRefusalsWithinAMinuteAreOneEntryWithACount() throws {
        let keychain = try Keychain.inMemory(clock)
        for _ in 0..<850 { try keychain.recordRefusal(of: caller("app"), .cancelled) }
        #expect(try refusals(keychain) == [1])
        clock.advance(seconds: 61)
        try keychain.recordRefusal(of: caller("app"), .cancelled)
        #expect(try refusals(keychain) == [1, 850])
    }

    @Test func anotherProgramHasItsOwnEntry() throws {
        let keychain = try Keychain.inMemory(clock)
        for label in ["app", "other", "app"] { try keychain.recordRefusal(of: caller(label), .cancelled) }
        #expect(try refusals(keychain) == [1, 1])
    }

    /// The number of one process would say that all refusals are of that one.
    @Test func anEntryNamesAProcessOnlyIfAllItsRefusalsAreOfThatOne() throws {
        let keychain = try Keychain.inMemory(clock)
        for (label, processes) in [("app", [1, 2, 2]), ("other", [7, 8, 9])] as [(String, [Int32])] {
            for process in processes { try keychain.recordRefusal(of: caller(label, process: process), .cancelled) }
        }
        try keychain.recordGatheredRefusals()
        let lines = try keychain.log(Request.Log(after: 0, limit: 1024, verifies: false)).lines
        #expect(lines.map(\.processID) == [1, 7, 2, 0] && lines.map(\.count) == [1, 1, 2, 2])
    }

    @Test func countedRefusalsAreWrittenAtTheEnd() throws {
        let keychain = try Keychain.inMemory(clock)
        for _ in 0..<5 { try keychain.recordRefusal(of: caller("app"), .cancelled) }
        try keychain.recordGatheredRefusals()
        try keychain.recordGatheredRefusals()
        #expect(try refusals(keychain) == [1, 4])
    }

    @Test(.promise("audit.refusals")) func programsOfManyNamesShareTheLastEntry() throws {
        let keychain = try Keychain.inMemory(clock)
        for number in 0..<1000 { try keychain.recordRefusal(of: caller("app \(number)"), .cancelled) }
        #expect(try refusals(keychain).count <= 65)
        try keychain.recordGatheredRefusals()
        #expect(try refusals(keychain).reduce(0, +) == 1000)
    }

    /// A person who reads the log learns what was refused, when, and why.
    @Test(.promise("audit.refusals")) func refusalsOfOtherItemsAndForOtherReasonsHaveEntriesOfTheirOwn() throws {
        let keychain = try Keychain.inMemory(clock)
        let start = clock.wallTime
        let refused: [(item: [UInt8], reason: RefusalReason)] = [
            ([1], .cancelled), ([1], .cancelled), ([2], .cancelled), ([1], .locked),
        ]
        for (second, (item, reason)) in refused.enumerated() {
            clock.setWallTime(start + Int64(second) * 1_000_000)
            try keychain.recordRefusal(of: caller("app"), item: item, reason)
        }
        clock.setWallTime(start + 900_000_000)
        try keychain.recordGatheredRefusals()
        let lines = try keychain.log(Request.Log(after: 0, limit: 1024, verifies: false)).lines
        #expect(lines.map(\.item) == [[1], [1], [2], [1]])
        #expect(
            lines.map(\.ground) == [
                .refused(.cancelled), .refused(.cancelled), .refused(.cancelled), .refused(.locked),
            ])
        #expect(lines.map(\.time) == (0..<4).map { start + $0 * 1_000_000 }, "each has its own time, the oldest first")
    }

    @Test(.promise("audit.refusals")) func refusalsOfManyItemsShareTheLastEntry() throws {
        let keychain = try Keychain.inMemory(clock)
        for number in 0..<1000 {
            try keychain.recordRefusal(of: caller("app"), item: [UInt8(number / 250), UInt8(number % 250)], .cancelled)
        }
        try keychain.recordGatheredRefusals()
        let lines = try keychain.log(Request.Log(after: 0, limit: 1024, verifies: false)).lines
        #expect(lines.count <= 66 && lines.reduce(0) { $0 + $1.count } == 1000)
        #expect(lines.contains { $0.item.isEmpty && $0.ground == .refused(.other) && $0.count > 900 })
    }
}
