// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What a daemon has opened for its users: for at most a number of them, and for none after it has begun to stop.
package final class OpenByUser<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var values: [UInt32: Value] = [:]
        var isStopped = false
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: maximum users for whom something is open at the same time.
    package init(limit: Int) { self.limit = limit }

    /// What is open, in no order.
    package var all: [Value] { state.withLock { Array($0.values.values) } }

    /// Whether `stop` was called.
    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// What is open for a user; nil for nothing.
    package func value(of user: UInt32) -> Value? { state.withLock { $0.values[user] } }

    /// Whether something can be opened for a user. What is open for the same user would be replaced, so it takes no more
    /// room.
    package func hasRoom(for user: UInt32) -> Bool {
        state.withLock { $0.values[user] != nil || $0.values.count < limit }
    }

    /// Keeps what was opened for a user.
    ///
    /// - Returns: false if `stop` was called meanwhile, so that it did not include `value`; nothing is kept then.
    package func keep(_ value: Value, for user: UInt32) -> Bool {
        state.withLock { state in
            guard !state.isStopped else { return false }
            state.values[user] = value
            return true
        }
    }

    /// Ends the keeping, and returns everything that is open.
    package func stop() -> [Value] {
        state.withLock { state in
            state.isStopped = true
            return Array(state.values.values)
        }
    }
}
