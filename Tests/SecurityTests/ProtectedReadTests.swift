// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import Testing

/// Reading an item with constraints prompts first, and a failure returns the exact reason.
@Suite struct ProtectedReadTests {
    private let item = Query.password("account", service: "service")

    /// A machine with one item under an access control with these flags.
    private func machine(_ flags: SecAccessControlCreateFlags, sensor: Simulator.Sensor = .touchID) throws -> Simulator
    {
        let simulator = try Simulator(sensor: sensor)
        simulator.run { #expect(add(item.secret().under(flags)) == errSecSuccess) }
        return simulator
    }

    /// Expects that the prompt of this read uses the next scheduled input and releases the secret.
    private func expectUntouched(_ simulator: Simulator, sourceLocation: SourceLocation = #_sourceLocation) {
        simulator.run { #expect(secret(item) == "secret", sourceLocation: sourceLocation) }
    }

    @Test func addingDoesNotPrompt_AC05_T34() throws {
        let simulator = try machine(.userPresence)
        simulator.touch(matching: true)
        simulator.run {
            let quiet = Query.password("quiet").secret().under(.biometryCurrentSet)
                .with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail)
            #expect(add(quiet) == errSecSuccess)
            #expect(add(.password("other").secret().under([.biometryAny, .devicePasscode])) == errSecSuccess)
        }
        expectUntouched(simulator)
    }

    /// The call blocks while the prompt is shown and returns the result of the user's input.
    @Test func readBlocksUntilAMatchReleasesTheSecret_AC02_KC18() throws {
        let simulator = try machine(.biometryAny)
        simulator.touch(matching: true)
        expectUntouched(simulator)
    }

    @Test(arguments: ["data", "attributes", "reference", "nothing"])
    func everyKindOfReadPrompts_AC06(kind: String) throws {
        let simulator = try machine(.userPresence)
        let quiet = item.with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail)
        let ask: (Query) -> OSStatus = { query in
            switch kind {
            case "data": find(query.data).status
            case "attributes": find(query.attributes).status
            case "reference": find(query.reference).status
            default: exists(query)
            }
        }
        simulator.run {
            #expect(ask(quiet) == errSecInteractionNotAllowed)
            simulator.cancel()
            #expect(ask(item) == errSecUserCanceled)
            simulator.touch(matching: true)
            #expect(ask(item) == errSecSuccess)
        }
    }

    /// The fallback button would only return errSecAuthFailed, since such an item has no fallback.
    @Test func biometryOnlyItemOffersFallbackOnlyWithATitleFromTheApp_LA24_AC12() throws {
        for (flags, title, isOffered) in [
            (SecAccessControlCreateFlags.biometryAny, nil, false), (.biometryAny, "Use Password", true),
            (.userPresence, nil, true),
        ] {
            let simulator = try machine(flags)
            simulator.touch(matching: false)
            simulator.touch(matching: true)
            simulator.run {
                let context = LAContext()
                context.localizedFallbackTitle = title
                #expect(secret(item.with(kSecUseAuthenticationContext, context)) == "secret")
            }
            let lines = simulator.transcript.lines
            #expect(lines.contains { $0.contains("fallback \"") } == isOffered, "\(lines)")
        }
    }

    @Test func failedReadLeavesTheResultUnchanged_AC12() throws {
        let simulator = try machine(.biometryAny)
        simulator.cancel()
        simulator.run {
            var result: CFTypeRef? = "untouched" as NSString
            #expect(SecItemCopyMatching(item.data as CFDictionary, &result) == errSecUserCanceled)
            #expect(result as? String == "untouched")
        }
    }

    @Test func eachReadWithoutAContextPromptsAgain_AC08() throws {
        let simulator = try machine(.userPresence)
        simulator.touch(matching: true)
        simulator.cancel()
        simulator.run {
            #expect(secret(item) == "secret")
            #expect(find(item.data).status == errSecUserCanceled)
        }
    }

    // MARK: - Failures

