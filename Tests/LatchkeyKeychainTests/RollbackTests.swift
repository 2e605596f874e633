// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

/// An older database beside a newer anchor opens only after the passcode; its bound items are invalidated, and
/// nothing else is lost (abuse case 29, at the level of the engine).
@Suite struct RollbackTests {
    private static let first = EnrolmentSet([UInt8](repeating: 1, count: 16))
    private static let second = EnrolmentSet([UInt8](repeating: 2, count: 16))
    private static let third = EnrolmentSet([UInt8](repeating: 3, count: 16))
    private static let match = Authorisation.testOnly([.biometry], enrolment: first, by: StoreOnDisk.caller)
    private static let passcode = SecretBytes("1234".utf8)
    private let store: StoreOnDisk

    /// Makes a store, copies its database, changes the enrolment set, and restores the copy.
    init() throws {
        store = try StoreOnDisk()
        do {
            let keychain = try store.open()
            _ = try keychain.apply(Self.first)
            try keychain.setPasscode(Self.passcode)
            try keychain.add("bound", "one", rule(.whenUnlocked, .biometryCurrentSet))
            try keychain.add("any", "two", rule(.whenUnlocked, .biometryAny))
            try keychain.add("passcode", "three", rule(.whenPasscodeSetThisDeviceOnly))
            try keychain.add("free", "four")
        }
        let backup = try store.files()
        _ = try store.open().apply(Self.second)
        var mixed = backup
        for name in ["anchor", "counters"] { mixed[name] = try store.files()[name] }
        try store.restore(mixed)
    }

    /// Returns the failure of each kind of call.
    private func refusals(_ keychain: Keychain) -> [Status?] {
        [
            status { _ = try keychain.secret("free") },
            status { _ = try keychain.find(ItemQuery(itemClass: .genericPassword), returns: []) },
            status { try keychain.list(ItemQuery(itemClass: .genericPassword), caller: StoreOnDisk.caller) { _ in } },
            status { try keychain.add("new") },
            status { _ = try keychain.update(.account("free"), secret: "new") },
            status { try keychain.delete(.account("free"), caller: StoreOnDisk.caller) },
        ]
    }

    @Test(.promise("abuse.29")) func everyCallIsRefusedUntilThePasscodeIsEntered_abuse29() throws {
        let keychain = try store.open()
        #expect(keychain.isRolledBack)
        #expect(refusals(keychain) == Array(repeating: .storeRolledBack, count: 6))
        #expect(try store.rows().count == 4)
    }

    @Test func theNamesOfItsItemsAreRefusedBeforeAPrompt_abuse29() throws {
        let clock = VirtualClock()
        let keychain = try store.open(clock: clock)
        #expect(keychain.isRolledBack && keychain.isPasscodeSet)
        #expect(try StartedService(keychain, clock: clock).listNames() == .storeRolledBack)
    }

    @Test func theRefusalSurvivesARestart_abuse29() throws {
        _ = try store.open()
        let keychain = try store.open()
        #expect(refusals(keychain) == Array(repeating: .storeRolledBack, count: 6))
    }

    @Test(.promise("abuse.29")) func aWrongPasscodeDoesNotOpenIt_abuse29() throws {
        let keychain = try store.open()
        #expect(try !keychain.unlock(SecretBytes("4321".utf8)))
        #expect(refusals(keychain) == Array(repeating: .storeRolledBack, count: 6))
    }

    @Test(.promise("rollback.bound")) func afterThePasscodeBoundItemsAreInvalidatedAndNothingElseIsLost_abuse29() throws
    {
        do {
            let keychain = try store.open()
            #expect(try keychain.unlock(Self.passcode))
            try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
            #expect(!keychain.isRolledBack)
            #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
            let match = Authorisation.testOnly([.biometry], enrolment: Self.second, by: StoreOnDisk.caller)
            #expect(try keychain.secret("any", proof: match) == "two")
            #expect(try keychain.secret("passcode") == "three")
            #expect(try keychain.secret("free") == "four")
        }
        let keychain = try store.open()
        #expect(!keychain.isRolledBack, "also after a restart")
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
    }

    /// If it did, enrolling or removing a finger would accept a restored database.
    @Test func anEnrolmentChangeDoesNotReplaceThePasscode_abuse29() throws {
        do {
            let keychain = try store.open()
            #expect(status { _ = try keychain.apply(Self.third) } == .storeRolledBack)
            #expect(keychain.isRolledBack)
        }
        let keychain = try store.open()
        #expect(refusals(keychain) == Array(repeating: .storeRolledBack, count: 6))
        try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
        #expect(try keychain.secret("free") == "four")
    }

    @Test(.promise("abuse.29"), arguments: [nil, [1, 2, 3]] as [[UInt8]?])
    func aChangedOrRemovedStateRecordCountsAsRolledBack_abuse29(_ bytes: [UInt8]?) throws {
        try store.edit { try $0.setRecord("state", bytes) }
        #expect(refusals(try store.open()) == Array(repeating: .storeRolledBack, count: 6))
    }

    @Test(.promise("audit.end")) func anOlderStateRecordCountsAsRolledBack_abuse29() throws {
        let fresh = try StoreOnDisk()
        do {
            let keychain = try fresh.open()
            try keychain.persist(LockState(isLocked: true, wasUnlocked: true))
        }
        var old: [UInt8]?
        try fresh.edit { old = try $0.record("state") }
        do { try fresh.open().persist(LockState(isLocked: false, wasUnlocked: true)) }
        try fresh.edit { try $0.setRecord("state", old) }
        let keychain = try fresh.open()
        #expect(try keychain.storedLock().isLocked)
        #expect(keychain.isRolledBack)
    }

    @Test(.promise("rollback.bound")) func noTryIsLeftWhenTheDatabaseWasRolledBack() throws {
        let keychain = try store.open()
        #expect(status { _ = try keychain.storedCounters() } == .storeUnreadable)
        try keychain.persist(
            PolicyCounters(biometryFailures: 5, passcodeFailures: 6, passcodeBlockedUntil: 1, lastPasscode: nil))
        #expect(try keychain.storedCounters()?.0.passcodeFailures == 6, "a restart does not restart the hour")
    }
}
