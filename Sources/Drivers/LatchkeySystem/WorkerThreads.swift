// SPDX-License-Identifier: Apache-2.0

/// Threads that do blocking work, each piece on a thread of its own.
///
/// One thread waits for the next piece when it has none, so that work that comes piece by piece starts no further thread.
/// Threads beyond it end with their work.
package final class WorkerThreads: Sendable {
    private struct State: Sendable {
        /// Work for the thread that waits.
        var work: (@Sendable () -> Void)?
        var isOneWaiting = false
    }
    private let state = Monitor(State())

    package init() {}

    /// Runs `work` on a thread on which no other work runs; false when none can be started, and then `work` does not run.
    package func run(_ work: @escaping @Sendable () -> Void) -> Bool {
        let isTaken = state.withLock { state in
            guard state.isOneWaiting else { return false }
            (state.work, state.isOneWaiting) = (work, false)
            return true
        }
        guard !isTaken else {
            state.wake()
            return true
        }
        let first = Monitor<(@Sendable () -> Void)?>(work)
        return Processes.startThread { [self] in
            Self.performFirst(first)
            while performNext() {}
        }
    }

    /// The thread does not have what its first work refers to, such as a secret, while it waits for the next one.
    @inline(never)
    private static func performFirst(_ first: Monitor<(@Sendable () -> Void)?>) {
        let work = first.withLock { first in
            defer { first = nil }
            return first
        }
        work?()
    }

    /// Waits for a piece of work and does it; false if another thread waits already. A function of its own, as in
    /// `SerialWorkQueue`: the values of an iteration must not stay in memory.
    @inline(never)
    private func performNext() -> Bool {
        let isWaiting = state.withLock { state in
            guard !state.isOneWaiting, state.work == nil else { return false }
            state.isOneWaiting = true
            return true
        }
        guard isWaiting else { return false }
        let work = state.wait { state in
            defer { state.work = nil }
            return state.work
        }
        work()
        return true
    }
}
