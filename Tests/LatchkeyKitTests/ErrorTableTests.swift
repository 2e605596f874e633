// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Testing

/// Each row of the table of errors and recoveries (source-documents, 000): the cause on a simulated machine, the code
/// that the app gets, and the advice.
@Suite struct ErrorTableTests {
    @Test(.simulator()) func aMismatchAdvisesToTryAgain() async throws {
        for _ in 0..<3 { try machine().touch(matching: false) }
        let failure = await ending(.biometry)
        #expect(failure?.code == .authenticationFailed)
        #expect(failure?.advice == .tryAgain)
    }

    @Test(.simulator()) func aCancelledPromptNeedsNoAction() async throws {
        try machine().cancel()
        let failure = await ending(.owner)
        #expect(failure?.code == .userCancel)
        #expect(failure?.advice == .doNothing)
        #expect(failure?.recoverySuggestion == nil)
    }

    @Test(.simulator()) func theFallbackButtonAdvisesToShowTheOwnWay() async throws {
        try machine().touch(matching: false)
        try machine().chooseFallback()
        let failure = await ending(.biometry(reason: "test", fallbackTitle: "Use Password"))
        #expect(failure?.code == .userFallback)
        #expect(failure?.advice == .showOwnWay)
    }

    @Test(.simulator(sensor: .none)) func withoutASensorAnotherWayIsOffered() async throws {
        let failure = await ending(.biometry)
        #expect(failure?.code == .biometryNotAvailable)
        #expect(failure?.advice == .offerAnotherWay)
    }

    @Test(.simulator(isEnrolled: false)) func nothingEnrolledExplainsEnrolment() async throws {
        let failure = await ending(.biometry)
        #expect(failure?.code == .biometryNotEnrolled)
        #expect(failure?.advice == .explainEnrollment)
    }

    @Test(.simulator()) func aLockoutAsksForThePasscode() async throws {
        let simulator = try machine()
        for _ in 0..<5 { simulator.touch(matching: false) }
        _ = await ending(.biometry)
        let failure = await ending(.biometry)
        #expect(failure?.code == .biometryLockout)
        #expect(failure?.advice == .askForPasscode)
        simulator.enter(passcode: "1234")
        #expect(await ending(.owner) == nil, "the advice works")
        simulator.touch(matching: true)
        #expect(await ending(.biometry) == nil, "biometry works again")
    }

    @Test(.simulator(passcode: nil)) func withoutAPasscodeItsSettingIsExplained() async throws {
        let failure = await ending(.owner)
        #expect(failure?.code == .passcodeNotSet)
        #expect(failure?.advice == .explainPasscode)
    }

    @Test(.simulator()) func anInvalidatedContextAsksForANewOne() async throws {
        let spent = BiometricAuth {
            let context = LAContext()
            context.invalidate()
            return context
        }
        let failure = await ending(.owner, spent)
        #expect(failure?.code == .invalidContext)
        #expect(failure?.advice == .makeNewContext)
        try machine().touch(matching: true)
        #expect(await ending(.owner) == nil, "the advice works")
    }

    /// Rows for accessories, which no simulated machine has.
    @Test(arguments: [
        (LAError.Code.biometryNotPaired, RecoveryAdvice.explainPairing),
        (.biometryDisconnected, .askToReconnect),
    ]) func accessoriesAreExplained(code: LAError.Code, advice: RecoveryAdvice) async {
        let failure = await ending(.biometry, auth(ScriptedBiometry(answers: [.failure(code)])))
        #expect(failure?.code == code)
        #expect(failure?.advice == advice)
    }

    // MARK: - Codes outside the table

    @Test(.simulator()) func aLockedDeviceAdvisesToAskLater() async throws {
        let simulator = try machine()
        try simulator.setInBackground(true)
        let failure = await ending(.owner)
        #expect(failure?.code == .notInteractive)
        #expect(failure?.advice == .askLater)
    }

    @Test(.simulator()) func withoutInteractionNoPromptIsShown() async throws {
        var options = AuthenticationOptions.owner
        options.allowsInteraction = false
        let failure = await ending(options)
        #expect(failure?.code == .notInteractive)
        #expect(try machine().transcript.lines.allSatisfy { !$0.contains("prompt") })
    }

    @Test(arguments: [
        (LAError.Code.systemCancel, RecoveryAdvice.askLater), (.appCancel, .doNothing),
        (.companionNotAvailable, .explainPairing), (.invalidDimensions, .correctProgram),
    ]) func everyOtherCodeHasAdvice(code: LAError.Code, advice: RecoveryAdvice) {
        #expect(RecoveryAdvice(for: code) == advice)
    }

    @Test func everyAdviceExceptDoNothingHasASentenceForEverySensor() {
        for advice in RecoveryAdvice.allCases {
            for sensor in Biometry.allCases + [nil] {
                let sentence = advice.sentence(sensor: sensor)
                #expect((sentence == nil) == (advice == .doNothing))
                for other in Biometry.allCases where other != sensor {
                    #expect(sentence?.contains(other.name) != true, "\(advice) names \(other.name)")
                }
            }
        }
    }

    @Test func anErrorOfAnotherDomainIsAFailedAuthentication() {
        struct Odd: Error {}
        #expect(AuthenticationFailure(Odd()).code == .authenticationFailed)
    }
}
