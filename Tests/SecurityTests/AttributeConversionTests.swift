// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// Attribute values whose type differs from the stored type (behaviour KC-21).
@Suite struct AttributeConversionTests {
    private func attributes(_ query: Query) -> Query? { find(query.attributes).result as? Query }

    @Test func textDataAndNumbersKeepTheirType_KC21() throws {
        try Simulator().run {
            let service = Query.password(service: "service")
            for (key, value) in [
                (kSecAttrAccount, 7 as Any), (kSecAttrLabel, Data([0, 255])), (kSecAttrGeneric, "generic"),
                (kSecAttrComment, -1), (kSecAttrDescription, Int64.max),
            ] {
                let item = service.with(key, value)
                #expect(add(item.secret()) == errSecSuccess, "\(key)")
                let found = try #require(attributes(item)?[key as String] as? NSObject)
                #expect(CFEqual(found, value as AnyObject), "\(key)")
                #expect(delete(item) == errSecSuccess)
            }
            // A number differs from the string of its digits.
            #expect(add(service.with(kSecAttrAccount, 7).secret("number")) == errSecSuccess)
            #expect(add(service.with(kSecAttrAccount, "7").secret("text")) == errSecSuccess)
            #expect(secret(service.with(kSecAttrAccount, 7)) == "number")
            #expect(secret(service.with(kSecAttrAccount, "7")) == "text")
            #expect(update(service.with(kSecAttrAccount, "7"), [kSecAttrAccount as String: 7]) == errSecDuplicateItem)
        }
    }

    @Test func aDecimalStringIsStoredAsItsNumber_KC21() throws {
        try Simulator().run {
            let server: Query = [
                kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: "example.org",
            ]
            #expect(add(server.with(kSecAttrPort, "8080").secret()) == errSecSuccess)
            #expect(attributes(server)?[kSecAttrPort as String] as? Int == 8080)
            #expect(secret(server.with(kSecAttrPort, 8080)) == "secret")
            #expect(delete(server) == errSecSuccess)
            for text in ["08080", "+1", "1.5", "2147483648", "http", ""] {
                #expect(add(server.with(kSecAttrPort, text).secret()) == errSecSuccess, "\(text)")
                #expect(attributes(server)?[kSecAttrPort as String] as? String == text)
                #expect(secret(server.with(kSecAttrPort, text)) == "secret")
                #expect(delete(server) == errSecSuccess)
            }
            let flags = server.with(kSecAttrIsInvisible, "1").with(kSecAttrIsNegative, 0).with(kSecAttrCreator, true)
            #expect(add(flags.secret()) == errSecSuccess)
            let found = try #require(attributes(server))
            #expect(found[kSecAttrIsInvisible as String] as? Bool == true)
            #expect(found[kSecAttrIsNegative as String] as? Bool == false)
            #expect(found[kSecAttrCreator as String] as? Int == 1)
        }
    }

    /// Groups decide which apps may use an item, so they must be strings.
    @Test func groupsAndDatesAreNotConverted_KC21() throws {
        try Simulator().run {
            let wrong: [(CFString, Any)] = [
                (kSecAttrAccessGroup, 1), (kSecAttrAccessGroup, Data("group".utf8)), (kSecAttrCreationDate, 0),
                (kSecAttrCreationDate, "now"), (kSecAttrAccount, true), (kSecAttrAccount, 0.5),
                (kSecAttrPort, Data([1])), (kSecAttrPort, 1.5), (kSecAttrPort, UInt64.max),
            ]
            for (key, value) in wrong {
                let query: Query = [kSecClass as String: kSecClassInternetPassword, key as String: value]
                #expect(add(query.secret()) == errSecParam, "\(key): \(value)")
            }
        }
    }

    @Test func keyLabelsMayBeTextDataOrNumbers_KC21() throws {
        try Simulator().run {
            let half: Query = [kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: 7]
            let key = try makeKey(KeyKind.p256.parameters.with(kSecPrivateKeyAttrs, half))
            let found = try findKey(Query.anyKey.with(kSecAttrApplicationTag, 7))
            #expect(found == key)
        }
    }
}
