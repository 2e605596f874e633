// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// Stores root key, anchor and counters in memory, for tests.
package final class MemoryKeyVault: KeyVault {
    private struct State: Sendable {
        var anchor: SecretBytes?
        var slots: [[UInt8]]?
    }
    private let key: SecretBytes
    private let state = Mutex(State())

    /// Makes a vault with that root key, without anchor and counters.
    package init(rootKey: SecretBytes) { key = rootKey }

    package var counter: (any MonotonicCounter)? { nil }
    package var enrolmentSeal: (any EnrolmentSeal)? { nil }

    package func rootKey() throws(Failure) -> SecretBytes { key }
    package func anchor() throws(Failure) -> SecretBytes? { state.withLock { $0.anchor } }
    package func replaceAnchor(_ anchor: SecretBytes) throws(Failure) { state.withLock { $0.anchor = anchor } }
    package func counterSlots() throws(Failure) -> [[UInt8]]? { state.withLock { $0.slots } }
    package func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure) {
        state.withLock { state in
            var slots = state.slots ?? [[], []]
            slots[index] = bytes
            state.slots = slots
        }
    }
}
