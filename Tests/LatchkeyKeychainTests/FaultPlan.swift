// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Which of SQLite's calls on the files of one store fails, and how. Counts the calls as well.
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

    /// Whether reads of the disk fail; they are not counted.
    var readsFail: Bool {
        get { state.withLock { $0.readsFail } }
        set { state.withLock { $0.readsFail = newValue } }
    }

    /// Whether the disk leaves what lies beside an interrupted write as it was; SQLite fills up a sector otherwise.
    var isPowersafe: Bool {
        get { state.withLock { $0.isPowersafe } }
        set { state.withLock { $0.isPowersafe = newValue } }
    }

    /// Makes the `number`-th call from now fail, 0 being the first, and every later one if it `goesOn`.
    func fail(at number: Int, _ fault: Fault, goesOn: Bool) {
        state.withLock { $0 = State(failsAt: number, fault: fault, goesOn: goesOn) }
    }

    /// Counts a call; what it fails with, if it does.
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
