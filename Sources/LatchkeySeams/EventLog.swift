// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Where a daemon writes down what no caller is told of. Never fails: there is nobody left to tell.
package protocol EventLog: AnyObject, Sendable {
    /// Writes an event down, with the failure that was its cause. From any thread.
    func note(_ event: DaemonEvent, _ failure: Failure?)
}

/// Keeps nothing: for a service that nobody looks at.
package final class UnwatchedLog: EventLog {
    package init() {}
    package func note(_ event: DaemonEvent, _ failure: Failure?) {}
}

extension EventLog {
    /// Does something whose failure no caller waits for, and writes that failure down.
    ///
    /// - Returns: what it gave; nil when it failed.
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
