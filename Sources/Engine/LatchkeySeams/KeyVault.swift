// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role that stores the root key, the anchor and the counters outside the database, so that restoring an old copy
/// of the database does not restore an old passcode, an old enrolment set or unused tries.
///
/// Only the owner of the store can read them. All calls block.
///
/// A vault tells what does not exist from what cannot be read now: a call that reads throws `vaultUnavailable` while the
/// device or the files of the vault cannot be reached, or the device refuses to unseal the root key. A call that writes
/// throws it too, or the status of its cause, such as `diskFull`. Such a call changes nothing, and a later one may
/// succeed.
package protocol KeyVault: AnyObject, Sendable {
    /// Returns the root key, 32 bytes.
    ///
    /// - Throws: `rootKeyMissing` if the vault has none; `storeUnreadable` if it was changed.
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
    /// The number with which the store generation is compared; nil for a vault of files, in which every number can be
    /// restored together with the anchor. The store generation in the anchor is then compared instead.
    var counter: (any MonotonicCounter)? { get }
    /// Seals the keys of enrolment sets; nil for a vault of files, where such a key is a part of the anchor.
    var enrolmentSeal: (any EnrolmentSeal)? { get }
}

/// Hardware that opens the key of an enrolment set until the set changes, so that no copy of the files opens it afterwards.
///
/// All calls block, and throw `vaultUnavailable` while the device cannot be reached.
package protocol EnrolmentSeal: AnyObject, Sendable {
    /// The number to which keys are sealed. The keychain increments it when the enrolment set changes and when what is
    /// bound to the set is discarded, and at no other time.
    var counter: any MonotonicCounter { get }
    /// Seals a key of 32 bytes; it is opened only while `counter` has that number, which may be a future one.
    ///
    /// - Throws: `anchorGone` if the counter does not exist.
    func seal(_ key: SecretBytes, at number: UInt64) throws(Failure) -> [UInt8]
    /// Opens a sealed key.
    ///
    /// - Throws: `anchorGone` if the counter does not exist or has another number, or the key was sealed by another device.
    func open(_ sealed: [UInt8], at number: UInt64) throws(Failure) -> SecretBytes
}

/// A number in hardware that only grows, so that restoring all files of a store does not restore it.
///
/// All calls block, and throw `vaultUnavailable` while the device cannot be reached.
package protocol MonotonicCounter: AnyObject, Sendable {
    /// Returns the number; nil if the counter does not exist: it was never created, or it was removed from the device.
    func value() throws(Failure) -> UInt64?
    /// Creates the counter if it does not exist, and returns its number. The first number of a counter is larger than
    /// every number that a removed counter of this store had on this device (TPM 2.0 Library, Part 3, section 31.3).
    func create() throws(Failure) -> UInt64
    /// Adds one, durably, and returns the new number. After a failure, the number has grown by one or not at all.
    ///
    /// - Throws: `anchorGone` if the counter does not exist.
    func increment() throws(Failure) -> UInt64
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

    package init(anchor: SecretBytes, counters: [UInt8]) { (self.anchor, self.counters) = (anchor, counters) }
}

/// The role of a vault whose root key a recovery code opens, also when the device that seals it is gone. All functions
/// block. The keys are derived from a code by `latchkey-authd`, 32 bytes.
package protocol RecoverableVault: Sendable {
    /// Returns whether a key opens the root key.
    func opens(_ key: SecretBytes) throws(Failure) -> Bool
    /// Returns whether any key opens the root key without its device.
    func hasCode() throws(Failure) -> Bool
    /// Makes a key open the root key, instead of every earlier one; with nil, none does. Durable on return.
    func persist(_ key: SecretBytes?) throws(Failure)
    /// Opens the root key, seals it to the present device, and makes the replacement open it instead of the key. Durable
    /// on return; on a failure nothing is changed.
    ///
    /// - Returns: whether the present device is another one than before, so that keys in that one are lost.
    /// - Throws: `itemAuthenticationFailed` for another key.
    func recover(_ key: SecretBytes, replacement: SecretBytes) throws(Failure) -> Bool
    /// Returns what the authority has had stored; empty for nothing.
    func copy() throws(Failure) -> [UInt8]
    /// Stores records of the authority that no key of this process opens; empty to remove them. Durable on return.
    func persist(copy: [UInt8]) throws(Failure)
}
