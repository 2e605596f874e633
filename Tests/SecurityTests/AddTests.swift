// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

@Suite struct AddTests {
    private let simulator: Simulator
    private let item = Query.password("account", service: "service").secret()

    init() throws { simulator = try Simulator() }

    @Test func addingExistingItemReturnsDuplicateItem_KC05() {
        simulator.run {
            #expect(add(item) == errSecSuccess)
            #expect(add(item.secret("other")) == errSecDuplicateItem)
            #expect(secret(.password("account")) == "secret", "the first item is unchanged")
        }
    }

    @Test func onlyThePrimaryKeyDecidesWhetherItemsAreDuplicates_KC05() {
        simulator.run {
            #expect(add(item) == errSecSuccess)
            #expect(add(item.with(kSecAttrLabel, "other label")) == errSecDuplicateItem)
            #expect(add(item.with(kSecAttrGeneric, Data([1]))) == errSecDuplicateItem)
            #expect(add(item.with(kSecAttrAccessible, deprecated.kSecAttrAccessibleAlways)) == errSecDuplicateItem)
            #expect(add(item.with(kSecAttrAccount, "other account")) == errSecSuccess)
            #expect(add(item.with(kSecAttrService, "other service")) == errSecSuccess)
            #expect(add(item.with(kSecAttrSynchronizable, true)) == errSecSuccess)
        }
    }

    @Test func anItemWithoutASecretReturnsNoData_KC07() throws {
        try simulator.run { () throws in
            #expect(add(.password("account")) == errSecSuccess)
            let found = find(.password("account").attributes.data)
            #expect(found.status == errSecSuccess)
            let attributes = try #require(found.result as? [String: Any])
            #expect(attributes[kSecValueData as String] == nil)
            #expect(attributes[kSecAttrAccount as String] as? String == "account")
        }
    }

    @Test func aResultPointerWithoutAReturnKeyStaysNil_KC08_T03() {
        simulator.run {
            let added = addReturning(item)
            #expect(added.status == errSecSuccess)
            #expect(added.result == nil)
            let declined = addReturning(Query.password("other").with(kSecReturnData, false))
            #expect(declined.status == errSecSuccess)
            #expect(declined.result == nil)
        }
    }

    @Test func aFailedAddLeavesTheResultUnchanged() {
        simulator.run {
            #expect(add(item) == errSecSuccess)
            var result: CFTypeRef? = "untouched" as NSString
            #expect(SecItemAdd(item.data as CFDictionary, &result) == errSecDuplicateItem)
            #expect(result as? String == "untouched")
        }
    }

    @Test func addingReturnsAPersistentReferenceThatFindsTheItem_T04() throws {
        try simulator.run { () throws in
            let reference = try #require(addReturning(item.reference).result as? Data)
            let query: Query = [kSecValuePersistentRef as String: reference, kSecReturnData as String: true]
            #expect(find(query).result as? Data == Data("secret".utf8))
        }
    }

    @Test func addingReturnsNoReferenceForAPassword_T05_KC19() {
        simulator.run {
            let added = addReturning(item.with(kSecReturnRef, true))
            #expect(added.status == errSecSuccess)
            #expect(added.result == nil)
        }
    }

    @Test func addingReturnsTheData_T06() {
        simulator.run { #expect(addReturning(item.data).result as? Data == Data("secret".utf8)) }
    }

    @Test func addingReturnsAttributes_T07() throws {
        try simulator.run { () throws in
            let attributes = try #require(addReturning(item.attributes).result as? [String: Any])
            #expect(attributes[kSecAttrAccount as String] as? String == "account")
            #expect(attributes[kSecAttrService as String] as? String == "service")
            #expect(attributes[kSecAttrAccessGroup as String] as? String == "app")
            #expect(attributes[kSecAttrSynchronizable as String] as? Bool == false)
            #expect(attributes[kSecAttrAccessible as String] as? String == kSecAttrAccessibleWhenUnlocked as String)
            let created = try #require(attributes[kSecAttrCreationDate as String] as? Date)
            #expect(attributes[kSecAttrModificationDate as String] as? Date == created)
            #expect(attributes[kSecValueData as String] == nil)
        }
    }

    @Test func accountAndServiceDefaultToEmpty_T14() {
        simulator.run {
            #expect(add(Query.password().with(kSecAttrLabel, "label")) == errSecSuccess)
            #expect(add(Query.password().with(kSecAttrLabel, "other")) == errSecDuplicateItem)
            #expect(add(.password("", service: "")) == errSecDuplicateItem)
            #expect(exists(.password("", service: "")) == errSecSuccess)
        }
    }

    @Test func theDefaultAccessibilityIsWhenUnlocked_KC13() {
        simulator.run {
            #expect(add(item) == errSecSuccess)
            #expect(exists(Query.password().with(kSecAttrAccessible, kSecAttrAccessibleWhenUnlocked)) == errSecSuccess)
            #expect(
                exists(Query.password().with(kSecAttrAccessible, deprecated.kSecAttrAccessibleAlways))
                    == errSecItemNotFound)
        }
    }

    @Test func everyAccessibilityIsStoredAndMatched() {
        let classes = [
            kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, deprecated.kSecAttrAccessibleAlways,
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            deprecated.kSecAttrAccessibleAlwaysThisDeviceOnly, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
        ]
        simulator.run {
            for name in classes {
                #expect(add(Query.password(name as String).secret().with(kSecAttrAccessible, name)) == errSecSuccess)
            }
            for name in classes {
                let found = find(Query.password().with(kSecAttrAccessible, name).attributes.all)
                let accounts = (found.result as? [Query])?.map { $0[kSecAttrAccount as String] as? String }
                #expect(accounts == [name as String])
                #expect(secret(.password(name as String)) == "secret")
            }
        }
    }

    @Test func anItemWithAnUnconstrainedAccessControlIsAddedFoundAndDeleted_T32() {
        simulator.run {
            let free = Query.password("free")
            #expect(add(free.secret().under([])) == errSecSuccess)
            #expect(secret(free) == "secret")
            #expect(delete(free) == errSecSuccess)
            #expect(exists(free) == errSecItemNotFound)
        }
    }
}
