// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// A log that also reports refused sensors, login sessions and account checks, so that the audit logs of the users record
/// them.
///
/// Any program can send signals over the message bus, so reports are limited: after a report, further refusals of the
/// same source are counted for `seconds`, and reported together.
package final class RefusalNotices: EventLog {
    /// Has refusals recorded, without waiting for it. Returns false if there is no audit log that could record them; they
    /// are then reported again by `deliver`.
    package typealias Report = @Sendable (UntrustedSource, _ count: UInt64) -> Bool

    fileprivate struct Source: Sendable {
        var waiting: UInt64 = 0
        /// When the last report was made, in nanoseconds of the boot-time clock; nil before the first one.
        var reported: Int64?
        /// Whether the timer of the next report runs.
        var isTimed = false
        /// The timer; released, it would be cancelled.
        var alarm: (any Alarm)?
    }
    private struct State: Sendable {
        var sources: [UntrustedSource: Source] = [:]
        var report: Report?
    }

    /// Minimum seconds between two reports of one source.
    static let seconds: Int64 = 10 * 60
    private let log: any EventLog
    private let clock: any Clock
    private let state = Mutex(State())

    /// Creates a log that writes to `log`, and reports nothing until `observe` names a receiver.
    package init(_ log: any EventLog, clock: any Clock) { (self.log, self.clock) = (log, clock) }

    /// Reports to `report` from now on, instead of an earlier receiver.
    package func observe(_ report: @escaping Report) {
        state.withLock { $0.report = report }
        deliver()
    }

    package func record(_ event: DaemonEvent, _ failure: Failure?) {
        log.record(event, failure)
        count(event)
    }

    package func count(_ event: DaemonEvent) {
        guard let source = UntrustedSource(event) else { return }
        state.withLock { $0.sources[source, default: Source()].count(1) }
        deliver(source)
    }

    /// Reports what could not be reported before.
    package func deliver() { for source in UntrustedSource.allCases { deliver(source) } }

    private func deliver(_ source: UntrustedSource) {
        let now = clock.uptime
        let begun: (report: Report, count: UInt64)? = state.withLock { state in
            guard let report = state.report, var known = state.sources[source], known.waiting > 0,
                known.secondsToWait(at: now) == 0
            else { return nil }
            let count = known.waiting
            (known.waiting, known.reported) = (0, now)
            state.sources[source] = known
            return (report, count)
        }
        guard let begun else { return deliverLater(source, now) }
        // Not with the lock held: the receiver may log.
        guard !begun.report(source, begun.count) else { return }
        state.withLock { state in
            state.sources[source]?.count(begun.count)
            // Nothing was reported, so the next receiver does not have to wait.
            state.sources[source]?.reported = nil
        }
    }

    /// Reports counted refusals when the time since the last report has passed, even if no other follows.
    private func deliverLater(_ source: UntrustedSource, _ now: Int64) {
        let seconds = state.withLock { state -> Int64 in
            guard let known = state.sources[source], known.waiting > 0, !known.isTimed else { return 0 }
            let seconds = known.secondsToWait(at: now)
            if seconds > 0 { state.sources[source]?.isTimed = true }
            return seconds
        }
        guard seconds > 0 else { return }
        let alarm = clock.alarm(after: seconds) { [weak self] in
            self?.state.withLock { $0.sources[source]?.isTimed = false }
            self?.deliver(source)
        }
        state.withLock { $0.sources[source]?.alarm = alarm }
    }
}

extension RefusalNotices.Source {
    fileprivate mutating func count(_ more: UInt64) {
        let (sum, isBeyond) = waiting.addingReportingOverflow(more)
        waiting = isBeyond ? .max : sum
    }

    /// Seconds until a report may be made, rounded up; 0 if it may be made now.
    fileprivate func secondsToWait(at now: Int64) -> Int64 {
        guard let reported else { return 0 }
        let passed = (now - reported) / 1_000_000_000
        return max(0, RefusalNotices.seconds - passed)
    }
}
