// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import Security
import Synchronization

/// Notifies the observers of an environment. While there are observers, one thread waits for changes in a request to
/// the daemon.
final class EnvironmentObservation: Sendable {
    private struct Entry: @unchecked Sendable {
        // A weak reference is read and cleared atomically; only one thread at a time calls the observer.
        weak var observer: (any LAEnvironment.Observer)?
    }

    /// Milliseconds of back-off between two tries to reach an engine that does not respond; doubled after each try.
    private static let (shortestPause, longestPause) = (100, 60_000)

    private struct State: Sendable {
        var entries: [Entry] = []
        var isWatching = false
        /// Whether the thread pauses because the engine cannot be reached.
        var isPausing = false
    }

    private let engine: Result<Client, Failure>
    private let state = Mutex(State())
    private let comeBack = DispatchSemaphore(value: 0)

    init(_ engine: Result<Client, Failure>) { self.engine = engine }

    func add(_ observer: any LAEnvironment.Observer, of environment: LAEnvironment) {
        // Reads the state to compare with before this function returns, so that no later change is missed.
        let first = EnvironmentReport.now(engine)
        let entry = Entry(observer: observer)
        let starts = state.withLock { state in
            state.entries.removeAll { $0.observer == nil || $0.observer === entry.observer }
            state.entries.append(entry)
            if state.isPausing { comeBack.signal() }
            // Without an engine (no simulated machine in scope) there is nothing to wait for.
            guard case .success = engine else { return false }
            defer { state.isWatching = true }
            return !state.isWatching
        }
        guard starts else { return }
        Thread.detachNewThread { [weak environment, self] in
            var last = first
            var pause = Self.shortestPause
            while isObserved(environment) {
                guard let report = EnvironmentReport.next(engine, after: last) else {
                    // The engine may become reachable again, for example after an update of the daemon.
                    rest(pause)
                    pause = min(2 * pause, Self.longestPause)
                    continue
                }
                pause = Self.shortestPause
                guard let environment else { continue }
                let old = LAEnvironment.State(last)
                last = report
                // The revision also changes when only another app is affected, and when another daemon answers.
                if old.isEqual(LAEnvironment.State(report)) { continue }
                for entry in state.withLock({ $0.entries }) {
                    entry.observer?.environment(environment, stateDidChangeFromOldState: old)
                }
            }
        }
    }

    /// Pauses for at most `milliseconds`; adding an observer ends the pause.
    private func rest(_ milliseconds: Int) {
        state.withLock { $0.isPausing = true }
        _ = comeBack.wait(timeout: .now() + .milliseconds(milliseconds))
        state.withLock { $0.isPausing = false }
    }

    /// Returns whether there are observers to notify. Otherwise the thread ends, and adding an observer starts a new
    /// one.
    private func isObserved(_ environment: LAEnvironment?) -> Bool {
        state.withLock { state in
            state.entries.removeAll { $0.observer == nil }
            state.isWatching = environment != nil && !state.entries.isEmpty
            return state.isWatching
        }
    }

    func remove(_ observer: any LAEnvironment.Observer) {
        let entry = Entry(observer: observer)
        state.withLock { state in
            state.entries.removeAll { $0.observer == nil || $0.observer === entry.observer }
        }
    }
}
