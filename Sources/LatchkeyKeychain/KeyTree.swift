// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// The keys of one user's store: `docs/store-format.md` draws the tree.
///
/// `K_root` wraps `U_auto` (metadata, indexes, most classes) and, together with the passcode, `U_pass` (the class of
/// `WhenPasscodeSetThisDeviceOnly`). `U_pass` is in memory only after the passcode was seen.
package final class KeyTree: Sendable {
    /// The header the tree belongs to.
    package let header: StoreHeader
    /// Seals and opens attributes.
    let metadataKey: SymmetricKey
    /// Makes blind indexes.
    let indexKey: AuthenticationKey
    /// Seals and chains audit entries.
    let auditKey: SymmetricKey
    /// Seals small records of the store's own.
    let recordKey: SymmetricKey
    /// Seals the counters of failed tries, which rest outside the database.
    let countersKey: SymmetricKey
    /// Seals the anchor, which rests outside the database.
    let anchorKey: SymmetricKey
    /// Makes the hashes of the set of rows.
    let setKey: AuthenticationKey
    let rootKey: SymmetricKey
    private let automaticKey: SymmetricKey
    /// What a lock wipes, and the lock itself: one mutex for all, so that a key derived meanwhile cannot be put in after
    /// the lock has wiped the others.
    private struct OpenKeys: Sendable {
        var lock = LockState()
        var lockCount: UInt64 = 0
        var passcode: SymmetricKey?
        var classes: [Accessibility: SymmetricKey] = [:]
    }
    private let openKeys = Mutex(OpenKeys())
    let store: any ItemStore
    let random: any RandomSource
    /// Exponent of scrypt's cost for what is stretched from now on.
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
        anchorKey = try rootKey.derive(.anchor)
        setKey = try AuthenticationKey(recordKey.derive(.set))
    }

    // MARK: - Making and opening

    /// Writes the first records of a new store.
    /// - Returns: what belongs beside the database.
    package static func create(
        in store: any ItemStore, rootKey: SecretBytes, header: StoreHeader, random: any RandomSource
    ) throws(Failure) -> NewStoreFiles {
        let root = try key(rootKey)
        let automatic = try random.bytes(SymmetricKey.byteCount)
        let nonce = try random.bytes(SymmetricKey.nonceBytes).copyBytes()
        let slot = try root.seal(automatic, nonce: nonce, authenticating: associatedData(header, .automaticSlot))
        let code = try root.derive(.header).authenticationCode(header.bytes)
        try store.write { (store) throws(Failure) in
            try store.setRecord(RecordName.header.rawValue, header.bytes)
            try store.setRecord(RecordName.headerCode.rawValue, code)
            try store.setRecord(RecordName.automaticSlot.rawValue, slot)
        }
        return NewStoreFiles(
            anchor: try Anchor.first(root.derive(.anchor), header, random),
            counters: try CounterFile.first(key(automatic).derive(.counters), header, random))
    }

    /// Throws when the first records are not those that this tree was opened with.
    func checkHeader() throws(Failure) {
        let (bytes, code, slot) = try store.read { (store) throws(Failure) in
            (
                try store.record(.header), try store.record(.headerCode),
                try store.record(.automaticSlot)
            )
        }
        let expected = try rootKey.derive(.header).authenticationCode(header.bytes)
        guard bytes == header.bytes, code == expected, let slot,
            try rootKey.open(slot, authenticating: associatedData(.automaticSlot)) != nil
        else { throw Failure.damagedStore("its first records were changed") }
    }

    /// Opens the tree of an existing store; refuses another tier, another user, and any change made without the key.
    package static func open(
        _ store: any ItemStore, rootKey: SecretBytes, tier: Tier, userID: UInt32, random: any RandomSource,
        scryptCost: UInt8
    ) throws(Failure) -> KeyTree {
        let root = try key(rootKey)
        let (headerBytes, code, slot) = try store.read { (store) throws(Failure) in
            (
                try store.record(.header), try store.record(.headerCode),
                try store.record(.automaticSlot)
            )
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
                hint: "Use the store of the user you are.")
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

    /// What a record is bound to: its name and the header of the store.
    static func associatedData(_ header: StoreHeader, _ name: RecordName) -> [UInt8] {
        Array(name.rawValue.utf8) + [0] + header.bytes
    }

    func associatedData(_ name: RecordName) -> [UInt8] { Self.associatedData(header, name) }

    // MARK: - Class keys

    /// The key that row keys of a class are wrapped under; nil while it needs a passcode that has not been seen, or the
    /// device is locked.
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

    /// Whether the lock lets items of the class be read and written (behaviour KC-14).
    func isAvailable(_ accessibility: Accessibility) -> Bool { openKeys.withLock { $0.lock.allows(accessibility) } }

    /// Whether the device is locked, and was unlocked in this boot.
    package var lockState: LockState { openKeys.withLock { $0.lock } }

    /// Counts the locks, for `unlock`.
    package var lockCount: UInt64 { openKeys.withLock { $0.lockCount } }

    /// Takes up the state of the lock. Keys of the classes it closes leave memory, and so does `U_pass`.
    package func follow(_ state: LockState) {
        openKeys.withLock { keys in
            keys.lock = state
            keys.classes = keys.classes.filter { state.allows($0.key) }
            guard state.isLocked else { return }
            keys.lockCount += 1
            keys.passcode = nil
        }
    }

    /// Classes whose keys are in memory.
    var classesInMemory: Set<Accessibility> { openKeys.withLock { Set($0.classes.keys) } }

    // MARK: - Passcode

    /// Whether `U_pass` is in memory: the daemon keeps running while it is.
    package var holdsPasscodeKey: Bool { openKeys.withLock { $0.passcode != nil } }

    /// `U_pass`, while it is in memory.
    var passcodeSecret: SymmetricKey? { openKeys.withLock { $0.passcode } }

    /// Takes `U_pass` into memory, unless the device was locked since `lockCount` was read: a lock that came meanwhile has
    /// wiped the key, and it does not come back.
    func hold(_ key: SymmetricKey, since lockCount: UInt64) {
        openKeys.withLock { keys in
            guard keys.lockCount == lockCount else { return }
            keys.passcode = key
            keys.classes[.whenPasscodeSetThisDeviceOnly] = nil
        }
    }

    /// Drops `U_pass` from memory.
    func forgetPasscodeKey() {
        openKeys.withLock { keys in
            keys.passcode = nil
            keys.classes[.whenPasscodeSetThisDeviceOnly] = nil
        }
    }

    func nonce() throws(Failure) -> [UInt8] { try random.bytes(SymmetricKey.nonceBytes).copyBytes() }
}
