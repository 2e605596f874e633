// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Security
import Testing

@Suite(.simulator()) struct AccessControlTests {
    private func rule(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
        try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
    }

    @Test func readingAfterEvaluateAccessControlDoesNotPrompt_LA41() async throws {
        let rule = try rule(.userPresence)
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecValueData as String: Data([1]),
            kSecAttrAccessControl as String: rule,
        ]
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
        let context = LAContext()
        try machine().touch(matching: true)
        #expect(try await context.evaluateAccessControl(rule, operation: .useItem, localizedReason: "test"))
        context.interactionNotAllowed = true
        var result: CFTypeRef?
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecReturnData as String: true,
            kSecUseAuthenticationContext as String: context,
        ]
        #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
    }

    @Test func createOperationsDoNotPrompt_AC05() async throws {
        let context = LAContext()
        context.interactionNotAllowed = true
        #expect(
            try await context.evaluateAccessControl(
                rule(.biometryAny), operation: .createItem, localizedReason: "test"))
    }

    @Test func constraintsJoinedByAndPromptOneAfterTheOther_AC02() async throws {
        try machine().touch(matching: true)
        try machine().enter(passcode: "1234")
        #expect(
            try await LAContext().evaluateAccessControl(
                rule([.biometryAny, .and, .devicePasscode]), operation: .useItem, localizedReason: "test"))
    }

    @Test func aCredentialIsSetUntilItIsRemovedOrTheContextInvalidated_LA40() {
        let context = LAContext()
        #expect(!context.isCredentialSet(.applicationPassword))
        #expect(context.setCredential(Data("word".utf8), type: .applicationPassword))
        #expect(context.isCredentialSet(.applicationPassword))
        #expect(!context.isCredentialSet(.smartCardPIN))
        #expect(context.setCredential(nil, type: .applicationPassword))
        #expect(!context.isCredentialSet(.applicationPassword))
        _ = context.setCredential(Data(), type: .smartCardPIN)
        context.invalidate()
        #expect(!context.isCredentialSet(.smartCardPIN))
        #expect(!context.setCredential(Data(), type: .smartCardPIN))
    }
}
