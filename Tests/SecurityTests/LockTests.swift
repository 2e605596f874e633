// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import TestPromises
import Testing

/// Which accessibility classes a locked keychain can read and write.
@Suite struct LockTests {
    private static let whenUnlocked = [
        kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
        kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
    ].map { $0 as String }
    private static let afterFirstUnlock = [
        kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
    ].map { $0 as String }
    private static let always = [
        deprecated.kSecAttrAccessibleAlways, deprecated.kSecAttrAccessibleAlwaysThisDeviceOnly,
    ].map { $0 as String }
    private let simulator: Simulator

    init() throws { simulator = try Simulator() }

    private func item(_ accessibility: String, _ account: String = "account") -> Query {
        .password(account).with(kSecAttrAccessible, accessibility)
    }

    @Test(.promise("lock.keys"), arguments: whenUnlocked) func aLockedClassIsNeitherReadNorWritten_KC14(
        accessibility: String
    ) throws {
        try simulator.run {
            #expect(add(item(accessibility).secret()) == errSecSuccess)
            try simulator.lock()
            #expect(exists(.password("account")) == errSecInteractionNotAllowed)
            #expect(find(Query.password("account").data).status == errSecInteractionNotAllowed)
            #expect(find(Query.password("account").attributes).status == errSecInteractionNotAllowed)
            #expect(update(.password("account"), [kSecAttrLabel as String: "x"]) == errSecInteractionNotAllowed)
            #expect(add(item(accessibility, "other").secret()) == errSecInteractionNotAllowed)
            try simulator.unlock(byBiometry: false)
            #expect(secret(.password("account")) == "secret")
        }
    }

    @Test(arguments: afterFirstUnlock + always) func otherClassesAreUnaffected_KC14(accessibility: String) throws {
        try simulator.run {
            try simulator.lock()
            #expect(add(item(accessibility).secret()) == errSecSuccess)
            #expect(secret(.password("account")) == "secret")
            #expect(delete(.password("account")) == errSecSuccess)
        }
    }

    @Test(arguments: afterFirstUnlock)
    func afterFirstUnlockItemsAreUnreadableBeforeTheFirstUnlock(accessibility: String) throws {
        try simulator.run {
            #expect(add(item(accessibility).secret()) == errSecSuccess)
            try simulator.lock()
            try simulator.restart()
            #expect(exists(.password("account")) == errSecInteractionNotAllowed)
            try simulator.unlock(byBiometry: false)
            #expect(secret(.password("account")) == "secret")
            try simulator.lock()
            #expect(secret(.password("account")) == "secret")
        }
    }

    @Test(.promise("lock.keys")) func aRestartDoesNotUnlock() throws {
        try simulator.run {
            #expect(add(Query.password("account").secret()) == errSecSuccess)
            try simulator.lock()
            try simulator.restart()
            #expect(exists(.password("account")) == errSecInteractionNotAllowed)
        }
    }

    @Test func itemsCanBeDeletedWhileLocked() throws {
        try simulator.run {
            #expect(add(Query.password("account").secret()) == errSecSuccess)
            try simulator.lock()
            #expect(delete(.password("account")) == errSecSuccess)
        }
    }

    @Test func anInternetPasswordIsNeitherAddedNorFoundWhileLocked_T39_KC14() throws {
        try simulator.run {
            let login: Query = [
                kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: "example.com",
            ]
            #expect(add(login.secret()) == errSecSuccess)
            try simulator.lock()
            #expect(add(login.with(kSecAttrAccount, "ada").secret()) == errSecInteractionNotAllowed)
            #expect(exists(login) == errSecInteractionNotAllowed)
        }
    }

    @Test func aDuplicateIsReportedOnlyWhileUnlocked_T40_KC20() throws {
        try simulator.run {
            #expect(add(Query.password("account").secret()) == errSecSuccess)
            try simulator.lock()
            #expect(add(Query.password("account").secret()) == errSecInteractionNotAllowed)
            try simulator.unlock(byBiometry: false)
            #expect(add(Query.password("account").secret()) == errSecDuplicateItem)
        }
    }

    @Test func thePasscodeClassKeyIsRestoredByThePasscodeOnly() throws {
        try simulator.run {
            #expect(add(item(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String).secret()) == errSecSuccess)
            try simulator.lock()
            try simulator.unlock(byBiometry: true)
            #expect(
                find(
                    Query.password("account").data.with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail)
                ).status
                    == errSecInteractionNotAllowed)
            simulator.enter(passcode: "1234")
            #expect(secret(.password("account")) == "secret")
        }
    }

    @Test func changingAnItemToALockedClassIsRefused_KC14() throws {
        try simulator.run {
            #expect(add(item(deprecated.kSecAttrAccessibleAlways as String).secret()) == errSecSuccess)
            try simulator.lock()
            let change: Query = [kSecAttrAccessible as String: kSecAttrAccessibleWhenUnlocked]
            #expect(update(.password("account"), change) == errSecInteractionNotAllowed)
            #expect(secret(.password("account")) == "secret")
        }
    }
}
