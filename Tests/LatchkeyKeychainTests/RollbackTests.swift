// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import TestSupport
import Testing

/// An older database beside a newer enrolment record opens only after the passcode, with bound items dead and nothing
/// else lost (abuse case 29, as far as the engine goes).
@Suite struct RollbackTests {
    private static let first = EnrolmentSet([UInt8](repeating: 1, count: 16))
    private static let second = EnrolmentSet([UInt8](repeating: 2, count: 16))
    private static let third = EnrolmentSet([UInt8](repeating: 3, count: 16))
    private static let match = Authorisation.testOnly([.biometry], enrolment: first, by: StoreOnDisk.caller)
    private static let passcode = SecretBytes("1234".utf8)
    private let store: StoreOnDisk

    /// Makes a store, keeps a copy of its database, replaces the finger, and puts the copy back.
    init() throws {
        store = try StoreOnDisk()
        do {
            let keychain = try store.open()
            _ = try keychain.enrolments.follow(Self.first)
            try keychain.tree.setPasscode(Self.passcode)
            try keychain.add("bound", "one", rule(.whenUnlocked, .biometryCurrentSet))
            try keychain.add("any", "two", rule(.whenUnlocked, .biometryAny))
            try keychain.add("passcode", "three", rule(.whenPasscodeSetThisDeviceOnly))
            try keychain.add("free", "four")
        }
        let backup = try store.files()
        _ = try store.open().enrolments.follow(Self.second)
        var mixed = backup
        mixed["enrolment.key"] = try store.files()["enrolment.key"]
        try store.restore(mixed)
    }

    /// What each kind of call fails with.
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

    @Test func everyCallIsRefusedUntilAPasscodeWasSeen_abuse29() throws {
        let keychain = try store.open()
        #expect(keychain.enrolments.isRolledBack)
        #expect(refusals(keychain) == Array(repeating: .storeRolledBack, count: 6))
        #expect(try store.rows().count == 4)
    }

    @Test func aRestartDoesNotForget_abuse29() throws {
        _ = try store.open()
        let keychain = try store.open()
        #expect(refusals(keychain) == Array(repeating: .storeRolledBack, count: 6))
    }

    @Test func aWrongPasscodeDoesNotOpenIt_abuse29() throws {
        let keychain = try store.open()
        #expect(try !keychain.tree.unlock(SecretBytes("4321".utf8)))
        #expect(refusals(keychain) == Array(repeating: .storeRolledBack, count: 6))
    }

    @Test func afterThePasscodeBoundItemsAreDeadAndNothingElseIsLost_abuse29() throws {
        do {
            let keychain = try store.open()
            #expect(try keychain.tree.unlock(Self.passcode))
            try keychain.enrolments.acceptAfterPasscode()
            #expect(!keychain.enrolments.isRolledBack)
            #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
            let match = Authorisation.testOnly([.biometry], enrolment: Self.second, by: StoreOnDisk.caller)
            #expect(try keychain.secret("any", proof: match) == "two")
            #expect(try keychain.secret("passcode") == "three")
            #expect(try keychain.secret("free") == "four")
        }
        let keychain = try store.open()
        #expect(!keychain.enrolments.isRolledBack, "it was accepted for good")
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
    }

    /// Otherwise whoever restores a database would only have to enrol or remove a finger to be believed.
    @Test func anEnrolmentChangeMeanwhileDoesNotStandForThePasscode_abuse29() throws {
        do {
            let keychain = try store.open()
            #expect(try keychain.enrolments.follow(Self.third))
            #expect(keychain.enrolments.isRolledBack)
        }
        let keychain = try store.open()
        #expect(keychain.enrolments.isRolledBack)
        #expect(refusals(keychain) == Array(repeating: .storeRolledBack, count: 6))
        try keychain.enrolments.acceptAfterPasscode()
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
        #expect(try keychain.secret("free") == "four")
    }

    @Test func aGenerationThatWasTakenOutOfTheDatabaseCountsAsOlder_abuse29() throws {
        try store.edit { try $0.setRecord("enrolment.generation", nil) }
        #expect(refusals(try store.open()) == Array(repeating: .storeRolledBack, count: 6))
    }

    @Test func aGenerationThatWasChangedInTheDatabaseIsRefused_abuse29() throws {
        try store.edit { store in
            var sealed = try #require(try store.record("enrolment.generation"))
            sealed[sealed.count - 1] ^= 1
            try store.setRecord("enrolment.generation", sealed)
        }
        #expect(status { _ = try store.open() } == .storeUnreadable)
    }
}
