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

    private struct State: Sendable {
        var entries: [Entry] = []
        var isWatching = false
    }

    private let engine: Result<Client, Failure>
    private let state = Mutex(State())

    init(_ engine: Result<Client, Failure>) { self.engine = engine }

    func add(_ observer: any LAEnvironment.Observer, of environment: LAEnvironment) {
        // The state that changes are told against is read before this returns: none is missed afterwards.
        let first = EnvironmentReport.now(engine)
        let entry = Entry(observer: observer)
        let starts = state.withLock { state in
            state.entries.removeAll { $0.observer == nil || $0.observer === entry.observer }
            state.entries.append(entry)
            defer { state.isWatching = true }
            return !state.isWatching
        }
        guard starts else { return }
        Thread.detachNewThread { [weak environment, self] in
            var last = first
            while let report = EnvironmentReport.next(engine, after: last), let environment {
                let old = LAEnvironment.State(last)
                last = report
                // What changed may be another app's, or the daemon only.
                if old.isEqual(LAEnvironment.State(report)) { continue }
                let observers = state.withLock { state in
                    state.entries.removeAll { $0.observer == nil }
                    return state.entries
                }
                for entry in observers { entry.observer?.environment(environment, stateDidChangeFromOldState: old) }
                let goesOn = state.withLock { state in
                    state.isWatching = !state.entries.isEmpty
                    return state.isWatching
                }
                guard goesOn else { return }
            }
            state.withLock { $0.isWatching = false }
        }
    }

    func remove(_ observer: any LAEnvironment.Observer) {
        let entry = Entry(observer: observer)
        state.withLock { state in
            state.entries.removeAll { $0.observer == nil || $0.observer === entry.observer }
        }
    }
}
