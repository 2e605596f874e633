// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// Undocumented forms of queries that widely used keychain wrappers rely on.
@Suite struct PublishedWrapperTests {
    private let simulator: Simulator

    init() throws { simulator = try Simulator() }

    /// Wrappers derived from Objective-C samples store the UTF-8 bytes of a key as account and generic attribute.
    @Test func accountMayBeData() throws {
        let key = Data("user.token".utf8)
        let item = Query.password().with(kSecAttrAccount, key).with(kSecAttrGeneric, key)
            .with(kSecAttrService, "com.example.app")
        try simulator.run { () throws in
            #expect(add(item.secret()) == errSecSuccess)
            #expect(add(item.secret()) == errSecDuplicateItem)
            #expect(secret(item) == "secret")
            #expect(update(item, [kSecValueData as String: Data("new".utf8)]) == errSecSuccess)
            #expect(secret(item) == "new")
            let found = find(Query.password(service: "com.example.app").attributes.all).result as? [Query]
            #expect(found?.map { $0[kSecAttrAccount as String] as? Data } == [key], "returned as given")
            #expect(exists(item.with(kSecAttrAccount, Data("other".utf8))) == errSecItemNotFound)
            #expect(delete(item) == errSecSuccess)
        }
    }

    @Test func otherTextAttributesMayBeData() throws {
        for key in [kSecAttrService, kSecAttrLabel, kSecAttrDescription, kSecAttrComment] {
            let item = Query.password("account").with(key, Data([0xff, 0x00]))
            simulator.run {
                #expect(add(item.secret()) == errSecSuccess, "\(key)")
                #expect(secret(item) == "secret", "\(key)")
                #expect(delete(item) == errSecSuccess, "\(key)")
            }
        }
    }

    /// Apps often set the generic attribute to text, although it is data.
    @Test func genericAttributeMayBeText() {
        let item = Query.password("account").with(kSecAttrGeneric, "identifier")
        simulator.run {
            #expect(add(item.secret()) == errSecSuccess)
            #expect(secret(item) == "secret")
            #expect(exists(Query.password().with(kSecAttrGeneric, "other")) == errSecItemNotFound)
        }
    }

    /// Wrappers use one dictionary to add an item and, if it exists, as the query of an update.
    @Test func queryOfAnUpdateMayContainASecret() {
        let item = Query.password("account", service: "service").secret("first")
        simulator.run {
            #expect(add(item) == errSecSuccess)
            let second = item.secret("second")
            #expect(add(second) == errSecDuplicateItem)
            #expect(update(second, [kSecValueData as String: Data("second".utf8)]) == errSecSuccess)
            #expect(secret(.password("account")) == "second")
        }
    }

    @Test func queryOfASearchMayContainASecret() {
        let item = Query.password("account", service: "service").secret("first")
        simulator.run {
            #expect(add(item) == errSecSuccess)
            #expect(find(item.secret("other").data).result as? Data == Data("first".utf8))
        }
    }

    /// Wrappers pass the whole query as changes, including attributes that do not change.
    @Test func changesMayRepeatThePrimaryKey() {
        simulator.run {
            #expect(add(.password("account", service: "service").secret()) == errSecSuccess)
            var changes = Query.password("account", service: "service").secret("new")
            changes[kSecClass as String] = nil
            #expect(update(.password("account", service: "service"), changes) == errSecSuccess)
            #expect(secret(.password("account")) == "new")
        }
    }

    @Test func removingEveryReadItemEmptiesTheKeychain() {
        simulator.run {
            for number in 0..<20 { #expect(add(.password("\(number)").secret()) == errSecSuccess) }
            let found = find(Query.password().attributes.data.all).result as? [Query]
            #expect(found?.count == 20)
            for item in found ?? [] {
                let account = item[kSecAttrAccount as String] as? String
                #expect(delete(.password(account)) == errSecSuccess)
            }
            #expect(exists(.password()) == errSecItemNotFound)
        }
    }
}
