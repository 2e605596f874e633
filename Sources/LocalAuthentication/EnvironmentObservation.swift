// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import Security
import Synchronization

/// Waits for changes of an environment while anyone observes it: one thread that sleeps in the daemon's answer.
final class EnvironmentObservation: Sendable {
    private struct Entry: @unchecked Sendable {
        // A weak reference is read and cleared atomically; an observer is called on one thread at a time.
        weak var observer: (any LAEnvironment.Observer)?
    }

    /// Milliseconds between two looks for an engine that is away.
    private static let (shortestPause, longestPause) = (100, 60_000)

    private struct State: Sendable {
        var entries: [Entry] = []
        var isWatching = false
        /// Whether the engine is away and the thread pauses.
        var isPausing = false
    }

    private let engine: Result<Client, Failure>
    private let state = Mutex(State())
    private let comeBack = DispatchSemaphore(value: 0)

    init(_ engine: Result<Client, Failure>) { self.engine = engine }

    func add(_ observer: any LAEnvironment.Observer, of environment: LAEnvironment) {
        // The state that changes are told against is read before this returns: none is missed afterwards.
        let first = EnvironmentReport.now(engine)
        let entry = Entry(observer: observer)
        let starts = state.withLock { state in
            state.entries.removeAll { $0.observer == nil || $0.observer === entry.observer }
            state.entries.append(entry)
            if state.isPausing { comeBack.signal() }
            // Where there is no engine there will be none.
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
                    // An engine that is away, for instance while it is installed anew, comes back some time.
                    rest(pause)
                    pause = min(2 * pause, Self.longestPause)
                    continue
                }
                pause = Self.shortestPause
                guard let environment else { continue }
                let old = LAEnvironment.State(last)
                last = report
                // What changed may be another app's, or the daemon only.
                if old.isEqual(LAEnvironment.State(report)) { continue }
                for entry in state.withLock({ $0.entries }) {
                    entry.observer?.environment(environment, stateDidChangeFromOldState: old)
                }
            }
        }
    }

    /// Pauses, at most until the next observer comes.
    private func rest(_ milliseconds: Int) {
        state.withLock { $0.isPausing = true }
        _ = comeBack.wait(timeout: .now() + .milliseconds(milliseconds))
        state.withLock { $0.isPausing = false }
    }

    /// Whether anyone is to be told; the thread ends otherwise, and the next observer starts another.
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
