// SPDX-License-Identifier: Apache-2.0

package import LatchkeySeams
import Synchronization

/// A clock that a script advances. A virtual clock that is created over a real clock also advances with the real clock.
package final class VirtualClock: Clock {
    private final class VirtualAlarm: Alarm {
        let due: Int64
        let body: Mutex<(@Sendable () -> Void)?>
        let real = Mutex<(any Alarm)?>(nil)

        init(due: Int64, _ body: @escaping @Sendable () -> Void) {
            self.due = due
            self.body = Mutex(body)
        }

        func cancel() {
            body.withLock { $0 = nil }
            real.withLock { $0 }?.cancel()
        }

        /// Runs the body unless it ran or was cancelled before.
        func ring() {
            body.withLock { body in
                defer { body = nil }
                return body
            }?()
        }
    }

    private struct State: Sendable {
        var start: Int64
        var offset: Int64
        var boot: UInt64
        /// Nanoseconds by which earlier boots have advanced the wall clock.
        var wallOffset: Int64 = 0
        var alarms: [VirtualAlarm] = []
    }

    private let real: (any Clock)?
    private let state: Mutex<State>

    /// Starts at `offset` nanoseconds after the uptime of the real clock, or after zero without one.
    ///
    /// `boot` numbers the boot of a machine without a real clock; a later boot needs another number.
    package init(over real: (any Clock)? = nil, offset: Int64 = 0, boot: UInt64 = 1) {
        self.real = real
        state = Mutex(State(start: (real?.uptime ?? 0) &+ offset, offset: offset, boot: boot))
    }

    /// Nanoseconds by which the script has advanced the clock in this boot.
    package var offset: Int64 { state.withLock { $0.offset } }

    package var uptime: Int64 { (real?.uptime ?? 0) &+ offset }

    /// Nanoseconds since the clock was created or restarted.
    var sinceStart: Int64 { uptime &- state.withLock { $0.start } }

    package var bootID: [UInt8] {
        let boot = state.withLock { $0.boot }
        // The real boot identifier is included, so that a boot of the real machine is also a boot of the simulated one.
        return (real?.bootID.prefix(48) ?? []) + (0..<8).map { UInt8(truncatingIfNeeded: boot >> (8 * $0)) }
    }

    /// Microseconds since 1970: the real time plus the offset, or 2026-01-01 00:00 UTC plus the simulated time.
    package var wallTime: Int64 {
        let passed = state.withLock { $0.offset &+ $0.wallOffset }
        return (real?.wallTime ?? 1_767_225_600_000_000) &+ passed / 1000
    }

    package func alarm(after seconds: Int64, _ body: @escaping @Sendable () -> Void) -> any Alarm {
        let alarm = VirtualAlarm(due: uptime &+ seconds &* 1_000_000_000, body)
        if let real {
            let under = real.alarm(after: seconds) { alarm.ring() }
            alarm.real.withLock { $0 = under }
        }
        state.withLock { state in
            state.alarms.removeAll { $0.body.withLock { $0 == nil } }
            state.alarms.append(alarm)
        }
        return alarm
    }

    /// Begins another boot of a clock without a real clock: the uptime restarts at zero, the wall clock continues, and
    /// all alarms are dropped.
    package func restart() {
        state.withLock { state in
            state.wallOffset = state.wallOffset &+ state.offset
            state.offset = 0
            state.start = 0
            state.boot &+= 1
            state.alarms = []
        }
    }

    /// Advances the clock and runs the alarms that become due, in the order of their due times.
    package func advance(seconds: Int64) {
        let (moved, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        state.withLock { state in
            let (sum, alsoOverflows) = state.offset.addingReportingOverflow(moved)
            // The clock stops at its maximum instead of overflowing.
            state.offset = overflows || alsoOverflows ? .max / 2 : min(sum, .max / 2)
        }
        let now = uptime
        let due = state.withLock { state in
            let due = state.alarms.filter { $0.due <= now }
            state.alarms.removeAll { $0.due <= now }
            return due.sorted { $0.due < $1.due }
        }
        for alarm in due { alarm.ring() }
    }
}
