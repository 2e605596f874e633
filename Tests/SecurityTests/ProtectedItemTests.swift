// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import Testing

/// Items protected by biometry, through the API as an app writes it.
@Suite struct ProtectedItemTests {
    private func add(_ account: String, _ flags: SecAccessControlCreateFlags) -> OSStatus {
        let rule = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, flags, nil)
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account,
            kSecValueData as String: Data("secret".utf8), kSecAttrAccessControl as String: rule as Any,
        ]
        return SecItemAdd(item as CFDictionary, nil)
    }

    private func read(_ account: String) -> (OSStatus, Data?) {
        var result: CFTypeRef?
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account,
            kSecReturnData as String: true,
        ]
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return (status, result as? Data)
    }

    @Test func matchingFingerprintReleasesTheSecret() throws {
        let simulator = try Simulator()
        simulator.run {
            #expect(add("a", .biometryCurrentSet) == errSecSuccess)
            simulator.touch(matching: false)
            simulator.touch(matching: true)
            let (status, data) = read("a")
            #expect(status == errSecSuccess)
            #expect(data == Data("secret".utf8))
        }
    }

    @Test func enrolmentChangeInvalidatesOnlyItemsBoundToTheEnrolmentSet_AC04() throws {
        let simulator = try Simulator()
        try simulator.run { () throws in
            #expect(add("bound", .biometryCurrentSet) == errSecSuccess)
            #expect(add("any", .userPresence) == errSecSuccess)
            try simulator.replaceFinger()
            #expect(read("bound").0 == errSecItemNotFound)
            simulator.touch(matching: true)
            #expect(read("any").1 == Data("secret".utf8))
            #expect(add("bound", .biometryCurrentSet) == errSecSuccess)
        }
    }
}
