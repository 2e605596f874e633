// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Security
import Testing

/// Locking, unlocking, the background and restarts.
@Suite(.simulator()) struct SessionTests {
    private func context(reuse seconds: TimeInterval) -> LAContext {
        let context = LAContext()
        context.touchIDAuthenticationAllowableReuseDuration = seconds
        context.interactionNotAllowed = true
        return context
    }

    @Test func anUnlockByBiometryIsReusedWithinTheWindowOnly_LA33() async throws {
        try machine().lock()
        try machine().unlock(byBiometry: true)
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, context(reuse: 10)) == nil)
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, context(reuse: 0)) == .notInteractive)
        try machine().advance(by: .seconds(11))
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, context(reuse: 10)) == .notInteractive)
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, context(reuse: 60)) == nil)
    }

    @Test func anUnlockIsReusedForAtMostFiveMinutes_LA33() async throws {
        try machine().lock()
        try machine().unlock(byBiometry: true)
        try machine().advance(by: .seconds(299))
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, context(reuse: .infinity)) == nil)
        try machine().advance(by: .seconds(2))
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, context(reuse: 3600)) == .notInteractive)
        #expect(LATouchIDAuthenticationMaximumAllowableReuseDuration == 300)
    }

    @Test func aMatchInAnAppOrAnUnlockByPasscodeIsNotReused_LA33() async throws {
        try machine().touch(matching: true)
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics) == nil)
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, context(reuse: 300)) == .notInteractive)
        try machine().lock()
        try machine().unlock(byBiometry: false)
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, context(reuse: 300)) == .notInteractive)
    }

    @Test func anUnlockIsNotReusedAfterAnEnrolmentChange_LA33() async throws {
        try machine().lock()
        try machine().unlock(byBiometry: true)
        try machine().enroll()
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, context(reuse: 300)) == .notInteractive)
    }

    @Test func lockingRevokesTheProofsOfContexts() async throws {
        let context = LAContext()
        try machine().touch(matching: true)
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, context) == nil)
        try machine().lock()
        try machine().unlock(byBiometry: false)
        context.interactionNotAllowed = true
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, context) == .notInteractive)
    }

    @Test func noPromptIsShownWhileLockedOrInTheBackground_LA31() async throws {
        try machine().lock()
        #expect(await evaluate(.deviceOwnerAuthentication) == .notInteractive)
        try machine().unlock(byBiometry: false)
        try machine().setInBackground(true)
        #expect(await evaluate(.deviceOwnerAuthentication) == .notInteractive)
        try machine().setInBackground(false)
        try machine().touch(matching: true)
        #expect(await evaluate(.deviceOwnerAuthentication) == nil)
    }

    @Test func aRestartPreservesItemsAndLockout_LA28() async throws {
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "kept",
            kSecValueData as String: Data("value".utf8),
        ]
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
        for _ in 1...5 { try machine().touch(matching: false) }
        _ = await evaluate(.deviceOwnerAuthenticationWithBiometrics)
        _ = await evaluate(.deviceOwnerAuthenticationWithBiometrics)
        try machine().restart()
        #expect(preflight(.deviceOwnerAuthenticationWithBiometrics) == .biometryLockout)
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "kept",
            kSecReturnData as String: true,
        ]
        var result: CFTypeRef?
        #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
        #expect(result as? Data == Data("value".utf8))
        try machine().enter(passcode: "1234")
        #expect(await evaluate(.deviceOwnerAuthentication) == nil)
        #expect(preflight(.deviceOwnerAuthenticationWithBiometrics) == nil)
    }
}

/// Situations in which the passcode has to be entered before biometry is accepted again.
@Suite(.simulator()) struct PasscodeDueTests {
    private func isDue() -> Bool { preflight(.deviceOwnerAuthenticationWithBiometrics) == .biometryLockout }

    @Test func thePasscodeIsDueAfterARestart() async throws {
        #expect(!isDue())
        try machine().restart()
        #expect(isDue())
        try machine().enter(passcode: "1234")
        #expect(await evaluate(.deviceOwnerAuthentication) == nil, "the passcode is asked at once")
        #expect(!isDue())
    }

    @Test func thePasscodeIsDueAfter48HoursWithoutPasscodeAndBiometry() throws {
        try machine().advance(by: .seconds(48 * 3600))
        #expect(!isDue())
        try machine().advance(by: .seconds(1))
        #expect(isDue())
    }

    @Test func thePasscodeIsDueAfter156HoursUnlessBiometryWasUsedWithinFour() async throws {
        for _ in 1...39 {
            try machine().advance(by: .seconds(4 * 3600))
            try machine().touch(matching: true)
            #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics) == nil)
        }
        try machine().advance(by: .seconds(3 * 3600))
        #expect(!isDue(), "159 hours, and biometry 3 hours ago")
        try machine().advance(by: .seconds(3601))
        #expect(isDue())
        try machine().enter(passcode: "1234")
        #expect(await evaluate(.deviceOwnerAuthentication) == nil)
        #expect(!isDue())
    }
}
