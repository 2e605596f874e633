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
        for _ in 0..<850 { try keychain.recordRefusal(of: caller("app")) }
        #expect(try refusals(keychain) == [1])
        clock.advance(seconds: 61)
        try keychain.recordRefusal(of: caller("app"))
        #expect(try refusals(keychain) == [1, 850])
    }

    @Test func anotherProgramHasItsOwnEntry() throws {
        let keychain = try Keychain.inMemory(clock)
        for label in ["app", "other", "app"] { try keychain.recordRefusal(of: caller(label)) }
        #expect(try refusals(keychain) == [1, 1])
    }

    /// The number of one process would say that all refusals are of that one.
    @Test func anEntryNamesAProcessOnlyIfAllItsRefusalsAreOfThatOne() throws {
        let keychain = try Keychain.inMemory(clock)
        for process in [1, 2, 2] as [Int32] { try keychain.recordRefusal(of: caller("app", process: process)) }
        for process in [7, 8, 9] as [Int32] { try keychain.recordRefusal(of: caller("other", process: process)) }
        try keychain.recordGatheredRefusals()
        let lines = try keychain.log(Request.Log(after: 0, limit: 1024, verifies: false)).lines
        #expect(lines.map(\.processID) == [1, 7, 2, 0] && lines.map(\.count) == [1, 1, 2, 2])
    }

    @Test func countedRefusalsAreWrittenAtTheEnd() throws {
        let keychain = try Keychain.inMemory(clock)
        for _ in 0..<5 { try keychain.recordRefusal(of: caller("app")) }
        try keychain.recordGatheredRefusals()
        try keychain.recordGatheredRefusals()
        #expect(try refusals(keychain) == [1, 4])
    }

    @Test(.promise("audit.refusals")) func programsOfManyNamesShareTheLastEntry() throws {
        let keychain = try Keychain.inMemory(clock)
        for number in 0..<1000 { try keychain.recordRefusal(of: caller("app \(number)")) }
        #expect(try refusals(keychain).count <= 65)
        try keychain.recordGatheredRefusals()
        #expect(try refusals(keychain).reduce(0, +) == 1000)
    }
}
