// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Testing

/// What modules hold for a begun use is wiped although nothing finishes it.
@Suite struct BegunKeyUsesTests {
    @Test func oldUsesAreWipedWithoutAnotherCall() throws {
        let clock = VirtualClock()
        let uses = BegunKeyUses<Int>(clock: clock)
        _ = try uses.begin(1)
        clock.advance(seconds: Limits.begunKeyUseSeconds / 2)
        _ = try uses.begin(2)
        clock.advance(seconds: Limits.begunKeyUseSeconds / 2)
        #expect(uses.count == 1)
        clock.advance(seconds: Limits.begunKeyUseSeconds)
        #expect(uses.count == 0)
        _ = try uses.begin(3)
        clock.advance(seconds: Limits.begunKeyUseSeconds)
        #expect(uses.count == 0, "the alarm is set again after it was not needed")
    }

    /// A clock whose machine has no descriptor left calls its alarms at once.
    private final class ClockWithoutAlarms: Clock {
        let uptime: Int64 = 0
        let bootID: [UInt8] = []
        let wallTime: Int64 = 0
        private final class Rung: Alarm {
            func cancel() {}
        }
        func alarm(after seconds: Int64, _ body: @escaping @Sendable () -> Void) -> any Alarm {
            body()
            return Rung()
        }
    }

    @Test func aClockThatCannotWaitDropsEachUseAtOnce() throws {
        let uses = BegunKeyUses<Int>(clock: ClockWithoutAlarms())
        for number in 0..<3 {
            let use = try uses.begin(number)
            #expect(throws: Failure(.timedOut)) { try uses.take(use) }
        }
    }
}
