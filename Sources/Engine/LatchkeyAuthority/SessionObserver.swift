// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// Applies the login sessions of a user to their authority and to the keys of their store. A lock ends prompts and
/// removes keys from memory; the place of the sessions decides whether biometry is used.
///
/// It is one type because the order matters and both daemons need it: the authority is notified first, and so issues no
/// further proof, then the store. Each change is reported as done when it has taken effect, because sleep waits for
/// that.
///
/// What is known about sessions comes from a `SessionMonitor`; sessions that are not known count as locked.
package final class SessionObserver: Sendable {
    private let sessions: any SessionMonitor
    private let user: UInt32
    private let authority: any AuthenticationAuthority
    private let work: any WorkQueue
    private let notifyStore: @Sendable (_ isLocked: Bool) -> Void
    private let reportedLock = Mutex(false)

    /// - Parameters:
    ///   - work: runs the changes one after the other; they wait for the store.
    ///   - notifyStore: notifies the store whether sessions are locked, and returns when no key is in memory that a
    ///     lock forbids.
    package init(
        _ sessions: any SessionMonitor, of user: UInt32, authority: any AuthenticationAuthority, work: any WorkQueue,
        notifyStore: @escaping @Sendable (_ isLocked: Bool) -> Void
    ) {
        self.sessions = sessions
        self.user = user
        self.authority = authority
        self.work = work
        self.notifyStore = notifyStore
    }

    /// Applies a change of the sessions.
    ///
    /// - Parameter done: called when it has taken effect.
    package func apply(_ change: SessionEvent.Change, _ done: @escaping @Sendable () -> Void) {
        work.submit(.any) { [self] in
            defer { done() }
            switch change {
            case .locked: lock()
            case .unlocked, .changed: applyState()
            case .background(let isBehind): authority.report(.background(isBehind), then: nil)
            case .ended:
                lock()
                applyState()
            }
        }
    }

    /// Applies the present state of the sessions, when the store is attached to the authority.
    package func begin() {
        let state = sessions.sessions(of: user)
        authority.report(.biometrySessions(state.biometry), then: nil)
        if state.isLocked { authority.report(.sessionLocked, then: nil) }
        // Also without a lock: the store may have seen one on an earlier connection.
        notify(isLocked: state.isLocked)
    }

    private func lock() {
        // Before the store, which then gets no further proof.
        authority.report(.sessionLocked, then: nil)
        authority.report(.biometrySessions(sessions.sessions(of: user).biometry), then: nil)
        notify(isLocked: true)
    }

    private func applyState() {
        let state = sessions.sessions(of: user)
        authority.report(.biometrySessions(state.biometry), then: nil)
        if state.isLocked {
            // Without an event for it: the sessions are not known any more.
            guard reportedLock.withLock({ !$0 }) else { return }
            authority.report(.sessionLocked, then: nil)
            return notify(isLocked: true)
        }
        guard reportedLock.withLock({ $0 }) else { return }
        authority.report(.sessionUnlocked, then: nil)
        notify(isLocked: false)
    }

    private func notify(isLocked: Bool) {
        reportedLock.withLock { $0 = isLocked }
        notifyStore(isLocked)
    }
}
