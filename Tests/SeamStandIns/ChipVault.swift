// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// A stand-in for a vault in a security chip: another vault beside a counter that outlives every copy of the other
/// vault's contents. It protects nothing.
package final class ChipVault: KeyVault {
    /// What the chip answers.
    package enum Condition: Sendable {
        case ready
        /// The chip does not answer, or does not unseal.
        case unavailable
        /// The chip was cleared: the root key and the counter do not exist.
        case cleared
    }

    private let inner: any KeyVault
    private let chip: ChipCounter

    /// Creates a vault whose counter is `chip`, and whose other contents are in `inner`.
    package init(_ inner: any KeyVault, _ chip: ChipCounter) { (self.inner, self.chip) = (inner, chip) }

    package var counter: (any MonotonicCounter)? { chip }

    package var enrolmentSeal: (any EnrolmentSeal)? { nil }

    package func rootKey() throws(Failure) -> SecretBytes {
        try chip.check()
        guard chip.condition != .cleared else { throw Failure(.rootKeyMissing, "The chip was cleared.") }
        return try inner.rootKey()
    }

    package func anchor() throws(Failure) -> SecretBytes? {
        try chip.check()
        return try inner.anchor()
    }

    package func replaceAnchor(_ anchor: SecretBytes) throws(Failure) {
        try chip.check()
        try inner.replaceAnchor(anchor)
    }

    package func counterSlots() throws(Failure) -> [[UInt8]]? {
        try chip.check()
        return try inner.counterSlots()
    }

    package func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure) {
        try chip.check()
        try inner.overwriteCounterSlot(index, with: bytes)
    }
}

/// The counter of a `ChipVault`.
package final class ChipCounter: MonotonicCounter {
    private struct State: Sendable {
        var condition = ChipVault.Condition.ready
        var number: UInt64?
        /// The largest number that any counter of the chip had.
        var largest: UInt64
        var fails = false
        var observer: (@Sendable () -> Void)?
    }
    private let state: Mutex<State>

    /// Creates a chip without a counter, on which counters up to `largest` existed.
    package init(largest: UInt64 = 0) { state = Mutex(State(number: nil, largest: largest)) }

    /// What the chip answers.
    package var condition: ChipVault.Condition {
        get { state.withLock { $0.condition } }
        set { state.withLock { $0.condition = newValue } }
    }

    /// Whether each increment fails and changes nothing.
    package func failIncrements(_ fails: Bool) { state.withLock { $0.fails = fails } }

    /// Calls `body` before and after each increment.
    package func observeIncrements(_ body: (@Sendable () -> Void)?) { state.withLock { $0.observer = body } }

    /// The number, read without the chip's conditions; assigning it plays another chip, or the same one at another
    /// time.
    package var number: UInt64? {
        get { state.withLock { $0.number } }
        set {
            state.withLock { state in
                state.number = newValue
                state.largest = max(state.largest, newValue ?? 0)
            }
        }
    }

    func check() throws(Failure) {
        if condition == .unavailable { throw Failure(.vaultUnavailable, "The chip does not answer.") }
    }

    package func value() throws(Failure) -> UInt64? {
        try check()
        return state.withLock { $0.condition == .cleared ? nil : $0.number }
    }

    package func create() throws(Failure) -> UInt64 {
        try check()
        return state.withLock { state in
            if state.condition == .ready, let number = state.number { return number }
            state.condition = .ready
            state.largest += 1
            state.number = state.largest
            return state.largest
        }
    }

    package func increment() throws(Failure) -> UInt64 {
        guard try value() != nil else { throw Failure(.anchorGone, "The chip has no counter.") }
        let (fails, observer) = state.withLock { ($0.fails, $0.observer) }
        if fails { throw Failure(.vaultUnavailable, "The chip does not increment.") }
        observer?()
        let number = state.withLock { state in
            state.largest = max(state.largest, (state.number ?? 0) + 1)
            state.number = (state.number ?? 0) + 1
            return state.number ?? 0
        }
        observer?()
        return number
    }
}