    @Test func cancellingReturnsUserCanceled_AC12() throws {
        let simulator = try machine(.biometryAny)
        simulator.cancel()
        simulator.run { #expect(find(item.data).status == errSecUserCanceled) }
    }

    @Test func threeFailedTriesReturnAuthFailed_AC12() throws {
        let simulator = try machine(.biometryAny)
        for _ in 0..<3 { simulator.touch(matching: false) }
        simulator.run { #expect(find(item.data).status == errSecAuthFailed) }
    }

    @Test func fallbackButtonOfABiometryOnlyItemReturnsAuthFailed_AC12() throws {
        let simulator = try machine(.biometryAny)
        simulator.touch(matching: false)
        simulator.chooseFallback()
        simulator.run {
            let context = LAContext()
            context.localizedFallbackTitle = "Use Password"
            #expect(find(item.data.with(kSecUseAuthenticationContext, context)).status == errSecAuthFailed)
        }
    }

    @Test func lockoutReturnsAuthFailedWithoutAPrompt_AC12() throws {
        let simulator = try machine(.biometryAny)
        for _ in 0..<5 { simulator.touch(matching: false) }
        simulator.run {
            #expect(find(item.data).status == errSecAuthFailed)
            #expect(find(item.data).status == errSecAuthFailed)
            simulator.touch(matching: true)
            #expect(find(item.data).status == errSecAuthFailed)
        }
    }

    @Test func missingEnrolmentReturnsAuthFailed_AC12() throws {
        let simulator = try machine(.biometryAny)
        try simulator.unenroll()
        simulator.run { #expect(find(item.data).status == errSecAuthFailed) }
    }

    @Test func missingSensorReturnsAuthFailed_AC12() throws {
        let simulator = try machine(.biometryAny)
        try simulator.connect(.none)
        simulator.run { #expect(find(item.data).status == errSecAuthFailed) }
    }

    // MARK: - Several constraints

    @Test func userPresenceAcceptsThePasscodeAfterFallback_AC02() throws {
        let simulator = try machine(.userPresence)
        simulator.touch(matching: false)
        simulator.chooseFallback()
        simulator.enter(passcode: "1234")
        expectUntouched(simulator)
    }

    @Test func userPresenceDoesNotRequireEnrolledBiometry_AC02() throws {
        let simulator = try Simulator(isEnrolled: false)
        simulator.run { #expect(add(item.secret().under(.userPresence)) == errSecSuccess) }
        simulator.enter(passcode: "1234")
        expectUntouched(simulator)
    }

    @Test func devicePasscodePromptsForThePasscodeOnly_AC02() throws {
        let simulator = try machine(.devicePasscode)
        simulator.enter(passcode: "4321")
        simulator.enter(passcode: "1234")
        expectUntouched(simulator)
    }

    @Test func orAcceptsEitherConstraint_AC02() throws {
        let simulator = try machine([.biometryAny, .or, .devicePasscode])
        simulator.touch(matching: true)
        expectUntouched(simulator)
        simulator.touch(matching: false)
        simulator.chooseFallback()
        simulator.enter(passcode: "1234")
        expectUntouched(simulator)
    }

    @Test(
        arguments: [[.biometryAny, .and, .devicePasscode], [.biometryAny, .devicePasscode]]
            as [SecAccessControlCreateFlags])
    func allConstraintsAreRequiredWithoutOr_AC02(flags: SecAccessControlCreateFlags) throws {
        let simulator = try machine(flags)
        simulator.touch(matching: true)
        simulator.cancel()
        simulator.run { #expect(find(item.data).status == errSecUserCanceled, "a fingerprint is not enough") }
        simulator.touch(matching: true)
        simulator.enter(passcode: "1234")
        expectUntouched(simulator)
    }

    @Test func faceReleasesAnItemLikeAFingerprint() throws {
        let simulator = try machine(.biometryAny, sensor: .faceID)
        simulator.presentFace(matching: false)
        simulator.presentFace(matching: true)
        expectUntouched(simulator)
    }

    // MARK: - Several items

    @Test func searchForAllPromptsOnceForAllMatches_AC16() throws {
        let simulator = try machine(.userPresence)
        simulator.run {
            #expect(add(.password("second").secret("2").under(.biometryAny)) == errSecSuccess)
            #expect(add(.password("free").secret("3")) == errSecSuccess)
            simulator.touch(matching: true)
            let found = find(Query.password().data.all).result as? [Data]
            #expect(found == ["secret", "2", "3"].map { Data($0.utf8) })
        }
    }

    @Test func searchForAllReturnsNothingWhenOneProofIsMissing_AC16() throws {
        let simulator = try machine(.userPresence)
        simulator.run {
            #expect(add(.password("free").secret("free")) == errSecSuccess)
            simulator.cancel()
            let found = find(Query.password().data.all)
            #expect(found.status == errSecUserCanceled)
            #expect(found.result == nil)
        }
    }
}
