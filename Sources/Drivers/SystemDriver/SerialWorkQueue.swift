// SPDX-License-Identifier: Apache-2.0

package import LatchkeySeams
import LatchkeySystem

/// A work queue with one thread, which runs blocking work in the order of submission.
///
/// Passing a write to another thread and back costs a quarter of the write. So a write about one item runs on the
/// submitting thread when the queue is idle and `mayWorkHere` allows it.
package final class SerialWorkQueue: WorkQueue {
    private struct State: Sendable {
        var work: [@Sendable () -> Void] = []
        var isBusy = false
    }
    private let state = Monitor(State())
    private let mayWorkHere: @Sendable () -> Bool

    /// Starts the thread; it lasts as long as the process.
    ///
    /// - Parameter mayWorkHere: whether a write about one item may block the thread that submits it.
    package init(mayWorkHere: @escaping @Sendable () -> Bool) {
        self.mayWorkHere = mayWorkHere
        Processes.detachThread { [self] in
            while true { performNext() }
        }
    }

    /// Runs one piece of work. This must be a separate function: in an endless loop the unoptimised compiler (Swift
    /// 6.3.1) does not release the values of an iteration, so secrets in submitted work would stay in memory.
    @inline(never)
    private func performNext() { perform(next()) }

    package func submit(_ extent: WorkExtent, _ work: @escaping @Sendable () -> Void) {
        let isForHere = state.withLock { state in
            let isForHere = extent == .oneItem && !state.isBusy && state.work.isEmpty && mayWorkHere()
            if isForHere { state.isBusy = true } else { state.work.append(work) }
            return isForHere
        }
        // A write on this thread wakes no other.
        if isForHere { perform(work) } else { state.wake() }
    }

    private func next() -> @Sendable () -> Void {
        state.wait { state in
            guard !state.work.isEmpty, !state.isBusy else { return nil }
            state.isBusy = true
            return state.work.removeFirst()
        }
    }

    /// Runs a piece of work, then marks the queue idle.
    private func perform(_ work: @Sendable () -> Void) {
        work()
        let hasMore = state.withLock { state in
            state.isBusy = false
            return !state.work.isEmpty
        }
        if hasMore { state.wake() }
    }
}

/// Runs work on the submitting thread, for engines without threads.
package final class ImmediateWorkQueue: WorkQueue, StretchQueue {
    package init() {}
    package func submit(_ client: StretchClient, _ work: @escaping @Sendable () -> Void) { work() }
    package func submit(_ extent: WorkExtent, _ work: @escaping @Sendable () -> Void) { work() }
}
