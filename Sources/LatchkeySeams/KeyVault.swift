// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Where the root key, the anchor and the counters rest, outside the database: an old copy of the database must not
/// bring back an old passcode, an old enrolment set or unused tries.
///
/// A driver keeps them so that only the owner of the store reads them; every call blocks.
package protocol KeyVault: AnyObject, Sendable {
    /// The root key: 32 bytes.
    func rootKey() throws(Failure) -> SecretBytes
    /// The anchor as it was last written; nil when there is none.
    func anchor() throws(Failure) -> SecretBytes?
    /// Replaces the anchor durably, so that a crash leaves the old or the new one; what it replaces is erased.
    func replaceAnchor(_ anchor: SecretBytes) throws(Failure)
    /// The contents of both counter slots; nil when there is no such file.
    func counterSlots() throws(Failure) -> [[UInt8]]?
    /// Overwrites counter slot 0 or 1 in place, durably. Needs no free space once the file exists: a full disk must
    /// neither reset the counters nor lock the owner out. `bytes` has at most `CounterSlot.capacity` bytes.
    func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure)
}

/// Size of a counter slot.
package enum CounterSlot {
    /// Bytes that a slot holds at most.
    package static let capacity = 1024
}

/// What a new store has outside its database.
package struct NewStoreFiles: Sendable {
    package let anchor: SecretBytes
    /// The first contents of counter slot 0.
    package let counters: [UInt8]

    /// Collects the parts.
    package init(anchor: SecretBytes, counters: [UInt8]) {
        self.anchor = anchor
        self.counters = counters
    }
}
