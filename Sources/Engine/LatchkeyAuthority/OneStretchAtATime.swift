// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// Runs the stretches of one user one after the other, on the threads of another queue.
///
/// The policy verifies one passcode at a time, but a stretch goes on when its evaluation has been cancelled, and the next
/// passcode may be waiting already. Both would read and replace the same records.
package final class OneStretchAtATime: StretchQueue {
    private struct State: Sendable {
        var waiting: [(client: StretchClient, work: @Sendable () -> Void)] = []
        var isRunning = false
    }
    private let base: any StretchQueue
    private let state = Mutex(State())

    /// Creates a queue that uses the threads of another one.
    package init(_ base: any StretchQueue) { self.base = base }

    package func submit(_ client: StretchClient, _ work: @escaping @Sendable () -> Void) throws(Failure) {
        let isFirst = state.withLock { state in
            state.waiting.append((client, work))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { try submitNext() }
    }

    /// Submits the work that has waited longest, which submits the next one when it has ended.
    private func submitNext() throws(Failure) {
        let next = state.withLock { state in
            state.isRunning = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        guard let next else { return }
        do throws(Failure) {
            try base.submit(next.client) { [self] in
                next.work()
                // Work of a person is never refused, and programs have no work here. If it were, the evaluation would end at
                // its deadline.
                try? submitNext()
            }
        } catch {
            // Others may wait already, and would wait for ever.
            try submitNext()
            throw error
        }
    }
}
