// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// When the enrolment set changes, its key is erased, and the items bound to it are invalidated.
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
        #expect(try keychain.apply(Self.first))
        try keychain.add("bound", "one", rule(.whenUnlocked, .biometryCurrentSet))
        try keychain.add("any", "two", rule(.whenUnlocked, .biometryAny))
    }

    @Test func theSameSetChangesNothing() throws {
        let keychain = try store.open()
        let generation = keychain.anchor.enrolmentGeneration
        #expect(try !keychain.apply(Self.first))
        #expect(keychain.anchor.enrolmentGeneration == generation)
        #expect(try keychain.secret("bound", proof: Self.match) == "one")
    }

    @Test(arguments: [second, nil])
    func anotherSetInvalidatesBoundItemsOnly_AC03(set: EnrolmentSet?) throws {
        let keychain = try store.open()
        #expect(try keychain.apply(set))
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
        #expect(try keychain.secret("any", proof: Self.match) == nil, "a match of a replaced set is no proof")
        if let set { #expect(try keychain.secret("any", proof: Self.match(of: set)) == "two") }
    }

    @Test func anInvalidatedItemIsNotFoundByAnyCall_AC04() throws {
        let keychain = try store.open()
        _ = try keychain.apply(Self.second)
        let bound = ItemQuery.account("bound")
        #expect(status { _ = try keychain.find(bound, returns: []) } == .itemNotFound)
        #expect(status { _ = try keychain.update(bound, secret: "new", proof: Self.match) } == .itemNotFound)
        #expect(status { try keychain.delete(bound, caller: StoreOnDisk.caller) } == .itemNotFound)
        let all = try keychain.find(ItemQuery(itemClass: .genericPassword), proof: Self.match(of: Self.second))
        #expect(all?.count == 1)
    }

    @Test func anInvalidatedItemIsReplacedByANewOne_AC04() throws {
        let keychain = try store.open()
        #expect(status { try keychain.add("bound") } == .duplicateItem)
        _ = try keychain.apply(Self.second)
        try keychain.add("bound", "new")
        #expect(try keychain.secret("bound") == "new")
        #expect(try store.rows().count == 2)
    }

    @Test(.promise("abuse.31")) func returningToTheFirstSetRestoresNothing_abuse31() throws {
        let keychain = try store.open()
        _ = try keychain.apply(Self.second)
        _ = try keychain.apply(Self.first)
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
    }

    @Test(arguments: [second, nil]) func aSetThatWasLeftHasAnotherHashWhenItIsBack_DS02(other: EnrolmentSet?) throws {
        func hash() throws -> [UInt8] { try store.open().biometryHash(of: Self.first, for: "app") }
        let before = try hash()
        #expect(try hash() == before)
        #expect(try store.open().apply(other))
        #expect(try store.open().apply(Self.first))
        #expect(try hash() != before)
    }

    @Test(.promise("enrolment.erased")) func theOldKeyIsGoneFromMemoryAndFile() throws {
        let keychain = try store.open()
        let key = try #require(keychain.anchor.record?.contents.enrolmentKey)
        let file = try store.files()["anchor"]
        _ = try keychain.apply(Self.second)
        let record = try #require(keychain.anchor.record)
        #expect(record.contents.enrolmentKey != key)
        #expect(record.preparation == nil)
        #expect(try store.files()["anchor"] != file)
    }

    @Test func theSecretIsSealedUnderTheKeyOfItsSet() throws {
        let keychain = try store.open()
        _ = try keychain.apply(Self.second)
        let row = try store.rows()[0]
        var item = try keychain.envelopes.openAttributes(row)
        // Even with the generation of the new set, the secret does not open.
        item.wrapping = .set(keychain.anchor.enrolmentGeneration)
        #expect(throws: Failure(.storeUnreadable)) { try keychain.envelopes.openSecret(row, item) }
    }

    @Test func anUpdateBindsToTheCurrentSet() throws {
        let keychain = try store.open()
        let update = try keychain.update(
            .account("any"), rule: rule(.whenUnlocked, .biometryCurrentSet), proof: Self.match)
        #expect(update == .finished)
        _ = try keychain.apply(Self.second)
        #expect(status { _ = try keychain.secret("any", proof: Self.match) } == .itemNotFound)
    }

    // MARK: - Crashes

    @Test func aChangeOfTheSetIsDurable() throws {
        let generation = try store.open().anchor.enrolmentGeneration
        _ = try store.open().apply(Self.second)
        let keychain = try store.open()
        #expect(keychain.anchor.enrolmentGeneration == generation + 1)
        #expect(!keychain.isRolledBack)
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
    }
}
