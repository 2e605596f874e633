// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// The exact error code for each malformed dictionary; nothing is added, changed or deleted.
@Suite struct MalformedQueryTests {
    private let simulator: Simulator

    init() throws {
        simulator = try Simulator()
        simulator.run { #expect(add(.password("account").secret()) == errSecSuccess) }
    }

    /// The codes of all four functions; the attribute that the update changes is valid.
    private func codes(_ query: Query) -> Set<OSStatus> {
        simulator.run {
            let codes: Set<OSStatus> = [
                exists(query), update(query, [kSecAttrLabel as String: "label"]), delete(query), add(query),
            ]
            #expect(secret(.password("account")) == "secret")
            #expect((find(Query.password().data.all).result as? [Data])?.count == 1)
            return codes
        }
    }

    @Test func aMissingClassIsRefused_KC01() {
        #expect(codes([:]) == [errSecParam])
        #expect(codes([kSecAttrAccount as String: "account"]) == [errSecParam])
    }

    @Test func anUnknownClassReturnsNoSuchClass_KC02() {
        #expect(codes([kSecClass as String: "nope"]) == [errSecNoSuchClass])
        #expect(codes([kSecClass as String: ""]) == [errSecNoSuchClass])
        #expect(codes([kSecClass as String: "GENP"]) == [errSecNoSuchClass])
    }

    @Test func aClassThatIsNotAStringIsRefused_KC01() {
        for value: Any in [1, true, Data("genp".utf8), NSNull(), ["genp"]] {
            #expect(codes([kSecClass as String: value]) == [errSecParam], "\(value)")
        }
    }

    @Test(arguments: ["srvr", "atag", "zzzz", "sdmn", "ACCT", "    "])
    func anAttributeOfAnotherClassReturnsNoSuchAttr_KC02(name: String) {
        #expect(codes(Query.password("account").with(name as CFString, "value")) == [errSecNoSuchAttr])
        simulator.run { #expect(update(.password("account"), [name: "value"]) == errSecNoSuchAttr) }
    }

    @Test(arguments: ["", "x", "account", "kSecAttrAccount", "r_Nothing", "m_Nothing", "v_Nothing", "u_Nothing"])
    func anUnknownKeyIsRefused_KC01(name: String) {
        #expect(codes(Query.password("account").with(name as CFString, true)) == [errSecParam])
        simulator.run { #expect(update(.password("account"), [name: true]) == errSecParam) }
    }

    @Test func aKeyThatIsNotAStringIsRefused() {
        simulator.run {
            let query: NSDictionary = [kSecClass: kSecClassGenericPassword, 1: "value"]
            #expect(SecItemCopyMatching(query, nil) == errSecParam)
            #expect(SecItemAdd(query, nil) == errSecParam)
            #expect(SecItemDelete(query) == errSecParam)
        }
    }

    @Test func aReturnKeyThatIsNotABooleanIsRefused_KC01() {
        for key in [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef] {
            for value: Any in ["true", Data([1]), 2, 0.5, NSNull(), kSecMatchLimitAll] {
                #expect(codes(Query.password("account").with(key, value)) == [errSecParam], "\(key): \(value)")
            }
        }
    }

    @Test func aReturnKeyWithoutAResultPointerIsRefused_KC01() {
        simulator.run {
            #expect(exists(Query.password("account").data) == errSecParam)
            #expect(exists(Query.password("account").attributes) == errSecParam)
            #expect(exists(Query.password("account").with(kSecReturnData, false)) == errSecSuccess)
        }
    }

    @Test func aSecretThatIsNotDataIsRefused_KC01() {
        for value: Any in ["secret", 1, true, NSNull(), ["secret"]] {
            simulator.run { #expect(add(Query.password("new").with(kSecValueData, value)) == errSecParam, "\(value)") }
        }
    }

    @Test func anAttributeOfTheWrongTypeIsRefused_KC01() {
        let wrong: [(CFString, [Any])] = [
            (kSecAttrAccount, [["a"], Date()]), (kSecAttrService, [["a"], Date()]), (kSecAttrLabel, [Date()]),
            (kSecAttrAccessGroup, [1, Date()]), (kSecAttrGeneric, [["a"], Date()]), (kSecAttrCreator, [["x"], Data()]),
            (kSecAttrType, [["x"], Date()]), (kSecAttrIsInvisible, [["x"], Data()]),
            (kSecAttrIsNegative, [["x"], Data()]), (kSecAttrAccount, [true, 1.5]),
            (kSecAttrSynchronizable, ["x", Data()]), (kSecAttrCreationDate, ["now", Data()]),
            (kSecAttrAccessible, ["x", 1, kSecAttrAccount]), (kSecAttrAccessControl, ["x", 1, NSObject()]),
        ]
        for (key, values) in wrong {
            for value in values {
                #expect(codes(Query.password("account").with(key, value)) == [errSecParam], "\(key): \(value)")
                simulator.run { #expect(update(.password("account"), [key as String: value]) == errSecParam) }
            }
        }
    }

    @Test func aNullValueIsRefused() {
        for key in [kSecAttrAccount, kSecAttrAccessible, kSecAttrAccessControl, kSecUseAuthenticationContext] {
            #expect(codes(Query.password("account").with(key, NSNull())) == [errSecParam], "\(key)")
        }
    }

    @Test func searchKeysAreRefusedInSecItemAdd_KC22() {
        simulator.run {
            #expect(add(Query.password("new").with(kSecMatchCaseInsensitive, true)) == errSecParam)
            #expect(add(Query.password("new").all) == errSecParam)
            let skip = Query.password("new").with(kSecUseAuthenticationUI, kSecUseAuthenticationUISkip)
            #expect(add(skip) == errSecParam)
        }
    }

    @Test func anAuthenticationContextOfAnotherTypeIsRefused() {
        let query = Query.password("account").with(kSecUseAuthenticationContext, NSObject())
        #expect(codes(query) == [errSecParam])
    }

    @Test func anUnknownAuthenticationUIValueIsRefused() {
        for value: Any in ["u_AuthUIX", 1, kSecMatchLimitAll] {
            #expect(codes(Query.password("account").with(kSecUseAuthenticationUI, value)) == [errSecParam])
        }
    }

    @Test func useItemListIsRefusedAsOnIOS() {
        #expect(codes(Query.password("account").with(deprecated.kSecUseItemList, [] as CFArray)) == [errSecParam])
    }

    @Test func useDataProtectionKeychainHasNoEffect() {
        simulator.run {
            for value in [true, false] {
                #expect(secret(Query.password("account").with(kSecUseDataProtectionKeychain, value)) == "secret")
            }
        }
        #expect(codes(Query.password("account").with(kSecUseDataProtectionKeychain, "yes")) == [errSecParam])
    }
}
