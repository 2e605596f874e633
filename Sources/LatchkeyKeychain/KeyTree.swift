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
    private let rootKey: SymmetricKey
    private let automaticKey: SymmetricKey
    private let passcodeKey = Mutex<SymmetricKey?>(nil)
    private let classKeys = Mutex<[Accessibility: SymmetricKey]>([:])
    private let lock = Mutex(LockState())
    let store: any ItemStore
    let random: any RandomSource
    /// Exponent of scrypt's cost for what is stretched from now on.
    let scryptCost: UInt8

    private static let automaticSlot = "slot.automatic"
    private static let passcodeSlot = "slot.passcode"

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
    }

    // MARK: - Making and opening

    /// Writes the first records of a new store.
    package static func create(
        in store: any ItemStore, rootKey: SecretBytes, header: StoreHeader, random: any RandomSource
    ) throws(Failure) {
        let root = try key(rootKey)
        let automatic = try random.bytes(SymmetricKey.byteCount)
        let nonce = try random.bytes(SymmetricKey.nonceBytes).copyBytes()
        let slot = try root.seal(automatic, nonce: nonce, binding: binding(header, automaticSlot))
        let code = try root.derive(.header).authenticationCode(header.bytes)
        try store.write { (store) throws(Failure) in
            try store.setRecord(StoreHeader.recordName, header.bytes)
            try store.setRecord("header.code", code)
            try store.setRecord(automaticSlot, slot)
        }
    }

    /// Throws when the first records are not those that this tree was opened with.
    func checkHeader() throws(Failure) {
        let (bytes, code, slot) = try store.read { (store) throws(Failure) in
            (
                try store.record(StoreHeader.recordName), try store.record("header.code"),
                try store.record(Self.automaticSlot)
            )
        }
        let expected = try rootKey.derive(.header).authenticationCode(header.bytes)
        guard bytes == header.bytes, code == expected, let slot,
            try rootKey.open(slot, binding: Self.binding(header, Self.automaticSlot)) != nil
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
                try store.record(StoreHeader.recordName), try store.record("header.code"),
                try store.record(automaticSlot)
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
            let automatic = try root.open(slot, binding: binding(header, automaticSlot))
        else { throw Failure.damagedStore("it does not belong to this root key, or its header was changed") }
        return try KeyTree(
            header: header, rootKey: root, automaticKey: try key(automatic), store: store, random: random,
            scryptCost: scryptCost)
    }

    static func key(_ secret: SecretBytes) throws(Failure) -> SymmetricKey {
        guard let key = SymmetricKey(secret) else { throw Failure.damagedStore("a key has the wrong length") }
        return key
    }

    static func binding(_ header: StoreHeader, _ name: String) -> [UInt8] { Array(name.utf8) + [0] + header.bytes }

    // MARK: - Class keys

    /// The key that row keys of a class are wrapped under; nil while it needs a passcode that has not been seen, or the
    /// device is locked.
    func classKey(_ accessibility: Accessibility) throws(Failure) -> SymmetricKey? {
        guard isAvailable(accessibility) else { return nil }
        if let known = classKeys.withLock({ $0[accessibility] }) { return known }
        var parent: SymmetricKey? = automaticKey
        if accessibility == .whenPasscodeSetThisDeviceOnly { parent = passcodeKey.withLock { $0 } }
        guard let parent else { return nil }
        let key = try parent.derive(.accessibilityClass, context: [accessibility.rawValue])
        classKeys.withLock { $0[accessibility] = key }
        return key
    }

    /// Whether the lock lets items of the class be read and written (behaviour KC-14).
    func isAvailable(_ accessibility: Accessibility) -> Bool { lock.withLock { $0.allows(accessibility) } }

    /// Whether the device is locked, and was unlocked in this boot.
    package var lockState: LockState { lock.withLock { $0 } }

    /// Takes up the state of the lock. Keys of the classes it closes leave memory, and so does `U_pass`.
    package func follow(_ state: LockState) {
        lock.withLock { $0 = state }
        classKeys.withLock { keys in keys = keys.filter { state.allows($0.key) } }
        if state.isLocked { passcodeKey.withLock { $0 = nil } }
    }

    // MARK: - Passcode

    /// Whether `U_pass` is in memory: the daemon keeps running while it is.
    package var holdsPasscodeKey: Bool { passcodeKey.withLock { $0 != nil } }

    /// Whether a passcode exists.
    package func isPasscodeSet() throws(Failure) -> Bool {
        try store.read { (store) throws(Failure) in try store.record(Self.passcodeSlot) } != nil
    }

    /// Whether `passcode` opens its slot; if so, `U_pass` is in memory afterwards. Blocks for the time of scrypt.
    package func unlock(_ passcode: SecretBytes) throws(Failure) -> Bool {
        guard let slot = try store.read({ (store) throws(Failure) in try store.record(Self.passcodeSlot) }) else {
            return false
        }
        guard let key = try open(slot, passcode) else { return false }
        passcodeKey.withLock { $0 = key }
        return true
    }

    /// What is written in the same transaction as the store's own record.
    package typealias Addition = (any ItemWriting) throws(Failure) -> Void

    /// Makes a new `U_pass` behind a first passcode.
    package func setPasscode(
        _ passcode: SecretBytes, also addition: Addition = { _ throws(Failure) in }
    ) throws(Failure) {
        let key = try Self.key(try random.bytes(SymmetricKey.byteCount))
        try keep(key, behind: passcode, addition)
        forgetPasscodeClass()
        passcodeKey.withLock { $0 = key }
    }

    /// Puts the same `U_pass` behind another passcode. The old one has been checked by `unlock`.
    package func changePasscode(
        to passcode: SecretBytes, also addition: Addition = { _ throws(Failure) in }
    ) throws(Failure) {
        guard let key = passcodeKey.withLock({ $0 }) else { throw Failure(.passcodeNotSet, "No passcode is set.") }
        try keep(key, behind: passcode, addition)
    }

    /// Erases the slot of `U_pass` within a transaction: what it protected cannot be read any more.
    func removePasscode(in store: any ItemWriting) throws(Failure) { try store.setRecord(Self.passcodeSlot, nil) }

    /// Drops `U_pass` from memory.
    func forgetPasscodeKey() {
        passcodeKey.withLock { $0 = nil }
        forgetPasscodeClass()
    }

    private func forgetPasscodeClass() {
        classKeys.withLock { $0[.whenPasscodeSetThisDeviceOnly] = nil }
    }

    /// Slot: cost, salt, then `U_pass` sealed under the stretched passcode and that again under `K_root`, so that a
    /// copied database cannot be searched for the passcode without the root key.
    private func keep(
        _ key: SymmetricKey, behind passcode: SecretBytes, _ addition: Addition
    ) throws(Failure) {
        let salt = try random.bytes(16).copyBytes()
        let binding = Self.binding(header, Self.passcodeSlot) + [scryptCost] + salt
        let stretched = try Self.stretch(passcode, salt: salt, cost: scryptCost)
        let inner = try stretched.seal(key.secret, nonce: nonce(), binding: binding)
        let outer = try rootKey.seal(SecretBytes(inner), nonce: nonce(), binding: binding)
        let slot = [1, scryptCost] + salt + outer
        try store.write { (store) throws(Failure) in
            try store.setRecord(Self.passcodeSlot, slot)
            try addition(store)
        }
    }

    /// Throws when a record that is sealed with the record key was changed.
    func checkRecord(_ name: String) throws(Failure) {
        guard let sealed = try store.read({ (store) throws(Failure) in try store.record(name) }) else { return }
        guard try recordKey.open(sealed, binding: Self.binding(header, name)) != nil else {
            throw Failure.damagedStore("its record \(name) was changed")
        }
    }

    /// Throws when the slot of the passcode was changed; needs no passcode.
    func checkPasscodeSlot() throws(Failure) {
        let slot = try store.read { (store) throws(Failure) in try store.record(Self.passcodeSlot) }
        if let slot { _ = try openOuter(slot) }
    }

    private func openOuter(_ slot: [UInt8]) throws(Failure) -> (salt: [UInt8], binding: [UInt8], inner: SecretBytes) {
        guard slot.count > 18, slot[0] == 1, (1...20).contains(slot[1]) else {
            throw Failure.damagedStore("its passcode slot cannot be read")
        }
        let salt = Array(slot[2..<18])
        let binding = Self.binding(header, Self.passcodeSlot) + [slot[1]] + salt
        guard let inner = try rootKey.open(slot[18...], binding: binding) else {
            throw Failure.damagedStore("its passcode slot was changed")
        }
        return (salt, binding, inner)
    }

    private func open(_ slot: [UInt8], _ passcode: SecretBytes) throws(Failure) -> SymmetricKey? {
        let (salt, binding, inner) = try openOuter(slot)
        let stretched = try Self.stretch(passcode, salt: salt, cost: slot[1])
        guard let secret = try stretched.open(inner.copyBytes(), binding: binding) else { return nil }
        return try Self.key(secret)
    }

    /// One byte is put behind the passcode: scrypt's inner HMAC fills a short key up with zeros, so that passcodes which
    /// differ in trailing zero bytes only would open each other's slot.
    static func stretch(_ passcode: SecretBytes, salt: [UInt8], cost: UInt8) throws(Failure) -> SymmetricKey {
        let ended = SecretBytes(count: passcode.count + 1) { memory in
            passcode.withBytes { memory.copyMemory(from: $0) }
            memory[passcode.count] = 1
        }
        return try SymmetricKey.stretching(ended, salt: salt, cost: cost)
    }

    func nonce() throws(Failure) -> [UInt8] { try random.bytes(SymmetricKey.nonceBytes).copyBytes() }
}
