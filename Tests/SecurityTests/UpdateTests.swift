// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// `SecItemUpdate` of generic passwords.
@Suite struct UpdateTests {
    private let simulator: Simulator
    private let new: Query = [kSecValueData as String: Data("new".utf8)]

    init() throws {
        simulator = try Simulator()
        simulator.run {
            for account in ["one", "two", "three"] {
                #expect(add(.password(account, service: "service").secret(account)) == errSecSuccess)
            }
        }
    }

    @Test func updateChangesEveryMatch_KC04() {
        simulator.run {
            #expect(update(.password(service: "service"), new) == errSecSuccess)
            let found = find(Query.password().data.all).result as? [Data]
            #expect(found == Array(repeating: Data("new".utf8), count: 3))
        }
    }

    @Test func updateWithoutAMatchReturnsItemNotFound() {
        simulator.run { #expect(update(.password("four"), new) == errSecItemNotFound) }
    }

    @Test func repeatedUpdateOfASearchedAttributeReturnsItemNotFound_T09() {
        simulator.run {
            let changes: Query = [kSecAttrService as String: "moved"]
            #expect(update(.password("one", service: "service"), changes) == errSecSuccess)
            #expect(update(.password("one", service: "service"), changes) == errSecItemNotFound)
        }
    }

    @Test func deletingByOldAttributesReturnsItemNotFound_T10() {
        simulator.run {
            #expect(update(.password("one"), [kSecAttrService as String: "moved"]) == errSecSuccess)
            #expect(delete(.password("one", service: "service")) == errSecItemNotFound)
            #expect(delete(.password("one", service: "moved")) == errSecSuccess)
        }
    }

    @Test func collidingUpdateChangesNothing_KC05_T11() {
        simulator.run {
            let changes: Query = [kSecAttrAccount as String: "two", kSecValueData as String: Data("new".utf8)]
            #expect(update(.password("one"), changes) == errSecDuplicateItem)
            #expect(secret(.password("one")) == "one")
            #expect(secret(.password("two")) == "two")
        }
    }

    @Test func updateWhoseMatchesCollideChangesNothing_KC05() {
        simulator.run {
            #expect(update(.password(service: "service"), [kSecAttrAccount as String: "same"]) == errSecDuplicateItem)
            let found = find(Query.password().attributes.all).result as? [Query]
            #expect(found?.map { $0[kSecAttrAccount as String] as? String } == ["one", "two", "three"])
        }
    }

    @Test func updateReplacesTheSecret_T12() {
        simulator.run {
            #expect(update(.password("one"), new) == errSecSuccess)
            #expect(secret(.password("one")) == "new")
            #expect(secret(.password("two")) == "two")
        }
    }

    @Test func secretThatIsNotDataIsRejected_T13() {
        simulator.run {
            for value: Any in [NSNull(), "text", 1] {
                #expect(update(.password("one"), [kSecValueData as String: value]) == errSecParam)
            }
            #expect(secret(.password("one")) == "one")
        }
    }

    @Test func updateKeepsUnnamedAttributes() throws {
        try simulator.run { () throws in
            #expect(update(.password("one"), [kSecAttrLabel as String: "label"]) == errSecSuccess)
            #expect(secret(.password("one").with(kSecAttrLabel, "label")) == "one")
            #expect(update(.password("one"), new) == errSecSuccess)
            let found = try #require(find(Query.password("one").attributes).result as? Query)
            #expect(found[kSecAttrLabel as String] as? String == "label")
        }
    }

    @Test func updatedItemKeepsItsPositionInResults() {
        simulator.run {
            #expect(update(.password("one"), [kSecAttrAccount as String: "renamed"]) == errSecSuccess)
            let found = find(Query.password().attributes.all).result as? [Query]
            #expect(found?.map { $0[kSecAttrAccount as String] as? String } == ["renamed", "two", "three"])
        }
    }

    @Test func returnAndMatchKeysAreRejectedInUpdates_KC04() {
        simulator.run {
            let query = Query.password("one")
            for key in [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef] {
                #expect(update(query.with(key, true), new) == errSecParam, "\(key)")
                #expect(update(query, new.with(key, true)) == errSecParam, "\(key) among the changes")
            }
            for limit: Any in [kSecMatchLimitOne, kSecMatchLimitAll, 1] {
                #expect(update(query.with(kSecMatchLimit, limit), new) == errSecParam)
                #expect(update(query, new.with(kSecMatchLimit, limit)) == errSecParam)
            }
            let skip = query.with(kSecUseAuthenticationUI, kSecUseAuthenticationUISkip)
            #expect(update(skip, new) == errSecParam)
            #expect(secret(query) == "one")
        }
    }

    @Test func authenticationKeysAreRejectedAsChanges() {
        simulator.run {
            let keys: [(CFString, Any)] = [
                (kSecUseAuthenticationUI, kSecUseAuthenticationUISkip),
                (kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail),
                (deprecated.kSecUseOperationPrompt, "reason"),
            ]
            for (key, value) in keys {
                #expect(update(.password("one"), new.with(key, value)) == errSecParam, "\(key)")
            }
            #expect(secret(.password("one")) == "one")
        }
    }

    @Test func itemClassCannotBeChanged() {
        simulator.run {
            let changes: Query = [kSecClass as String: kSecClassGenericPassword]
            #expect(update(.password("one"), changes) == errSecNoSuchAttr)
        }
    }

    @Test func accessibilityChangesWithoutChangingTheSecret() {
        simulator.run {
            for name in [kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlock] {
                #expect(update(.password("one"), [kSecAttrAccessible as String: name]) == errSecSuccess)
                #expect(secret(Query.password().with(kSecAttrAccessible, name)) == "one")
            }
        }
    }

    @Test func emptyChangesSucceed() {
        simulator.run {
            #expect(update(.password("one"), [:]) == errSecSuccess)
            #expect(secret(.password("one")) == "one")
        }
    }
}
