// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// Limits, return keys and matching of `SecItemCopyMatching`.
@Suite struct SearchTests {
    private let simulator: Simulator

    init() throws {
        simulator = try Simulator()
        simulator.run {
            for account in ["one", "two", "three"] {
                #expect(add(.password(account, service: "service").secret("secret of \(account)")) == errSecSuccess)
            }
        }
    }

    private func run(_ body: () throws -> Void) rethrows { try simulator.run(body) }

    @Test func noMatchReturnsItemNotFound_KC03() {
        run {
            #expect(exists(.password("four")) == errSecItemNotFound)
            #expect(find(Query.password("four").data.all).status == errSecItemNotFound)
            #expect(find(Query.password("four").data).result == nil)
        }
    }

    @Test func defaultLimitIsOneAndReturnsASingleObject_KC03() {
        run {
            let found = find(Query.password(service: "service").data)
            #expect(found.result as? Data == Data("secret of one".utf8))
        }
    }

    @Test func limitOfOneReturnsASingleObject_KC03() {
        run {
            for limit: Any in [kSecMatchLimitOne, 1, NSNumber(value: 1)] {
                #expect(find(Query.password().data.with(kSecMatchLimit, limit)).result is NSData)
            }
        }
    }

    @Test func otherLimitsReturnAnArrayEvenForOneMatch_KC03() {
        run {
            for limit: Any in [kSecMatchLimitAll, 2, NSNumber(value: 100)] {
                let found = find(Query.password("two").data.with(kSecMatchLimit, limit))
                #expect(found.result as? [Data] == [Data("secret of two".utf8)])
            }
        }
    }

    @Test func limitReturnsTheFirstMatchesInInsertionOrder_KC03() {
        run {
            let two = find(Query.password().data.with(kSecMatchLimit, 2)).result as? [Data]
            #expect(two == ["one", "two"].map { Data("secret of \($0)".utf8) })
            let all = find(Query.password().data.all).result as? [Data]
            #expect(all == ["one", "two", "three"].map { Data("secret of \($0)".utf8) })
        }
    }

    @Test(arguments: [0, -1])
    func limitBelowOneIsRejected(limit: Int) {
        run { #expect(find(Query.password().data.with(kSecMatchLimit, limit)).status == errSecParam) }
    }

    @Test func limitOfAnotherTypeIsRejected_KC03() {
        run {
            for limit: Any in ["m_LimitMany", true, Data([1]), kSecReturnData] {
                #expect(find(Query.password().data.with(kSecMatchLimit, limit)).status == errSecParam, "\(limit)")
            }
        }
    }

    @Test func allMatchesWithDataAreAllowedForPasswords_KC06_T21() {
        run {
            let found = find(Query.password("one").data.all)
            #expect(found.status == errSecSuccess)
            #expect(found.result as? [Data] == [Data("secret of one".utf8)])
        }
    }

    @Test func allMatchesWithDataAndPersistentReferenceReturnDictionaries_T20() throws {
        try run {
            let found = find(Query.password("one").data.reference.all).result as? [Query]
            let item = try #require(found?.first)
            #expect(found?.count == 1)
            #expect(Set(item.keys) == [kSecValueData as String, kSecValuePersistentRef as String])
            #expect(item[kSecValueData as String] as? Data == Data("secret of one".utf8))
            #expect(item[kSecValuePersistentRef as String] is Data)
        }
    }

    @Test func allMatchesWithPersistentReferenceReturnData_T22() {
        run {
            let found = find(Query.password("one").reference.all).result as? [Data]
            #expect(found?.count == 1)
            #expect(found?.first?.isEmpty == false)
        }
    }

    @Test func itemWithoutASecretIsReturnedWithoutData_T23() throws {
        try run {
            #expect(add(.password("empty", service: "none")) == errSecSuccess)
            let found = find(Query.password("empty").data.attributes.all).result as? [Query]
            let item = try #require(found?.first)
            #expect(item[kSecValueData as String] == nil)
            #expect(item[kSecAttrAccount as String] as? String == "empty")
            #expect(item[kSecAttrService as String] as? String == "none")
        }
    }

    @Test func dataOfAnItemWithoutASecretIsEmpty() {
        run {
            #expect(add(.password("empty")) == errSecSuccess)
            #expect(find(Query.password("empty").data).result as? Data == Data())
        }
    }

    @Test func referenceToAPasswordIsNilAndOmittedFromArrays_KC19() {
        run {
            let one = find(Query.password("one").with(kSecReturnRef, true))
            #expect(one.status == errSecSuccess)
            #expect(one.result == nil)
            let all = find(Query.password().with(kSecReturnRef, true).all)
            #expect(all.status == errSecSuccess)
            #expect((all.result as? [Any])?.isEmpty == true)
        }
    }

    @Test func attributesWithAReferenceIncludeTheClass() throws {
        try run {
            let item = try #require(find(Query.password("one").attributes.with(kSecReturnRef, true)).result as? Query)
            #expect(item[kSecClass as String] as? String == kSecClassGenericPassword as String)
        }
    }

    @Test func searchWithoutReturnKeysLeavesTheResultUnchanged() {
        run {
            var result: CFTypeRef? = "untouched" as NSString
            #expect(SecItemCopyMatching(Query.password("one") as CFDictionary, &result) == errSecSuccess)
            #expect(result as? String == "untouched")
        }
    }

    @Test func everyAttributeIsMatched() {
        let attributes: [(CFString, Any, Any)] = [
            (kSecAttrAccount, "a", "b"), (kSecAttrService, "a", "b"), (kSecAttrLabel, "a", "b"),
            (kSecAttrDescription, "a", "b"), (kSecAttrComment, "a", "b"), (kSecAttrCreator, 1, 2),
            (kSecAttrType, 1, 2), (kSecAttrIsInvisible, true, false), (kSecAttrIsNegative, true, false),
            (kSecAttrGeneric, Data([1]), Data([2])),
        ]
        run {
            var item = Query.password().secret("this one")
            for (key, value, _) in attributes { item = item.with(key, value) }
            #expect(add(item) == errSecSuccess)
            for (key, value, other) in attributes {
                #expect(secret(Query.password().with(key, value)) == "this one", "\(key)")
                #expect(exists(Query.password("a").with(key, other)) == errSecItemNotFound, "\(key)")
            }
            item[kSecValueData as String] = nil
            #expect(secret(item) == "this one")
        }
    }

    @Test func attributeThatAnItemLacksDoesNotMatch() {
        run {
            #expect(exists(Query.password("one").with(kSecAttrLabel, "")) == errSecItemNotFound)
            #expect(exists(Query.password("one").with(kSecAttrIsInvisible, false)) == errSecItemNotFound)
        }
    }
}
