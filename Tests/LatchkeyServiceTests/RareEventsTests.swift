// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Testing

/// Events that a program can cause again and again are logged once in ten minutes.
@Suite struct RareEventsTests {
    @Test func aFloodIsOneLineForEachKeyAndTime() {
        let (clock, log) = (VirtualClock(), CollectedEvents())
        let events = RareEvents<UInt32>(log, clock: clock)
        func record(_ key: UInt32) { events.record(.agentRefused, Failure(.notPermitted, "user \(key)"), for: key) }
        for _ in 0..<100 { record(1) }
        record(2)
        #expect(log.entries.map(\.failure?.message) == ["user 1", "user 2"])
        clock.advance(seconds: 599)
        record(1)
        #expect(log.entries.count == 2)
        clock.advance(seconds: 1)
        for _ in 0..<100 { record(1) }
        #expect(log.entries.count == 3)
    }
}
