// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// A vault that calls a closure before and after each write of the anchor, and whose writes can be made to fail.
final class CopyingVault: KeyVault {
    private let vault: any KeyVault
    private let copy: @Sendable () -> Void
    /// Number of writes that succeed before all later ones fail; nil: none fails.
    private let left = Mutex<Int?>(nil)

    init(_ vault: any KeyVault, copy: @escaping @Sendable () -> Void) {
        self.vault = vault
        self.copy = copy
    }

    func failWrites(after count: Int?) { left.withLock { $0 = count } }

    private func step() throws(Failure) {
        let fails = left.withLock { left in
            guard let count = left else { return false }
            left = max(0, count - 1)
            return count == 0
        }
        if fails { throw Failure(.diskFull, "This write fails.") }
    }

    var counter: (any MonotonicCounter)? { vault.counter }
    var enrolmentSeal: (any EnrolmentSeal)? { vault.enrolmentSeal }
    func rootKey() throws(Failure) -> SecretBytes { try vault.rootKey() }
    func anchor() throws(Failure) -> SecretBytes? { try vault.anchor() }
    func replaceAnchor(_ anchor: SecretBytes) throws(Failure) {
        try step()
        copy()
        try vault.replaceAnchor(anchor)
        copy()
    }
    func counterSlots() throws(Failure) -> [[UInt8]]? { try vault.counterSlots() }
    func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure) {
        try step()
        try vault.overwriteCounterSlot(index, with: bytes)
    }
}
