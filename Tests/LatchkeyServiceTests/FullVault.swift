// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// A vault whose anchor cannot be written while the disk is full.
final class FullVault: KeyVault {
    private let vault: any KeyVault
    /// The writes that succeed from now on; nil for every write.
    private let room = Mutex<Int?>(nil)

    init(_ vault: any KeyVault) { self.vault = vault }

    /// Makes writes of the anchor fail after that many.
    func fill(after writes: Int = 0) { room.withLock { $0 = writes } }

    func empty() { room.withLock { $0 = nil } }

    var counter: (any MonotonicCounter)? { vault.counter }
    var enrolmentSeal: (any EnrolmentSeal)? { vault.enrolmentSeal }
    func rootKey() throws(Failure) -> SecretBytes { try vault.rootKey() }
    func anchor() throws(Failure) -> SecretBytes? { try vault.anchor() }
    func replaceAnchor(_ anchor: SecretBytes) throws(Failure) {
        let isFull = room.withLock { room in
            defer { room = room.map { max(0, $0 - 1) } }
            return room == 0
        }
        if isFull { throw Failure(.diskFull, "The anchor cannot be written.") }
        try vault.replaceAnchor(anchor)
    }
    func counterSlots() throws(Failure) -> [[UInt8]]? { try vault.counterSlots() }
    func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure) {
        try vault.overwriteCounterSlot(index, with: bytes)
    }
}
