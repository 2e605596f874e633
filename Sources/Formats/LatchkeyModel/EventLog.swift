// SPDX-License-Identifier: Apache-2.0

/// The role that logs events that no reply reports. Logging has no failure result: a failure could not be reported
/// either.
package protocol EventLog: AnyObject, Sendable {
    /// Logs an event and the failure that caused it. May be called on any thread.
    func note(_ event: DaemonEvent, _ failure: Failure?)
}

/// An event log that discards all events, for a service without observers.
package final class UnwatchedLog: EventLog {
    package init() {}
    package func note(_ event: DaemonEvent, _ failure: Failure?) {}
}

extension EventLog {
    /// Runs `body` and logs its failure as `event`, for work whose failure no reply reports.
    ///
    /// - Returns: the result of `body`; nil if it failed.
    @discardableResult
    package func noting<R>(_ event: DaemonEvent, _ body: () throws(Failure) -> R) -> R? {
        do throws(Failure) {
            return try body()
        } catch {
            note(event, error)
            return nil
        }
    }
}
