// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import TestPromises
import TestSupport
import Testing

/// A caller may use its own access groups only; the first is the default (behaviour KC-16).
@Suite struct GroupTests {
    private let keychain: Keychain
    private let all = ItemQuery(itemClass: .genericPassword)

    init() throws { keychain = try Keychain.inMemory() }

    private func groups(_ query: ItemQuery, caller: Caller = StoreOnDisk.caller) throws -> [AttributeValue?]? {
        try keychain.find(query, returns: .attributes, caller: caller)?.map { $0.attributes?[.accessGroup] }
    }

    @Test func itemsOfTwoGroupsCoexist_T14() throws {
        try keychain.add("account", "one", group: "app")
        try keychain.add("account", "two", group: "shared")
        #expect(status { try keychain.add("account", "three", group: "shared") } == .duplicateItem)
        #expect(try groups(all) == [.text("app"), .text("shared")])
    }

    @Test func theFirstGroupIsTheDefaultOfNewItems_KC16() throws {
        try keychain.add("account")
        #expect(try groups(all) == [.text("app")])
    }

    @Test func aQueryThatNamesAGroupFindsItsItemsOnly_KC16() throws {
        try keychain.add("account", group: "app")
        try keychain.add("account", group: "shared")
        let query = ItemQuery(itemClass: .genericPassword, attributes: [.accessGroup: .text("shared")])
        #expect(try groups(query) == [.text("shared")])
        try keychain.delete(query, caller: StoreOnDisk.caller)
        #expect(try groups(all) == [.text("app")])
    }

    @Test func namingAForeignGroupIsAMissingEntitlement_KC16_abuse1() throws {
        let foreign = ItemQuery(itemClass: .genericPassword, attributes: [.accessGroup: .text("other")])
        #expect(status { try keychain.add("account", group: "other") } == .missingEntitlement)
        #expect(status { _ = try keychain.find(foreign) } == .missingEntitlement)
        #expect(status { try keychain.delete(foreign, caller: StoreOnDisk.caller) } == .missingEntitlement)
        #expect(status { _ = try keychain.update(foreign, secret: "new") } == .missingEntitlement)
    }

    /// Unicode considers both texts equivalent; another app may have the other one as its group.
    @Test func aGroupWithOtherBytesIsAForeignGroup_KC16_abuse1() throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        let owner = Caller(groups: [composed], label: "owner", processID: 2, userID: 1000)
        let stranger = Caller(groups: [decomposed], label: "stranger", processID: 3, userID: 1000)
        let request = Request.AddItem(
            attributes: [.account: .text("account"), .accessGroup: .text(composed)], secret: SecretBytes([1]))
        _ = try keychain.add(request, caller: owner)
        let named = ItemQuery(itemClass: .genericPassword, attributes: [.accessGroup: .text(composed)])
        #expect(status { _ = try keychain.find(named, caller: stranger) } == .missingEntitlement)
        #expect(status { _ = try keychain.find(all, caller: stranger) } == .itemNotFound)
        #expect(try keychain.find(named, caller: owner)?.count == 1)
        #expect(owner != Caller(groups: [decomposed], label: "owner", processID: 2, userID: 1000))
    }

    @Test func aCallerWithoutGroupsMayDoNothing_KC16() throws {
        let groupless = Caller(groups: [], label: "groupless", processID: 1, userID: 1000)
        #expect(status { _ = try keychain.find(all, caller: groupless) } == .missingEntitlement)
        #expect(status { try keychain.delete(all, caller: groupless) } == .missingEntitlement)
    }

    @Test func itemsOfForeignGroupsAreNotFound_KC16_abuse1() throws {
        try keychain.add("account", group: "shared")
        let stranger = Caller(groups: ["stranger"], label: "stranger", processID: 2, userID: 1000)
        for query in [all, .account("account")] {
            #expect(status { _ = try keychain.find(query, caller: stranger) } == .itemNotFound)
            #expect(status { try keychain.delete(query, caller: stranger) } == .itemNotFound)
        }
        #expect(try groups(all) == [.text("shared")])
    }

    @Test(.promise("abuse.1")) func aReferenceToAnItemOfAForeignGroupFindsNothing_KC16_abuse1() throws {
        let added = try keychain.add("account", group: "shared", returns: .persistentReference)
        let stranger = Caller(groups: ["stranger"], label: "stranger", processID: 2, userID: 1000)
        let query = ItemQuery.reference(try #require(added?.persistentReference))
        #expect(status { _ = try keychain.find(query, caller: stranger) } == .itemNotFound)
        #expect(status { try keychain.delete(query, caller: stranger) } == .itemNotFound)
        #expect(try groups(query) == [.text("shared")])
    }

    @Test func anItemMovesBetweenTheCallersGroups_KC16() throws {
        try keychain.add("account", "secret", group: "app")
        #expect(try keychain.update(.account("account"), [.accessGroup: .text("shared")]) == .finished)
        #expect(try groups(all) == [.text("shared")])
        #expect(try keychain.secret("account") == "secret")
        #expect(
            status { _ = try keychain.update(.account("account"), [.accessGroup: .text("other")]) }
                == .missingEntitlement)
        try keychain.add("account", group: "app")
        let own = ItemQuery(itemClass: .genericPassword, attributes: [.accessGroup: .text("app")])
        #expect(status { _ = try keychain.update(own, [.accessGroup: .text("shared")]) } == .duplicateItem)
    }
}
