// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// Every Swift type with which published code builds a query is accepted and has the same meaning (COMPAT, item 1).
@Suite struct QueryFormTests {
    private let simulator: Simulator
    private let secret = Data("secret".utf8)

    init() throws {
        simulator = try Simulator()
        simulator.run {
            #expect(add(.password("account", service: "service").secret()) == errSecSuccess)
            #expect(add(.password("other", service: "service").secret("other")) == errSecSuccess)
        }
    }

    /// Reads with a query and expects the secret of the one matching item.
    private func expectTheItem(_ query: CFDictionary, sourceLocation: SourceLocation = #_sourceLocation) {
        simulator.run {
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query, &result)
            #expect(status == errSecSuccess, sourceLocation: sourceLocation)
            #expect(result as? Data == secret, sourceLocation: sourceLocation)
        }
    }

    @Test func dictionaryOfStringToAny() {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "account",
            kSecAttrService as String: "service", kSecReturnData as String: true,
            kSecMatchLimit as String: kSecMatchLimitOne,
        ]
        expectTheItem(query as CFDictionary)
    }

    @Test func dictionaryOfCFStringToAny() {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "account", kSecAttrService: "service",
            kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne,
        ]
        expectTheItem(query as CFDictionary)
    }

    @Test func dictionaryOfStringToAnyHashable() {
        let query: [String: AnyHashable] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "account",
            kSecAttrService as String: "service", kSecReturnData as String: true,
            kSecMatchLimit as String: kSecMatchLimitOne,
        ]
        expectTheItem(query as CFDictionary)
    }

    @Test func dictionaryOfStringToAnyObject() {
        let query: [String: AnyObject] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "account" as AnyObject,
            kSecAttrService as String: "service" as NSString, kSecReturnData as String: kCFBooleanTrue,
            kSecMatchLimit as String: kSecMatchLimitOne,
        ]
        expectTheItem(query as CFDictionary)
    }

    @Test func bareDictionaryLiteral() {
        expectTheItem(
            [
                kSecClass: kSecClassGenericPassword, kSecAttrAccount: "account", kSecAttrService: "service",
                kSecReturnData: true,
            ] as CFDictionary)
    }

    @Test func bareDictionaryLiteralWithMixedKeyTypes() {
        let query: [AnyHashable: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount as String: "account",
            kSecAttrService as AnyHashable: "service", kSecReturnData as NSString: kCFBooleanTrue as Any,
        ]
        expectTheItem(query as CFDictionary)
    }

    @Test func nsDictionary() {
        let query: NSDictionary = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "account", kSecAttrService as String: "service",
            kSecReturnData: NSNumber(value: true),
        ]
        expectTheItem(query)
        expectTheItem(query as CFDictionary)
    }

    @Test func nsMutableDictionary() {
        let query = NSMutableDictionary()
        query[kSecClass] = kSecClassGenericPassword
        query[kSecAttrAccount as String] = "account"
        query.setObject("service", forKey: kSecAttrService)
        query.setObject(kCFBooleanTrue as Any, forKey: kSecReturnData as NSString)
        expectTheItem(query as CFDictionary)
    }

    @Test func dictionaryBuiltInSteps() {
        var query: [String: Any] = [:]
        query[kSecClass as String] = kSecClassGenericPassword as String
        query.updateValue("account", forKey: String(kSecAttrAccount))
        query[kSecAttrService as String] = "service" as CFString
        query[kSecReturnData as String] = kCFBooleanTrue
        expectTheItem(query as CFDictionary)
    }

    @Test func numbersAreAcceptedAsBooleans() {
        for value: Any in [1, NSNumber(value: 1), true, kCFBooleanTrue as Any] {
            expectTheItem(
                Query.password("account", service: "service").with(kSecReturnData, value) as CFDictionary)
        }
    }

    @Test func secretMayBeAnyDataType() {
        let forms: [Any] = [
            Data("x".utf8), NSData(data: Data("x".utf8)), NSMutableData(data: Data("x".utf8)), Data("x".utf8) as CFData,
            Data("axb".utf8)[1..<2],
        ]
        simulator.run {
            for (number, form) in forms.enumerated() {
                let query = Query.password("form \(number)")
                #expect(add(query.with(kSecValueData, form)) == errSecSuccess)
                #expect(find(query.data).result as? Data == Data("x".utf8))
            }
        }
    }

    @Test func resultsBridgeToSwiftAndFoundationTypes() throws {
        try simulator.run { () throws in
            let item = find(.password("account").attributes.data)
            let byString = try #require(item.result as? [String: Any])
            let byObject = try #require(item.result as? NSDictionary)
            #expect(byString[kSecValueData as String] as? Data == secret)
            #expect(byString[kSecAttrAccount as String] as? String == "account")
            #expect(byObject[kSecValueData] as? Data == secret)
            #expect(byObject[kSecAttrAccount as String] as? NSString == "account")
            let list = find(Query.password(service: "service").attributes.all)
            #expect((list.result as? [[String: Any]])?.count == 2)
            #expect((list.result as? NSArray)?.count == 2)
            #expect((list.result as? [NSDictionary])?.count == 2)
        }
    }

    @Test func resultVariableMayBeAnyObjectOrCFTypeRef() {
        simulator.run {
            var object: AnyObject?
            var reference: CFTypeRef?
            let query = Query.password("account").data as CFDictionary
            #expect(SecItemCopyMatching(query, &object) == errSecSuccess)
            #expect(withUnsafeMutablePointer(to: &reference) { SecItemCopyMatching(query, $0) } == errSecSuccess)
            #expect(object as? Data == secret)
            #expect(reference as? Data == secret)
        }
    }
}
