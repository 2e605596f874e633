// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Decides which of SQLite's calls on the files of one store fails, and how. Also counts the calls.
final class FaultPlan: Sendable {
    /// How a call fails; `short` writes half of the bytes first.
    enum Fault: CaseIterable, Sendable {
        case inputOutputError, diskFull, short
    }

    private struct State: Sendable {
        var calls = 0
        var failsAt: Int?
        var fault = Fault.inputOutputError
        var goesOn = false
        var hasFailed = false
        var readsFail = false
        var isPowersafe = true
    }
    private let state = Mutex(State())

    /// Writes, syncs and truncations so far.
    var calls: Int { state.withLock { $0.calls } }

    /// Whether a call has failed.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    /// Whether reads fail; they are not counted.
    var readsFail: Bool {
        get { state.withLock { $0.readsFail } }
        set { state.withLock { $0.readsFail = newValue } }
    }

    /// Whether an interrupted write leaves adjacent bytes unchanged; if not, SQLite pads the log to a full sector.
    var isPowersafe: Bool {
        get { state.withLock { $0.isPowersafe } }
        set { state.withLock { $0.isPowersafe = newValue } }
    }

    /// Makes the `number`-th call from now fail, 0 being the first, and every later one if `goesOn`.
    func fail(at number: Int, _ fault: Fault, goesOn: Bool) {
        state.withLock { $0 = State(failsAt: number, fault: fault, goesOn: goesOn) }
    }

    /// Counts a call and returns its fault, or nil.
    func next() -> Fault? {
        state.withLock { state in
            defer { state.calls += 1 }
            guard let failsAt = state.failsAt, state.goesOn ? state.calls >= failsAt : state.calls == failsAt else {
                return nil
            }
            state.hasFailed = true
            return state.fault
        }
    }
}
