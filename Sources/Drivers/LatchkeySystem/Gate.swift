// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Holds what arrives before its receiver is ready, and then lets everything through in the order of arrival.
///
/// A connection delivers calls before its user is attached, and a process sends messages before its owner is known.
/// Each such place needs the same queue, limit and end, and a mistake in it reorders calls; so there is one.
///
/// With `open`, what was held is passed on by the thread that opens the gate, and what arrives meanwhile waits behind it:
/// nothing overtakes. No lock is held while a value is passed on.
package final class Gate<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case waiting([Value])
        case open
        case ended
    }

    /// What happens to a value at the gate.
    package enum Passage: Sendable {
        /// The gate is open: the caller passes the value on.
        case open
        /// The gate holds the value.
        case waits
        /// As many values wait as may; the value is not held.
        case full
        /// The gate has ended; the value is not held.
        case ended
    }

    private let state = Mutex(State.waiting([]))

    package init() {}

    /// Holds a value unless the gate is open.
    ///
    /// - Parameter limit: the number of values that may wait.
    package func enter(_ value: Value, limit: Int = .max) -> Passage {
        state.withLock { state in
            switch state {
            case .open: return .open
            case .ended: return .ended
            case .waiting(let values) where values.count >= limit: return .full
            case .waiting(var values):
                // Emptied first, so that the array has one owner and is not copied.
                state = .waiting([])
                values.append(value)
                state = .waiting(values)
                return .waits
            }
        }
    }

    /// Takes the values that wait, in order. When none does, the gate is open from now on.
    ///
    /// - Returns: the values; nil if the gate has ended.
    package func next() -> [Value]? {
        state.withLock { state in
            switch state {
            case .open: return []
            case .ended: return nil
            case .waiting(let values):
                state = values.isEmpty ? .open : .waiting([])
                return values
            }
        }
    }

    /// Opens the gate after every value that waits was passed to `receiver`.
    ///
    /// - Returns: false if the gate has ended meanwhile.
    package func open(_ receiver: (Value) -> Void) -> Bool {
        while let values = next() {
            if values.isEmpty { return true }
            for value in values { receiver(value) }
        }
        return false
    }

    /// Opens the gate at once, for a first value whose handling causes the next ones: they overtake what is returned.
    ///
    /// - Returns: the values that have waited, which the caller passes on.
    package func openAtOnce() -> [Value] {
        state.withLock { state in
            guard case .waiting(let values) = state else { return [] }
            state = .open
            return values
        }
    }

    /// Ends the gate and drops what waits.
    ///
    /// - Returns: whether the gate was open.
    @discardableResult
    package func end() -> Bool {
        state.withLock { state in
            defer { state = .ended }
            if case .open = state { return true }
            return false
        }
    }
}
