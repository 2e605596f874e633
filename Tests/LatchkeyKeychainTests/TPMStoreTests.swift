// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import SQLiteDriver
import Synchronization
import SystemDriver
import TPMDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// A store whose root key and counter are in a software TPM.
@Suite(.needs(.softwareTPM)) struct TPMStoreTests {
    static let passcode = SecretBytes("1234".utf8)
    let store: StoreOnDisk
    let tpm: SwitchedTPM

    init() throws {
        store = try StoreOnDisk()
        tpm = try SwitchedTPM()
        let vault = vault()
        try store.folder.prepare { [store] () throws(Failure) in
            try store.random.bytes(32)
        } build: { [store] (path, rootKey) throws(Failure) in
            try StoreOnDisk.identity.create(
                in: SQLiteItemStore.create(at: path), rootKey: rootKey, generation: vault.createCounters(),
                random: store.random)
        } encode: { (key) throws(Failure) in
            try vault.seal(key, .chip, recoveryCode: nil)
        }
    }

    /// A vault with a connection of its own, as a newly started daemon has. The TPM takes one connection at a time.
    func vault() -> TPMKeyVault {
        TPMKeyVault(
            FileKeyVault(store.folder), rootKey: store.folder.rootKey,
            chip: TPMChip(TPMPlace(tpm.path), clock: store.clock, random: store.random), owner: [1])
    }

    func open(_ vault: any KeyVault) throws(Failure) -> Keychain {
        try StoreOnDisk.identity.open(
            SQLiteItemStore.open(store.folder.database), vault: vault, clock: store.clock, random: store.random)
    }

    /// Opens the store, and ends the connection with the result.
    func opened<R>(_ body: (Keychain) throws -> R) throws -> R { try body(open(vault())) }

    /// Adds an item and sets enrolment and passcode.
    func fill(_ keychain: Keychain) throws {
        #expect(keychain.anchor.condition == .clean)
        _ = try keychain.apply(EnrolmentSet([1]))
        try keychain.setPasscode(Self.passcode)
        try keychain.add("free", "four")
    }

    /// A match of the set that `fill` sets.
    static let match = Authorisation.testOnly([.biometry], enrolment: EnrolmentSet([1]), by: StoreOnDisk.caller)

    private func change(_ event: SecurityEvent, _ keychain: Keychain) throws {
        switch event {
        case .passcodeChanged: try keychain.changePasscode(to: SecretBytes("4321".utf8))
        case .enrollmentChanged: _ = try keychain.apply(EnrolmentSet([2]))
        case .protectedDiscarded: try keychain.discardProtected(caller: StoreOnDisk.caller, proof: .ofPasscode)
        default: try keychain.moveAnchor(isTimed: false)
        }
    }

    /// The daemon and the TPM end together before or after each of P, T, I and F; C is between the moments 1 and 2. The TPM
    /// starts again with what it had written.
    @Test(
        arguments: [SecurityEvent.passcodeChanged, .enrollmentChanged, .protectedDiscarded, .anchored].flatMap {
            event in
            (0..<CutVault.moments(of: event)).map { (event, $0) }
        })
    func anEventIsCompleteOrAbsentAfterAPowerCut_abuse35(event: SecurityEvent, moment: Int) throws {
        try opened { keychain in
            try fill(keychain)
            try keychain.add("bound", "finger", rule(.whenUnlocked, .biometryCurrentSet))
        }
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
            let isBoundAlive = moment < 2 || event == .passcodeChanged || event == .anchored
            let bound = status { _ = try keychain.secret("bound", proof: Self.match) }
            #expect(bound == (isBoundAlive ? nil : .itemNotFound))
            try keychain.moveAnchor(isTimed: false)
            #expect(keychain.anchor.record?.committed == committed + 1)
        }
        let (condition, number) = try opened { ($0.anchor.condition, $0.numberOfSet) }
        #expect(condition == .clean)
        #expect(try vault().enrolmentSeal?.counter.value() == number, "the earlier key is erased with the event")
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

    @Test(.promise("attacker.disk")) func aStoreOnAnotherTPMIsRefusedAndUnchanged() throws {
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

extension Keychain {
    /// The number to which the key of the enrolment set is sealed; nil if it is not sealed.
    var numberOfSet: UInt64? {
        guard case .sealed(_, let number)? = anchor.record?.contents.enrolmentKey else { return nil }
        return number
    }
}
