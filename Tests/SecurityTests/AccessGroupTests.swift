// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import TestSupport
import Testing

@Suite struct AccessGroupTests {
    private let simulator: Simulator
    private let own = Query.password("account").with(kSecAttrAccessGroup, "app")
    private let foreign = Query.password("account").with(kSecAttrAccessGroup, "com.example.other")

    init() throws { simulator = try Simulator(application: "app") }

    @Test func aForeignGroupIsAMissingEntitlementForEveryCall_KC16_abuse1() {
        simulator.run {
            #expect(add(foreign.secret()) == errSecMissingEntitlement)
            #expect(exists(foreign) == errSecMissingEntitlement)
            #expect(update(foreign, [kSecAttrLabel as String: "label"]) == errSecMissingEntitlement)
            #expect(delete(foreign) == errSecMissingEntitlement)
        }
    }

    @Test func theGroupOfSmartCardsIsAForeignOne() {
        simulator.run {
            let cards: Query = [
                kSecClass as String: kSecClassKey, kSecAttrAccessGroup as String: kSecAttrAccessGroupToken,
            ]
            #expect(exists(cards) == errSecMissingEntitlement)
        }
    }

    @Test func movingAnItemToAForeignGroupIsAMissingEntitlement_KC16() {
        simulator.run {
            #expect(add(own.secret()) == errSecSuccess)
            #expect(update(own, [kSecAttrAccessGroup as String: "com.example.other"]) == errSecMissingEntitlement)
            #expect(secret(own) == "secret")
        }
    }

    @Test func theOwnGroupIsTheDefault_KC16() throws {
        try simulator.run { () throws in
            #expect(add(.password("account").secret()) == errSecSuccess)
            let found = try #require(find(Query.password("account").attributes).result as? Query)
            #expect(found[kSecAttrAccessGroup as String] as? String == "app")
            #expect(secret(own) == "secret")
            #expect(add(own.secret()) == errSecDuplicateItem)
        }
    }

    @Test func theNameOfAGroupIsComparedToTheLetter() {
        simulator.run {
            for name in ["App", "app ", "ap", "", "app\0"] {
                #expect(exists(Query.password().with(kSecAttrAccessGroup, name)) == errSecMissingEntitlement)
            }
        }
    }

    @Test func anotherAppSeesNothingInTheSameStore_abuse1() throws {
        let folder = try TemporaryFolder()
        do {
            let first = try Simulator(store: .folder(folder.path + "/store"), application: "first")
            first.run { #expect(add(.password("account").secret()) == errSecSuccess) }
        }
        let second = try Simulator(store: .folder(folder.path + "/store"), application: "second")
        second.run {
            #expect(exists(.password("account")) == errSecItemNotFound)
            #expect(find(Query.password().data.all).status == errSecItemNotFound)
            #expect(delete(.password()) == errSecItemNotFound)
            #expect(add(.password("account").secret("second")) == errSecSuccess)
        }
    }
}
