// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// The key hierarchy of one user's store (figure in `docs/reference/store-format.md`, section "Keys").
///
/// The keys of all classes are in one place, so that a lock removes them in one step.
/// `K_root` wraps `U_auto` (metadata, indexes, most classes) and, together with the stretched passcode, `U_pass` (the
/// class of `WhenPasscodeSetThisDeviceOnly`, and the key pair of the passcode).
///
/// `U_pass` is in memory only after a right passcode. `apply` wipes the keys that a lock makes unavailable, and items
/// of their classes are refused until they are available again. The tree decides nothing else about access: it has no
/// proof.
package final class KeyTree: Sendable {
    /// The header of the store, part of all associated data.
    package let header: StoreHeader
    /// Seals the attributes envelopes.
    let metadataKey: SymmetricKey
    /// Key of the blind indexes and of persistent references.
    let indexKey: AuthenticationKey
    /// Seals audit entries; the key of their hash chain is derived from it.
    let auditKey: SymmetricKey
    /// Seals the records `state` and `audit.end`.
    let recordKey: SymmetricKey
    /// Seals the counters of failed tries, a file beside the database.
    let countersKey: SymmetricKey
    /// The private key that approves uses of a TPM's keys is derived from it.
    let approvalKey: SymmetricKey
    /// Seals the anchor, a file beside the database.
    let anchorKey: SymmetricKey
    /// Key of the row hashes in the set hash.
    let setKey: AuthenticationKey
    let rootKey: SymmetricKey
    private let automaticKey: SymmetricKey
    /// The lock and the keys that it wipes, behind one mutex: a key that is derived concurrently cannot be stored
    /// after the lock has wiped the others.
    private struct OpenKeys: Sendable {
        var lock = LockState()
        var lockCount: UInt64 = 0
        var passcode: SymmetricKey?
        /// Derived from `passcode`, and wiped with it.
        var pair: PasscodePair?
        var classes: [Accessibility: SymmetricKey] = [:]
    }
    private let openKeys = Mutex(OpenKeys())
    let store: any ItemStore
    let random: any RandomSource
    /// Base-2 logarithm of scrypt's N for new stretching parameters.
    let scryptCost: UInt8

    private init(
        header: StoreHeader, rootKey: SymmetricKey, automaticKey: SymmetricKey, store: any ItemStore,
        random: any RandomSource, scryptCost: UInt8
    ) throws(Failure) {
        self.header = header
        self.rootKey = rootKey
        self.automaticKey = automaticKey
        self.store = store
        self.random = random
        self.scryptCost = scryptCost
        metadataKey = try automaticKey.derive(.metadata)
        indexKey = try AuthenticationKey(automaticKey.derive(.index))
        auditKey = try automaticKey.derive(.audit)
        recordKey = try automaticKey.derive(.record)
        countersKey = try automaticKey.derive(.counters)
        approvalKey = try automaticKey.derive(.approval)
        anchorKey = try rootKey.derive(.anchor)
        setKey = try AuthenticationKey(recordKey.derive(.set))
    }

    // MARK: - Creating and opening

    /// Writes the first records of a new store: the header, its HMAC, the wrapped `U_auto`, the end of the empty audit
    /// log and, if `generation` is not 0, the record `state`.
    ///
    /// - Parameter generation: the number of the vault's counter; 0 for a vault without one.
    /// - Returns: the first contents of the files beside the database.
    package static func create(
        in store: any ItemStore, rootKey: SecretBytes, header: StoreHeader, generation: UInt64 = 0,
        random: any RandomSource
    ) throws(Failure) -> NewStoreFiles {
        let root = try key(rootKey)
        let automatic = try random.bytes(SymmetricKey.byteCount)
        let nonce = try random.bytes(SymmetricKey.nonceBytes).copyBytes()
        let slot = try root.seal(automatic, nonce: nonce, authenticating: associatedData(header, .automaticSlot))
        let code = try root.derive(.header).authenticationCode(header.bytes)
        let recordKey = try key(automatic).derive(.record)
        // Without it from the beginning, a missing record would look like that of a log that needs none.
        let end = try recordKey.seal(
            AuditTrail.emptyEnd, nonce: random.bytes(SymmetricKey.nonceBytes).copyBytes(),
            authenticating: associatedData(header, .auditEnd))
        var state: [UInt8]?
        if generation != 0 {
            state = try recordKey.seal(
                StoreState.first(generation), nonce: random.bytes(SymmetricKey.nonceBytes).copyBytes(),
                authenticating: associatedData(header, .state))
        }
        try store.write { (store) throws(Failure) in
            try store.setRecord(RecordName.header.rawValue, header.bytes)
            try store.setRecord(RecordName.headerCode.rawValue, code)
            try store.setRecord(RecordName.automaticSlot.rawValue, slot)
            try store.setRecord(RecordName.auditEnd.rawValue, end)
            if let state { try store.setRecord(RecordName.state.rawValue, state) }
        }
        return NewStoreFiles(
            anchor: try Anchor.first(root.derive(.anchor), header, generation: generation, random),
            counters: try CounterFile.first(key(automatic).derive(.counters), header, random))
    }

    /// Throws `storeUnreadable` when the first records in the database differ from those of this tree.
    func checkHeader() throws(Failure) {
        let (bytes, code, slot) = try store.read { (store) throws(Failure) in
            (try store.record(.header), try store.record(.headerCode), try store.record(.automaticSlot))
        }
        let expected = try rootKey.derive(.header).authenticationCode(header.bytes)
        guard bytes == header.bytes, code == expected, let slot,
            try rootKey.open(slot, authenticating: associatedData(.automaticSlot)) != nil
        else { throw Failure.damagedStore("its first records were changed") }
    }

    /// Opens the key tree of an existing store.
    ///
    /// Throws `storeNewer`, `storeOlder`, `storeOfAnotherTier`, `storeOfAnotherUser`, `storeOfEarlierAccount`, or
    /// `storeUnreadable` when the first records are missing, malformed or do not match the root key.
    package static func open(
        _ store: any ItemStore, rootKey: SecretBytes, tier: Tier, userID: UInt32, account: AccountName?,
        random: any RandomSource, scryptCost: UInt8
    ) throws(Failure) -> KeyTree {
        let root = try key(rootKey)
        let (headerBytes, code, slot) = try store.read { (store) throws(Failure) in
            (try store.record(.header), try store.record(.headerCode), try store.record(.automaticSlot))
        }
        guard let headerBytes, let code, let slot else { throw Failure.damagedStore("its first records are missing") }
        let header = try StoreHeader(decoding: headerBytes)
        guard header.tier == tier else {
            throw Failure(
                .storeOfAnotherTier,
                "The store belongs to tier \(header.tier.name), and this daemon runs in tier \(tier.name).",
                hint: "Start the daemon of tier \(header.tier.name), or choose another folder with LATCHKEY_HOME.")
        }
        guard header.userID == userID else {
            throw Failure(
                .storeOfAnotherUser, "The store belongs to user \(header.userID), and this daemon runs for \(userID).",
                hint: "Use the store of the current user.")
        }
        if let stored = header.account {
            guard let account else {
                throw Failure(.invalidParameter, "A store of tier \(tier.name) needs the name of its account.")
            }
            // Stops an account that has the number of a deleted one from reading its items.
            guard account == stored else {
                throw Failure.storeOfEarlierAccount("The keychain", userID, stored: stored, current: account)
            }
        }
        let expected = try root.derive(.header).authenticationCode(header.bytes)
        guard SecretBytes(expected) == SecretBytes(code),
            let automatic = try root.open(slot, authenticating: associatedData(header, .automaticSlot))
        else { throw Failure.damagedStore("it does not belong to this root key, or its header was changed") }
        return try KeyTree(
            header: header, rootKey: root, automaticKey: try key(automatic), store: store, random: random,
            scryptCost: scryptCost)
    }

    static func key(_ secret: SecretBytes) throws(Failure) -> SymmetricKey {
        guard let key = SymmetricKey(secret) else { throw Failure.damagedStore("a key has the wrong length") }
        return key
    }

    /// The associated data of a record: its name and the header of the store.
    static func associatedData(_ header: StoreHeader, _ name: RecordName) -> [UInt8] {
        Array(name.rawValue.utf8) + [0] + header.bytes
    }

    func associatedData(_ name: RecordName) -> [UInt8] { Self.associatedData(header, name) }

    // MARK: - Class keys

    /// Returns the key that wraps the row keys of a class; nil while the device is locked for that class, or while
    /// the class needs a passcode that has not been entered.
    func classKey(_ accessibility: Accessibility) throws(Failure) -> SymmetricKey? {
        try openKeys.withLock { (keys) throws(Failure) in
            guard keys.lock.allows(accessibility) else { return nil }
            if let known = keys.classes[accessibility] { return known }
            let parent = accessibility == .whenPasscodeSetThisDeviceOnly ? keys.passcode : automaticKey
            guard let parent else { return nil }
            let key = try parent.derive(.accessibilityClass, context: [accessibility.rawValue])
            keys.classes[accessibility] = key
            return key
        }
    }

    /// Whether the lock state allows items of the class to be read and written (behaviour KC-14).
    func isAvailable(_ accessibility: Accessibility) -> Bool { openKeys.withLock { $0.lock.allows(accessibility) } }

    /// Whether the device is locked, and whether it was unlocked in this boot.
    package var lockState: LockState { openKeys.withLock { $0.lock } }

    /// Incremented by each lock; compared in `hold(_:since:)`.
    package var lockCount: UInt64 { openKeys.withLock { $0.lockCount } }

    /// Applies a lock state and wipes the keys that it makes unavailable; a locked state also wipes `U_pass`.
    package func apply(_ state: LockState) {
        openKeys.withLock { keys in
            keys.lock = state
            keys.classes = keys.classes.filter { state.allows($0.key) }
            guard state.isLocked else { return }
            keys.lockCount += 1
            (keys.passcode, keys.pair) = (nil, nil)
        }
    }

    var classesInMemory: Set<Accessibility> { openKeys.withLock { Set($0.classes.keys) } }

    // MARK: - Passcode

    /// Whether `U_pass` is in memory; the daemon does not exit on idle while it is.
    package var holdsPasscodeKey: Bool { openKeys.withLock { $0.passcode != nil } }

    /// `U_pass`; nil while it is not in memory.
    var passcodeSecret: SymmetricKey? { openKeys.withLock { $0.passcode } }

    /// The key pair of the passcode; nil while `U_pass` is not in memory, or while the device is locked for the class.
    func passcodePair(for accessibility: Accessibility) throws(Failure) -> PasscodePair? {
        try openKeys.withLock { (keys) throws(Failure) in
            guard keys.lock.allows(accessibility), let passcode = keys.passcode else { return nil }
            if let known = keys.pair { return known }
            let pair = try PasscodePair(passcode)
            keys.pair = pair
            return pair
        }
    }

    /// Stores `U_pass` in memory, unless the device was locked since `lockCount` was read: that lock has wiped the key.
    func hold(_ key: SymmetricKey, since lockCount: UInt64) {
        openKeys.withLock { keys in
            guard keys.lockCount == lockCount else { return }
            (keys.passcode, keys.pair) = (key, nil)
            keys.classes[.whenPasscodeSetThisDeviceOnly] = nil
        }
    }

    /// Wipes `U_pass` and its class key from memory.
    func forgetPasscodeKey() {
        openKeys.withLock { keys in
            (keys.passcode, keys.pair) = (nil, nil)
            keys.classes[.whenPasscodeSetThisDeviceOnly] = nil
        }
    }

    func nonce() throws(Failure) -> [UInt8] { try random.bytes(SymmetricKey.nonceBytes).copyBytes() }
}
