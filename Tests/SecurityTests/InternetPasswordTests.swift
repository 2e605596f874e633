// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

@Suite struct InternetPasswordTests {
    private let simulator: Simulator

    init() throws { simulator = try Simulator() }

    private func login(_ account: String? = "ada", server: String? = "example.com") -> Query {
        var query: Query = [kSecClass as String: kSecClassInternetPassword]
        if let account { query[kSecAttrAccount as String] = account }
        if let server { query[kSecAttrServer as String] = server }
        return query
    }

    private var full: Query {
        login().with(kSecAttrSecurityDomain, "realm").with(kSecAttrProtocol, kSecAttrProtocolHTTPS)
            .with(kSecAttrAuthenticationType, kSecAttrAuthenticationTypeHTTPBasic).with(kSecAttrPort, 8443)
            .with(kSecAttrPath, "/login")
    }

    @Test func anItemIsReturnedWithEveryAttribute() throws {
        try simulator.run {
            #expect(add(full.secret()) == errSecSuccess)
            let found = try #require(find(login().attributes.data).result as? Query)
            #expect(found[kSecAttrServer as String] as? String == "example.com")
            #expect(found[kSecAttrSecurityDomain as String] as? String == "realm")
            #expect(found[kSecAttrProtocol as String] as? String == "htps")
            #expect(found[kSecAttrAuthenticationType as String] as? String == "http")
            #expect(found[kSecAttrPort as String] as? Int == 8443)
            #expect(found[kSecAttrPath as String] as? String == "/login")
            #expect(found[kSecValueData as String] as? Data == Data("secret".utf8))
        }
    }

    /// Behaviour KC-05 for every attribute of the documented primary key.
    @Test(
        arguments: [
            kSecAttrAccount, kSecAttrServer, kSecAttrSecurityDomain, kSecAttrProtocol, kSecAttrAuthenticationType,
            kSecAttrPath,
        ].map { $0 as String })
    func itemsThatDifferInAnyPartOfThePrimaryKeyCoexist_KC05(name: String) {
        simulator.run {
            #expect(add(full.secret()) == errSecSuccess)
            #expect(add(full.with(kSecAttrLabel, "other").secret()) == errSecDuplicateItem)
            #expect(add(full.with(name as NSString, "else").secret()) == errSecSuccess)
            #expect((find(Query.internet.attributes.all).result as? [Any])?.count == 2)
        }
    }

    @Test func thePortIsPartOfThePrimaryKey_KC05() {
        simulator.run {
            #expect(add(full.secret()) == errSecSuccess)
            #expect(add(full.with(kSecAttrPort, 443).secret()) == errSecSuccess)
        }
    }

    @Test func genericAndInternetPasswordsAreSeparate() {
        simulator.run {
            #expect(add(login().secret()) == errSecSuccess)
            #expect(add(.password("ada").secret("generic")) == errSecSuccess)
            #expect(secret(.password("ada")) == "generic")
            #expect(delete(.internet) == errSecSuccess)
            #expect(secret(.password("ada")) == "generic")
        }
    }

    @Test func attributesOfTheOtherClassReturnNoSuchAttr_KC02() {
        simulator.run {
            #expect(add(login().with(kSecAttrService, "service").secret()) == errSecNoSuchAttr)
            #expect(add(login().with(kSecAttrGeneric, Data()).secret()) == errSecNoSuchAttr)
            for (key, value) in full where key != kSecClass as String && key != kSecAttrAccount as String {
                #expect(exists(.password("ada").with(key as NSString, value)) == errSecNoSuchAttr, "\(key)")
            }
            #expect(add(login().secret()) == errSecSuccess)
            #expect(update(login(), [kSecAttrService as String: "service"]) == errSecNoSuchAttr)
        }
    }

    /// The query names no class, so the engine checks the attributes against the item's class.
    @Test func anUpdateByReferenceChecksAttributesOfTheItemsClass_KC02() throws {
        try simulator.run {
            let reference = try #require(addReturning(login().secret().reference).result as? Data)
            let query: Query = [kSecValuePersistentRef as String: reference]
            #expect(update(query, [kSecAttrService as String: "service"]) == errSecNoSuchAttr)
            #expect(update(query, [kSecAttrPath as String: "/new"]) == errSecSuccess)
            #expect(secret(login().with(kSecAttrPath, "/new")) == "secret")
        }
    }

    // MARK: - Apple's own expectations

    @Test func theReturnedAttributesFindTheItemAgain_T08_KC09() throws {
        try simulator.run {
            #expect(add(full.secret()) == errSecSuccess)
            var found = try #require(find(login().attributes).result as? Query)
            found[kSecClass as String] = kSecClassInternetPassword
            found[kSecAttrAccessControl as String] = nil
            #expect(secret(found) == "secret")
        }
    }

    @Test func theSameUpdateOfTheServerFindsNothingTheSecondTime_T09_T10() {
        simulator.run {
            #expect(add(full.secret()) == errSecSuccess)
            let changes: Query = [kSecAttrServer as String: "moved.example.com"]
            #expect(update(full, changes) == errSecSuccess)
            #expect(update(full, changes) == errSecItemNotFound)
            #expect(delete(full) == errSecItemNotFound)
        }
    }

    @Test func anUpdateThatCollidesChangesNothing_T11_KC05() {
        simulator.run {
            #expect(add(login().secret("one")) == errSecSuccess)
            #expect(add(login("bob").secret("two")) == errSecSuccess)
            #expect(update(login("bob"), [kSecAttrAccount as String: "ada"]) == errSecDuplicateItem)
            #expect(secret(login("bob")) == "two")
        }
    }

    @Test func aSecretMustBeData_T12_T13() {
        simulator.run {
            #expect(add(login().secret()) == errSecSuccess)
            #expect(update(login(), [kSecValueData as String: Data("new".utf8)]) == errSecSuccess)
            #expect(update(login(), [kSecValueData as String: "text"]) == errSecParam)
            #expect(update(login(), [kSecValueData as String: NSNull()]) == errSecParam)
            #expect(secret(login()) == "new")
        }
    }

    @Test func aProtectedInternetPasswordPrompts_AC10() {
        simulator.run {
            #expect(add(login().secret().under(.userPresence)) == errSecSuccess)
            simulator.touch(matching: true)
            #expect(secret(login()) == "secret")
            #expect(delete(login()) == errSecSuccess, "deleting does not prompt")
        }
    }
}

extension Query {
    /// Every internet password.
    fileprivate static var internet: Query { [kSecClass as String: kSecClassInternetPassword] }
}
