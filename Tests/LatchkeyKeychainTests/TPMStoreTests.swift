// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import SQLiteDriver
import Synchronization
import SystemDriver
import TPMDriver
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// A store whose root key and counter are in a software TPM.
@Suite(.needs(.softwareTPM)) struct TPMStoreTests {
    private static let passcode = SecretBytes("1234".utf8)
    private let store: StoreOnDisk
    private let tpm: SwitchedTPM

    init() throws {
        store = try StoreOnDisk()
        tpm = try SwitchedTPM()
        let vault = vault()
        try store.folder.prepare { [store] () throws(Failure) in
            try store.random.bytes(32)
        } build: { [store] (path, rootKey) throws(Failure) in
            try StoreOnDisk.identity.create(
                in: SQLiteItemStore.create(at: path), rootKey: rootKey, generation: vault.counter?.create() ?? 0,
                random: store.random)
        } encode: { (key) throws(Failure) in
            try vault.seal(key, .chip, recoveryCode: nil)
        }
    }

    /// A vault with a connection of its own, as a newly started daemon has. The TPM takes one connection at a time.
    private func vault() -> TPMKeyVault {
        TPMKeyVault(
            FileKeyVault(store.folder), rootKey: store.folder.rootKey,
            chip: TPMChip(TPMPlace(tpm.path), clock: store.clock, random: store.random), owner: [1])
    }

    private func open(_ vault: any KeyVault) throws(Failure) -> Keychain {
        try StoreOnDisk.identity.open(
            SQLiteItemStore.open(store.folder.database), vault: vault, clock: store.clock, random: store.random)
    }

    /// Opens the store, and ends the connection with the result.
    private func opened<R>(_ body: (Keychain) throws -> R) throws -> R { try body(open(vault())) }

    /// Adds an item and sets enrolment and passcode.
    private func fill(_ keychain: Keychain) throws {
        #expect(keychain.anchor.condition == .clean)
        _ = try keychain.follow(EnrolmentSet([1]))
        try keychain.setPasscode(Self.passcode)
        try keychain.add("free", "four")
    }

    private func change(_ event: SecurityEvent, _ keychain: Keychain) throws {
        switch event {
        case .passcodeChanged: try keychain.changePasscode(to: SecretBytes("4321".utf8))
        case .enrolmentChanged: _ = try keychain.follow(EnrolmentSet([2]))
        case .protectedDiscarded: try keychain.discardProtected(caller: StoreOnDisk.caller, proof: .ofPasscode)
        default: try keychain.moveAnchor(isTimed: false)
        }
    }

    /// The daemon and the TPM end together before or after each of P, I and F; C is between the moments 1 and 2. The TPM
    /// starts again with what it had written.
    @Test(
        arguments: [SecurityEvent.passcodeChanged, .enrolmentChanged, .protectedDiscarded, .anchored],
        0..<CutVault.moments)
    func anEventIsCompleteOrAbsentAfterAPowerCut_abuse35(event: SecurityEvent, moment: Int) throws {
        try opened { try fill($0) }
        let files = Mutex<[String: Data]>([:])
        var before: UInt64 = 0
        do {
            let cut = CutVault(vault()) { [store, tpm] number in
                guard number == moment else { return }
                files.withLock { $0 = (try? store.files()) ?? [:] }
                tpm.cutPower()
            }
            let keychain = try open(cut)
            #expect(try keychain.unlock(Self.passcode))
            before = try #require(keychain.anchor.record?.committed)
            cut.begin()
            // From the cut on the writes fail or are lost with the files that are restored now.
            _ = status { try change(event, keychain) }
            #expect(cut.passed > moment)
        }
        try store.restore(files.withLock { $0 })
        try tpm.start()
        try opened { keychain in
            #expect(keychain.anchor.condition == .clean)
            let committed = try #require(keychain.anchor.record?.committed)
            #expect(committed == (moment < 2 ? before : before + 1))
            #expect(try keychain.secret("free") == "four")
            try keychain.moveAnchor(isTimed: false)
            #expect(keychain.anchor.record?.committed == committed + 1)
        }
        #expect(try opened { $0.anchor.condition } == .clean)
    }

    @Test func aRestoredCopyOfTheWholeFolderIsRefusedByTheTPM_abuse29() throws {
        try opened { try fill($0) }
        let copy = try store.files()
        try opened { try $0.moveAnchor(isTimed: false) }
        try store.restore(copy)
        try opened { keychain in
            #expect(keychain.anchor.condition == .rolledBack)
            #expect(status { _ = try keychain.secret("free") } == .storeRolledBack)
            try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
        }
        #expect(try opened { $0.anchor.condition } == .clean)
    }

    @Test func aStoreOnAnotherTPMIsRefusedAndUnchanged() throws {
        try opened { try fill($0) }
        let copy = try store.files()
        let other = try SwitchedTPM()
        let vault = TPMKeyVault(
            FileKeyVault(store.folder), rootKey: store.folder.rootKey,
            chip: TPMChip(TPMPlace(other.path), clock: store.clock, random: store.random), owner: [1])
        #expect(status { _ = try open(vault) } == .tpmReplaced)
        #expect(try store.files()["anchor"] == copy["anchor"])
        #expect(try store.files()["root.key"] == copy["root.key"])
    }
}

/// A vault that calls a closure before and after each write of the anchor and each increment of the counter.
private final class CutVault: KeyVault {
    /// Before and after P, I and F of one event.
    static let moments = 6
    private let vault: TPMKeyVault
    private let body: @Sendable (Int) -> Void
    private let state = Mutex<Int?>(nil)

    init(_ vault: TPMKeyVault, _ body: @escaping @Sendable (Int) -> Void) { (self.vault, self.body) = (vault, body) }

    /// Begins to count.
    func begin() { state.withLock { $0 = 0 } }

    /// The number of moments so far.
    var passed: Int { state.withLock { $0 ?? 0 } }

    fileprivate func step() {
        let number = state.withLock { state in
            defer { state = state.map { $0 + 1 } }
            return state
        }
        if let number { body(number) }
    }

    var counter: (any MonotonicCounter)? { vault.counter.map { CutCounter(vault: self, counter: $0) } }
    func rootKey() throws(Failure) -> SecretBytes { try vault.rootKey() }
    func anchor() throws(Failure) -> SecretBytes? { try vault.anchor() }
    func replaceAnchor(_ anchor: SecretBytes) throws(Failure) {
        step()
        try vault.replaceAnchor(anchor)
        step()
    }
    func counterSlots() throws(Failure) -> [[UInt8]]? { try vault.counterSlots() }
    func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure) {
        try vault.overwriteCounterSlot(index, with: bytes)
    }
}

private final class CutCounter: MonotonicCounter {
    private let vault: CutVault
    private let counter: any MonotonicCounter

    init(vault: CutVault, counter: any MonotonicCounter) { (self.vault, self.counter) = (vault, counter) }

    func value() throws(Failure) -> UInt64? { try counter.value() }
    func create() throws(Failure) -> UInt64 { try counter.create() }
    func increment() throws(Failure) -> UInt64 {
        vault.step()
        let number = try counter.increment()
        vault.step()
        return number
    }
}
