// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// The login sessions of logind, over the connection that the process has to the system's message bus.
///
/// A machine without logind has no sessions: nothing is locked, and biometry is refused. What logind does not answer, or
/// what another program than root's says in its name, counts as locked.
package final class LogindSessions: SessionMonitor, @unchecked Sendable {
    // Sendable: `monitor` is used on the bus's thread only; the rest has locks.

    /// The limits of waiting, in milliseconds.
    package struct Timing: Sendable {
        /// For an answer of logind or of the bus.
        package var call: Int64 = 5_000
        /// For the first state, during which the caller waits.
        package var state: Int64 = 3_000
        /// Between two attempts to connect after the connection was lost; doubled with each of them.
        package var retry: Int64 = 1_000
        package var longestRetry: Int64 = 64_000

        package init() {}
    }

    /// What is known about sessions.
    enum Knowledge: Sendable {
        /// Nothing was read so far.
        case none
        case known
        /// There is no logind.
        case absent
        /// logind is restarting or cannot be reached now: locks remain, and biometry is refused.
        case outdated
        /// logind does not answer, or is not trusted.
        case unknown
    }

    private struct Published: Sendable {
        var sessions = LoginSessions()
        var knowledge = Knowledge.none
        /// Those who wait for the first state.
        var waiting: [Answer<Void>] = []
        var reports: [@Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void] = []
    }

    private let bus: SystemBus
    private let timing: Timing
    private let monitor: Confined<LogindMonitor>
    private let published = Mutex(Published())

    /// Begins to observe the sessions.
    ///
    /// - Parameter trustedUser: the user to which the name of logind must belong; another one than root in tests only.
    package init(_ bus: SystemBus, trustedUser: UInt32 = 0, timing: Timing = Timing(), log: any EventLog) {
        self.bus = bus
        self.timing = timing
        let monitor = LogindMonitor(bus, timing, trustedUser: trustedUser, log: log)
        self.monitor = Confined(monitor)
        monitor.changed = { [weak self] in self?.publish($0, $1, $2) }
        monitor.willSleep = { [weak self] sessions, done in
            guard let self else { return done() }
            published.withLock { $0.sessions = sessions }
            send(SessionEvent(user: nil, session: "", .locked), done)
        }
        let confined = self.monitor
        bus.run { confined.value.start() }
    }

    // MARK: - SessionMonitor

    package func sessions(of user: UInt32) -> SessionState {
        awaitState()
        return published.withLock { published in
            var state = published.sessions.state(of: user)
            switch published.knowledge {
            case .known, .outdated: break
            case .absent: state.biometry = .only([])
            // Fail closed: a session may be locked without a signal that says so.
            case .none, .unknown: state = SessionState(isLocked: true, biometry: .only([]))
            }
            return state
        }
    }

    package func observeSession(
        _ report: @escaping @Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void
    ) { published.withLock { $0.reports.append(report) } }

    /// Waits for the first state. Without sessions, logind may have started since, so it is asked again; the answer is
    /// reported as a change.
    private func awaitState() {
        let answer = Answer<Void>()
        let knowledge = published.withLock { published in
            if published.knowledge == .none { published.waiting.append(answer) }
            return published.knowledge
        }
        switch knowledge {
        case .known, .outdated: break
        case .absent, .unknown: bus.run { [monitor] in monitor.value.load() }
        case .none:
            // The bus's thread must not wait for itself.
            guard !bus.isCurrent else { return }
            _ = answer.wait(milliseconds: timing.state)
        }
    }

    // MARK: - Changes

    private func publish(_ sessions: LoginSessions, _ knowledge: Knowledge, _ event: SessionEvent?) {
        let (waiting, isChanged) = published.withLock { published -> ([Answer<Void>], Bool) in
            let isChanged = published.sessions != sessions || published.knowledge != knowledge
            (published.sessions, published.knowledge) = (sessions, knowledge)
            // The first state is an answer, not a change. But a lock is reported: a person may have unlocked the
            // keychain before.
            guard knowledge != .none else { return ([], isChanged && event?.change == .locked) }
            defer { published.waiting = [] }
            return (published.waiting, isChanged)
        }
        for answer in waiting { answer.set(()) }
        if isChanged, let event { send(event) {} }
    }

    private func send(_ event: SessionEvent, _ done: @escaping @Sendable () -> Void) {
        let reports = published.withLock { $0.reports }
        // One observer is the rule; with several, sleep waits for the first.
        guard !reports.isEmpty else { return done() }
        for report in reports { report(event, done) }
    }
}
