// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// Forms that widely used keychain wrappers rely on besides the documented ones.
@Suite struct PublishedWrapperTests {
    private let simulator: Simulator

    init() throws { simulator = try Simulator() }

    /// Wrappers that came from Objective-C samples store the UTF-8 bytes of a key as account and generic attribute.
    @Test func anAccountMayBeData() throws {
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
            #expect(found?.map { $0[kSecAttrAccount as String] as? Data } == [key], "it comes back as it was given")
            #expect(exists(item.with(kSecAttrAccount, Data("other".utf8))) == errSecItemNotFound)
            #expect(delete(item) == errSecSuccess)
        }
    }

    @Test func otherTextAttributesMayBeDataToo() throws {
        for key in [kSecAttrService, kSecAttrLabel, kSecAttrDescription, kSecAttrComment] {
            let item = Query.password("account").with(key, Data([0xff, 0x00]))
            simulator.run {
                #expect(add(item.secret()) == errSecSuccess, "\(key)")
                #expect(secret(item) == "secret", "\(key)")
                #expect(delete(item) == errSecSuccess, "\(key)")
            }
        }
    }

    /// The generic attribute is often given as text.
    @Test func theGenericAttributeMayBeText() {
        let item = Query.password("account").with(kSecAttrGeneric, "identifier")
        simulator.run {
            #expect(add(item.secret()) == errSecSuccess)
            #expect(secret(item) == "secret")
            #expect(exists(Query.password().with(kSecAttrGeneric, "other")) == errSecItemNotFound)
        }
    }

    /// One dictionary for everything: add, and on a duplicate update with the same dictionary as query.
    @Test func theQueryOfAnUpdateMayHoldASecret() {
        let item = Query.password("account", service: "service").secret("first")
        simulator.run {
            #expect(add(item) == errSecSuccess)
            let second = item.secret("second")
            #expect(add(second) == errSecDuplicateItem)
            #expect(update(second, [kSecValueData as String: Data("second".utf8)]) == errSecSuccess)
            #expect(secret(.password("account")) == "second")
        }
    }

    @Test func theQueryOfASearchMayHoldASecret() {
        let item = Query.password("account", service: "service").secret("first")
        simulator.run {
            #expect(add(item) == errSecSuccess)
            #expect(find(item.secret("other").data).result as? Data == Data("first".utf8))
        }
    }

    /// Wrappers write the whole query, keys that do not change included, into the changes.
    @Test func theChangesMayRepeatThePrimaryKey() {
        simulator.run {
            #expect(add(.password("account", service: "service").secret()) == errSecSuccess)
            var changes = Query.password("account", service: "service").secret("new")
            changes[kSecClass as String] = nil
            #expect(update(.password("account", service: "service"), changes) == errSecSuccess)
            #expect(secret(.password("account")) == "new")
        }
    }

    @Test func readThenRemoveAllLeavesAnEmptyKeychain() {
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
