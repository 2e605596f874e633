// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import Testing

/// Adding, updating and deleting items with access controls.
@Suite struct ProtectedWriteTests {
    private let simulator: Simulator
    private let item = Query.password("account", service: "service")
    private let new: Query = [kSecValueData as String: Data("new".utf8)]

    init() throws {
        simulator = try Simulator()
        simulator.run { #expect(add(item.secret().under(.userPresence)) == errSecSuccess) }
    }

    @Test func deletingDoesNotPrompt_AC10_T37() {
        simulator.run {
            #expect(delete(item.with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail)) == errSecSuccess)
            #expect(exists(item) == errSecItemNotFound)
        }
    }

    @Test func updatingPrompts_AC11() {
        simulator.run {
            #expect(
                update(item.with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail), new)
                    == errSecInteractionNotAllowed)
            simulator.cancel()
            #expect(update(item, new) == errSecUserCanceled)
            simulator.touch(matching: true)
            #expect(secret(item) == "secret", "nothing has changed yet")
            simulator.touch(matching: true)
            #expect(update(item, new) == errSecSuccess)
            simulator.touch(matching: true)
            #expect(secret(item) == "new")
        }
    }

    @Test func updatingWithAnAuthenticatedContextDoesNotPrompt_AC11() async throws {
        simulator.touch(matching: true)
        try await simulator.run {
            let context = LAContext()
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
            let known = item.with(kSecUseAuthenticationContext, context)
            #expect(update(known, new) == errSecSuccess)
            #expect(secret(known) == "new")
        }
    }

    @Test func duplicateIsReportedWithoutAPrompt_KC05() {
        simulator.run {
            #expect(add(item.secret()) == errSecDuplicateItem)
            #expect(add(item.secret().under(.biometryAny)) == errSecDuplicateItem)
        }
    }

    @Test func accessControlCanBeRemovedAfterAuthentication() {
        simulator.run {
            simulator.touch(matching: true)
            #expect(update(item, Query().under([])) == errSecSuccess)
            #expect(secret(item) == "secret")
        }
    }

    @Test func accessControlCanBeAddedToAnItem() {
        simulator.run {
            let free = Query.password("free")
            #expect(add(free.secret()) == errSecSuccess)
            #expect(update(free, Query().under(.userPresence)) == errSecSuccess)
            simulator.cancel()
            #expect(find(free.data).status == errSecUserCanceled)
        }
    }

    /// An accessibility is an access control without constraints, as on Apple systems. The update needs the proof that
    /// the old access control requires.
    @Test func newAccessibilityReplacesTheWholeAccessControl() {
        let changes: Query = [kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlock]
        simulator.run {
            simulator.cancel()
            #expect(update(item, changes) == errSecUserCanceled)
            simulator.touch(matching: true)
            #expect(update(item, changes) == errSecSuccess)
            #expect(secret(item) == "secret")
        }
    }

    // MARK: - Access controls that cannot be enforced

    @Test(arguments: [.biometryAny, .biometryCurrentSet] as [SecAccessControlCreateFlags])
    func biometricConstraintsRequireEnrolledBiometry_AC03(flags: SecAccessControlCreateFlags) throws {
        let unenrolled = try Simulator(isEnrolled: false)
        unenrolled.run { #expect(add(item.secret().under(flags)) == errSecAuthFailed) }
        let without = try Simulator(sensor: .none)
        without.run {
            #expect(add(item.secret().under(flags)) == errSecAuthFailed)
            #expect(add(.password("free").secret()) == errSecSuccess)
            #expect(update(.password("free"), Query().under(flags)) == errSecAuthFailed)
        }
    }

    @Test func privateKeyUsageIsValidForKeysOnly_AC17() {
        simulator.run {
            #expect(add(.password("key").secret().under(.privateKeyUsage)) == errSecAuthFailed)
            #expect(add(.password("key").secret().under([.privateKeyUsage, .userPresence])) == errSecAuthFailed)
        }
    }

    // MARK: - Access control and accessibility

    @Test func accessControlMayBeCombinedWithItsOwnAccessibility_AC14() {
        simulator.run {
            let both = Query.password("both").secret().under([], deprecated.kSecAttrAccessibleAlways)
                .with(kSecAttrAccessible, deprecated.kSecAttrAccessibleAlways)
            #expect(add(both) == errSecSuccess)
            #expect(
                exists(Query.password("both").with(kSecAttrAccessible, deprecated.kSecAttrAccessibleAlways))
                    == errSecSuccess)
        }
    }

    @Test func accessControlCannotBeCombinedWithAnotherAccessibility_AC14() {
        simulator.run {
            let both = Query.password("both").secret().under([], deprecated.kSecAttrAccessibleAlways)
                .with(kSecAttrAccessible, kSecAttrAccessibleWhenUnlocked)
            #expect(add(both) == errSecParam)
        }
    }

    @Test func invalidAccessControlValuesAreRejected_AC15() {
        simulator.run {
            for value: Any in ["rule", 1, NSObject(), Data(), deprecated.kSecAttrAccessibleAlways] {
                #expect(add(Query.password("new").with(kSecAttrAccessControl, value)) == errSecParam)
            }
        }
    }
}
