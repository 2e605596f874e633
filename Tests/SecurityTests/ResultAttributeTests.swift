// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// The contents of returned attribute dictionaries, and their use as queries.
@Suite struct ResultAttributeTests {
    private let simulator: Simulator
    private let item = Query.password("account", service: "service").secret()
        .with(kSecAttrLabel, "label").with(kSecAttrGeneric, Data([1, 0, 2])).with(kSecAttrCreator, 0x4c4b_6579)
        .with(kSecAttrDescription, "description").with(kSecAttrComment, "comment").with(kSecAttrType, 7)
        .with(kSecAttrIsInvisible, true).with(kSecAttrIsNegative, false)

    init() throws { simulator = try Simulator() }

    private func attributes(_ query: Query) throws -> Query { try #require(find(query.attributes).result as? Query) }

    @Test func attributesAreReturnedWithTheirTypes() throws {
        try simulator.run { () throws in
            #expect(add(item) == errSecSuccess)
            let found = try attributes(.password("account"))
            #expect(found[kSecAttrLabel as String] as? String == "label")
            #expect(found[kSecAttrGeneric as String] as? Data == Data([1, 0, 2]))
            #expect(found[kSecAttrCreator as String] as? Int == 0x4c4b_6579)
            #expect(found[kSecAttrType as String] as? Int == 7)
            #expect(found[kSecAttrDescription as String] as? String == "description")
            #expect(found[kSecAttrComment as String] as? String == "comment")
            #expect(found[kSecAttrIsInvisible as String] as? Bool == true)
            #expect(found[kSecAttrIsNegative as String] as? Bool == false)
            #expect(found[kSecAttrSynchronizable as String] as? Bool == false)
            #expect(found[kSecAttrAccessGroup as String] as? String == "app")
            #expect(found[kSecAttrAccessible as String] as? String == "ak")
            #expect(found[kSecAttrCreationDate as String] is Date)
            #expect(found[kSecAttrModificationDate as String] is Date)
            #expect(found[kSecValueData as String] == nil)
        }
    }

    @Test func unsetAttributesAreNotReturned() throws {
        try simulator.run { () throws in
            #expect(add(.password("account")) == errSecSuccess)
            let found = try attributes(.password("account"))
            for key in [kSecAttrLabel, kSecAttrGeneric, kSecAttrCreator, kSecAttrComment, kSecAttrIsInvisible] {
                #expect(found[key as String] == nil, "\(key)")
            }
            #expect(found[kSecAttrService as String] as? String == "")
        }
    }

    @Test func returnedAttributesFindTheSameItem_KC09_T08() throws {
        try simulator.run { () throws in
            #expect(add(item) == errSecSuccess)
            #expect(add(.password("other", service: "service").secret("other")) == errSecSuccess)
            var query = try attributes(.password("account"))
            query[kSecClass as String] = kSecClassGenericPassword
            #expect(find(query.data.all).result as? [Data] == [Data("secret".utf8)])
            #expect(update(query, [kSecValueData as String: Data("new".utf8)]) == errSecSuccess)
            #expect(secret(.password("account")) == "new")
        }
    }

    @Test func attributesReturnedByAddFindTheItem_KC09() throws {
        try simulator.run { () throws in
            var query = try #require(addReturning(item.attributes).result as? Query)
            query[kSecClass as String] = kSecClassGenericPassword
            #expect(delete(query) == errSecSuccess)
            #expect(exists(.password()) == errSecItemNotFound)
        }
    }

    @Test func attributesAreEqualByQueryAndByPersistentReference_T15() throws {
        try simulator.run { () throws in
            let reference = try #require(addReturning(item.reference).result as? Data)
            let byReference = try attributes([kSecValuePersistentRef as String: reference])
            let byAttributes = try attributes(.password("account"))
            #expect(byReference as NSDictionary == byAttributes as NSDictionary)
        }
    }

    @Test func accessControlIsReturnedAsAnObject_AC15() throws {
        try simulator.run { () throws in
            let rule = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
            #expect(add(Query.password("protected").under(.userPresence)) == errSecSuccess)
            simulator.touch(matching: true)
            let found = try attributes(.password("protected"))
            #expect(found[kSecAttrAccessControl as String] as? SecAccessControl == rule)
        }
    }

    @Test func modificationDateIncreasesAndCreationDateStays() throws {
        try simulator.run { () throws in
            #expect(add(item) == errSecSuccess)
            let first = try attributes(.password("account"))
            #expect(update(.password("account"), [kSecAttrLabel as String: "new"]) == errSecSuccess)
            let second = try attributes(.password("account"))
            try simulator.advance(by: .seconds(60))
            #expect(update(.password("account"), [kSecAttrLabel as String: "newer"]) == errSecSuccess)
            let third = try attributes(.password("account"))
            let created = [first, second, third].compactMap { $0[kSecAttrCreationDate as String] as? Date }
            let modified = [first, second, third].compactMap { $0[kSecAttrModificationDate as String] as? Date }
            #expect(Set(created).count == 1)
            try #require(modified.count == 3)
            #expect(modified[0] < modified[1])
            #expect(modified[2].timeIntervalSince(modified[0]) == 60)
        }
    }
}
