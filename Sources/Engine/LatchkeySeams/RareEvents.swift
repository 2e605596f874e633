// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import Synchronization

/// Logs events that a program can cause again and again: at most one in ten minutes for each key, so that no program can fill
/// the log.
package final class RareEvents<Key: Hashable & Sendable>: Sendable {
    private let nanoseconds: Int64 = 600 * 1_000_000_000
    private let clock: any Clock
    private let log: any EventLog
    private let logged = Mutex<[Key: Int64]>([:])

    /// Creates a log that writes to `log`.
    package init(_ log: any EventLog, clock: any Clock) { (self.log, self.clock) = (log, clock) }

    /// Logs an event, unless one of the same key was logged a short time ago.
    ///
    /// - Parameter key: one of a limited number, such as a user or a status; each one takes memory.
    package func record(_ event: DaemonEvent, _ failure: Failure, for key: Key) {
        let now = clock.uptime
        let isDue = logged.withLock { logged in
            if let last = logged[key], now - last < nanoseconds { return false }
            logged[key] = now
            return true
        }
        if isDue { log.record(event, failure) }
    }
}
