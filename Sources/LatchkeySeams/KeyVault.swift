// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role that stores the root key, the anchor and the counters outside the database, so that restoring an old copy
/// of the database does not restore an old passcode, an old enrolment set or unused tries.
///
/// Only the owner of the store can read them. All calls block.
package protocol KeyVault: AnyObject, Sendable {
    /// Returns the root key, 32 bytes.
    func rootKey() throws(Failure) -> SecretBytes
    /// Returns the anchor that was written last; nil if there is none.
    func anchor() throws(Failure) -> SecretBytes?
    /// Replaces the anchor durably and atomically, and erases the previous one.
    func replaceAnchor(_ anchor: SecretBytes) throws(Failure)
    /// Returns the contents of both counter slots; nil if the counter file is missing.
    func counterSlots() throws(Failure) -> [[UInt8]]?
    /// Overwrites counter slot 0 or 1 in place, durably.
    ///
    /// Needs no free disk space once the file exists, so that a full disk neither resets the counters nor locks the
    /// user out. `bytes` has at most `CounterSlot.capacity` bytes.
    func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure)
}

/// The size of a counter slot.
package enum CounterSlot {
    /// Maximum bytes of a slot's contents.
    package static let capacity = 1024
}

/// The contents of a new store's files outside its database.
package struct NewStoreFiles: Sendable {
    package let anchor: SecretBytes
    /// The initial contents of counter slot 0.
    package let counters: [UInt8]

    /// Creates a value from its parts.
    package init(anchor: SecretBytes, counters: [UInt8]) {
        self.anchor = anchor
        self.counters = counters
    }
}
