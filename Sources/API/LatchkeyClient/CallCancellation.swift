// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Cancels a call that another thread waits in: the daemon ends what the call waits for, and answers it with a failure.
package final class CallCancellation: Sendable {
    private struct State {
        var isCancelled = false
        /// Sends the cancellation of the call; nil while no call waits.
        var send: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())

    package init() {}

    /// Cancels the call; one that begins later is cancelled as soon as it was sent.
    package func cancel() {
        let send = state.withLock { state in
            state.isCancelled = true
            return state.send
        }
        send?()
    }

    /// The request was sent.
    package func begin(_ send: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            state.send = send
            return state.isCancelled
        }
        if isCancelled { send() }
    }

    /// The reply has arrived, or never will.
    package func end() { state.withLock { $0.send = nil } }
}
