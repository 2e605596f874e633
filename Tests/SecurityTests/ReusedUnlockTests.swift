// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import Testing

/// Keychain calls and access controls accept a recent unlock of the device by biometry, as policies do, for as long as
/// the context says.
@Suite struct ReusedUnlockTests {
    private let simulator: Simulator

    init() throws { simulator = try Simulator() }

    private func context(_ seconds: TimeInterval) -> LAContext {
        let context = LAContext()
        context.touchIDAuthenticationAllowableReuseDuration = seconds
        context.interactionNotAllowed = true
        return context
    }

    /// Adds an item under the flags.
    private func addItem(
        _ flags: SecAccessControlCreateFlags, _ protection: CFString = kSecAttrAccessibleWhenUnlocked
    ) {
        #expect(add(Query.password("account").secret().under(flags, protection)) == errSecSuccess)
    }

    private func unlock(byBiometry: Bool = true) throws {
        try simulator.lock()
        try simulator.unlock(byBiometry: byBiometry)
    }

    /// The status of reading the item with a context that allows no prompt.
    private func read(_ seconds: TimeInterval) -> OSStatus {
        find(Query.password("account").data.with(kSecUseAuthenticationContext, context(seconds))).status
    }

    @Test(arguments: [SecAccessControlCreateFlags.biometryAny, .biometryCurrentSet, .userPresence])
    func anUnlockByBiometryOpensItemsWithinTheWindowOnly_LA33(flags: SecAccessControlCreateFlags) throws {
        try simulator.run {
            addItem(flags)
            try unlock()
            let context = context(10)
            #expect(secret(Query.password("account").with(kSecUseAuthenticationContext, context)) == "secret")
            #expect(read(0) == errSecInteractionNotAllowed)
            try simulator.advance(by: .seconds(11))
            #expect(read(10) == errSecInteractionNotAllowed)
            #expect(read(60) == errSecSuccess)
            try simulator.advance(by: .seconds(290))
            #expect(read(.infinity) == errSecInteractionNotAllowed)
        }
    }

    @Test func aCallWithoutAContextReusesNoUnlock_LA33() throws {
        try simulator.run {
            addItem(.biometryAny)
            try unlock()
            simulator.cancel()
            #expect(find(Query.password("account").data).status == errSecUserCanceled)
        }
    }

    @Test func anUnlockByPasscodeOrBeforeAChangeOfTheSetOpensNothing_LA33() throws {
        try simulator.run {
            addItem(.biometryAny)
            try unlock(byBiometry: false)
            #expect(read(300) == errSecInteractionNotAllowed)
            try unlock()
            #expect(read(300) == errSecSuccess)
            try simulator.replaceFinger()
            #expect(read(300) == errSecInteractionNotAllowed)
        }
    }

    @Test func whatNeedsThePasscodeIsNotOpenedByAnUnlock_LA33() throws {
        // The key of the passcode class, which is derived from the passcode, is wiped by the lock.
        let cases: [(flags: SecAccessControlCreateFlags, protection: CFString, status: OSStatus)] = [
            (.devicePasscode, kSecAttrAccessibleWhenUnlocked, errSecInteractionNotAllowed),
            ([.biometryAny, .and, .devicePasscode], kSecAttrAccessibleWhenUnlocked, errSecInteractionNotAllowed),
            (.biometryAny, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, errSecInteractionNotAllowed),
            (.biometryAny, kSecAttrAccessibleWhenUnlocked, errSecSuccess),
        ]
        for (flags, protection, status) in cases {
            let simulator = try Simulator()
            try simulator.run {
                addItem(flags, protection)
                try simulator.lock()
                try simulator.unlock(byBiometry: true)
                #expect(read(300) == status, "\(flags) \(protection)")
            }
        }
    }

    @Test func protectedItemsAreStillSkippedWhenTheQuerySaysSo_LA33() throws {
        try simulator.run {
            addItem(.biometryAny)
            try unlock()
            let query = Query.password("account").data.with(kSecUseAuthenticationContext, context(300))
            let skipping = query.with(kSecUseAuthenticationUI, kSecUseAuthenticationUISkip)
            #expect(find(skipping).status == errSecItemNotFound)
            #expect(find(query).status == errSecSuccess)
        }
    }

    @Test func anAccessControlIsEvaluatedByAnUnlock_LA33_LA41() async throws {
        try await simulator.run {
            addItem(.biometryAny)
            let rule = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .biometryAny, nil))
            try unlock()
            let context = context(10)
            try await context.evaluateAccessControl(rule, operation: .useItem, localizedReason: "test")
            try simulator.advance(by: .seconds(60))
            let query = Query.password("account").with(kSecUseAuthenticationContext, context)
            #expect(secret(query) == "secret", "the context holds the proof")
            await #expect(throws: LAError.self) {
                try await self.context(10).evaluateAccessControl(rule, operation: .useItem, localizedReason: "test")
            }
        }
    }
}

/// Keys of the Secure Enclave and a reused unlock.
@Suite(.onEachEnclave) struct ReusedUnlockKeyTests {
    @Test func anUnlockPermitsTheUseOfAKeyAndNotOfASecondOneInATPM_LA33() throws {
        let simulator = try EachEnclave.machine()
        try simulator.run {
            for tag in ["one", "two"] {
                _ = try makeKey(enclaveParameters([.privateKeyUsage, .biometryAny], tag: tag))
            }
            try simulator.lock()
            try simulator.unlock(byBiometry: true)
            let context = LAContext()
            context.touchIDAuthenticationAllowableReuseDuration = 300
            context.interactionNotAllowed = true
            func sign(_ tag: String) throws -> Int? {
                errorOfSigning(try findKey(.key(tag: tag).with(kSecUseAuthenticationContext, context)))?.code
            }
            #expect(try sign("one") == nil)
            #expect(try sign("one") == nil)
            #expect(try sign("two") == (EachEnclave.isTPM ? -1004 : nil))
        }
    }
}
