// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// The key of an enrolled set is deleted with the set, and what was bound to it with the key.
@Suite struct EnrolmentKeysTests {
    private static let first = EnrolmentSet([UInt8](repeating: 1, count: 16))
    private static let second = EnrolmentSet([UInt8](repeating: 2, count: 16))
    private static let match = match(of: first)
    private static func match(of set: EnrolmentSet) -> Authorisation {
        .testOnly([.biometry], enrolment: set, by: StoreOnDisk.caller)
    }
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        let keychain = try store.open()
        #expect(try keychain.enrolments.follow(Self.first))
        try keychain.add("bound", "one", rule(.whenUnlocked, .biometryCurrentSet))
        try keychain.add("any", "two", rule(.whenUnlocked, .biometryAny))
    }

    @Test func theSameSetChangesNothing() throws {
        let keychain = try store.open()
        let generation = keychain.enrolments.generation
        #expect(try !keychain.enrolments.follow(Self.first))
        #expect(keychain.enrolments.generation == generation)
        #expect(try keychain.secret("bound", proof: Self.match) == "one")
    }

    @Test(arguments: [second, nil])
    func anotherSetKillsBoundItemsAndNoOthers_AC03(set: EnrolmentSet?) throws {
        let keychain = try store.open()
        #expect(try keychain.enrolments.follow(set))
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
        #expect(try keychain.secret("any", proof: Self.match) == nil, "a match of a set that is gone proves nothing")
        if let set { #expect(try keychain.secret("any", proof: Self.match(of: set)) == "two") }
    }

    @Test func aDeadItemIsNoneForEveryCall_AC04() throws {
        let keychain = try store.open()
        _ = try keychain.enrolments.follow(Self.second)
        let bound = ItemQuery.account("bound")
        #expect(status { _ = try keychain.find(bound, returns: []) } == .itemNotFound)
        #expect(status { _ = try keychain.update(bound, secret: "new", proof: Self.match) } == .itemNotFound)
        #expect(status { try keychain.delete(bound, caller: StoreOnDisk.caller) } == .itemNotFound)
        let all = try keychain.find(ItemQuery(itemClass: .genericPassword), proof: Self.match(of: Self.second))
        #expect(all?.count == 1)
    }

    @Test func aDeadItemMakesRoomForASuccessor_AC04() throws {
        let keychain = try store.open()
        #expect(status { try keychain.add("bound") } == .duplicateItem)
        _ = try keychain.enrolments.follow(Self.second)
        try keychain.add("bound", "new")
        #expect(try keychain.secret("bound") == "new")
        #expect(try store.rows().count == 2)
    }

    @Test func goingBackToTheFirstSetBringsNothingBack_abuse31() throws {
        let keychain = try store.open()
        _ = try keychain.enrolments.follow(Self.second)
        _ = try keychain.enrolments.follow(Self.first)
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
    }

    @Test func theOldKeyIsGoneFromEveryFile() throws {
        let key = try #require(try store.files()["enrolment.key"]).suffix(32)
        #expect(try store.files().values.contains { $0.range(of: key) != nil })
        let keychain = try store.open()
        _ = try keychain.enrolments.follow(Self.second)
        #expect(try !store.files().values.contains { $0.range(of: key) != nil })
        #expect(keychain.enrolments.key != SecretBytes(key))
    }

    @Test func theSecretIsSealedUnderTheKeyOfItsSet() throws {
        let keychain = try store.open()
        _ = try keychain.enrolments.follow(Self.second)
        let row = try store.rows()[0]
        var item = try keychain.envelopes.openAttributes(row)
        // An engine that believed the item to be of the new set could still not read it.
        item.enrolment = keychain.enrolments.generation
        #expect(throws: Failure(.storeUnreadable)) { try keychain.envelopes.openSecret(row, item) }
    }

    @Test func anUpdateBindsToTheSetOfItsTime() throws {
        let keychain = try store.open()
        let update = try keychain.update(
            .account("any"), rule: rule(.whenUnlocked, .biometryCurrentSet), proof: Self.match)
        #expect(update == .finished)
        _ = try keychain.enrolments.follow(Self.second)
        #expect(status { _ = try keychain.secret("any", proof: Self.match) } == .itemNotFound)
    }

    // MARK: - Crashes

    @Test func aChangeIsThereAfterReopening() throws {
        let generation = try store.open().enrolments.generation
        _ = try store.open().enrolments.follow(Self.second)
        let keychain = try store.open()
        #expect(keychain.enrolments.generation == generation + 1)
        #expect(!keychain.enrolments.isRolledBack)
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
    }

    @Test func aCrashBetweenDatabaseAndFileIsFinishedWithANewKey() throws {
        let old = try store.files()["enrolment.key"]
        let generation: UInt64
        do {
            let keychain = try store.open()
            _ = try keychain.enrolments.follow(Self.second)
            generation = keychain.enrolments.generation
        }
        try store.setFile("enrolment.key", old)
        let keychain = try store.open()
        #expect(keychain.enrolments.generation == generation)
        #expect(!keychain.enrolments.isRolledBack)
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
        #expect(try keychain.enrolments.follow(Self.second))
        #expect(try keychain.secret("any", proof: Self.match(of: Self.second)) == "two")
        #expect(try !store.files().values.contains { $0.range(of: old?.suffix(32) ?? Data()) != nil })
    }

    @Test func aRecordThatCannotBeWrittenLeavesTheOldSetDeadAtTheNextStart() throws {
        do {
            let keychain = try store.open()
            // A folder in the way of the temporary file: the database is told, the record is not replaced.
            try FileManager.default.createDirectory(
                atPath: store.folder.enrolment + ".new", withIntermediateDirectories: false)
            #expect(status { _ = try keychain.enrolments.follow(Self.second) } != nil)
        }
        try FileManager.default.removeItem(atPath: store.folder.enrolment + ".new")
        let keychain = try store.open()
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
        #expect(try keychain.enrolments.follow(Self.second))
        #expect(try keychain.secret("any", proof: Self.match(of: Self.second)) == "two")
    }
}
