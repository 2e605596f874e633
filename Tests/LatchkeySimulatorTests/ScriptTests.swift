// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import Testing

/// Actions of the user are queued, and each is performed on the first prompt that accepts it.
@Suite(.timeLimit(.minutes(1))) struct ScriptTests {
    private let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics

    @Test func actionsArePerformedInOrder() async throws {
        let simulator = try Simulator()
        simulator.cancel()
        simulator.touch(matching: true)
        simulator.cancel()
        simulator.touch(matching: false)
        simulator.touch(matching: true)
        await simulator.run {
            #expect(await evaluate() == .userCancel)
            #expect(await evaluate() == nil)
            #expect(await evaluate() == .userCancel)
            #expect(await evaluate() == nil)
        }
    }

    /// Every pair of endings, one after the other.
    @Test func afterAPromptEndsTheNextActionWaitsForTheNextPrompt() async throws {
        let endings: [(LAError.Code?, (Simulator) -> Void)] = [
            (nil, { $0.touch(matching: true) }), (.userCancel, { $0.cancel() }),
            (.authenticationFailed, { for _ in 0..<3 { $0.touch(matching: false) } }),
            (
                .userFallback,
                { simulator in
                    simulator.touch(matching: false)
                    simulator.chooseFallback()
                }
            ),
        ]
        for first in endings {
            for second in endings {
                // Each pair on a new machine, with a match between them, so that five failures in a row never add up.
                let simulator = try Simulator()
                first.1(simulator)
                simulator.touch(matching: true)
                second.1(simulator)
                await simulator.run {
                    #expect(await evaluate(biometry) == first.0)
                    #expect(await evaluate(biometry) == nil)
                    #expect(await evaluate(biometry) == second.0)
                }
            }
        }
    }

    @Test func anActionWaitsUntilAcceptedAndLaterActionsWaitToo() async throws {
        let simulator = try Simulator()
        // The passcode is asked for only after the fallback was chosen, and that only after a failed touch.
        simulator.touch(matching: false)
        simulator.chooseFallback()
        simulator.enter(passcode: "0000")
        simulator.enter(passcode: "1234")
        simulator.touch(matching: true)
        await simulator.run {
            #expect(await evaluate() == nil)
            #expect(await evaluate(biometry) == nil, "this evaluation uses the touch")
        }
    }

    @Test func anActionMayComeBeforeOrAfterThePrompt() async throws {
        let simulator = try Simulator(waitsForActions: true)
        simulator.touch(matching: true)
        await simulator.run {
            #expect(await evaluate() == nil)
            async let late = evaluate()
            simulator.touch(matching: true)
            #expect(await late == nil)
        }
    }

    @Test func forgottenActionsAreNotPerformed() async throws {
        let simulator = try Simulator()
        simulator.cancel()
        simulator.touch(matching: false)
        try simulator.forgetActions()
        simulator.touch(matching: true)
        await simulator.run { #expect(await evaluate() == nil) }
    }

    @Test func aTouchWithNothingEnrolledDoesNotMatch() async throws {
        let simulator = try Simulator()
        simulator.run { #expect(add("account", "secret", .userPresence) == errSecSuccess) }
        try simulator.unenroll()
        simulator.enter(passcode: "1234")
        simulator.run { #expect(read("account").secret == "secret", "the passcode is asked for at once") }
    }

    @Test func aThousandScriptedEvaluationsEndAsScripted() async throws {
        let simulator = try Simulator()
        let expected = (0..<1000).map { $0.isMultiple(of: 3) ? LAError.Code.userCancel : nil }
        for code in expected {
            if code == nil { simulator.touch(matching: true) } else { simulator.cancel() }
        }
        let endings = await simulator.run {
            var endings: [LAError.Code?] = []
            for _ in expected { endings.append(await evaluate()) }
            return endings
        }
        #expect(endings == expected)
    }

    @Test func aThousandScriptedReadsOfAProtectedItem() throws {
        let simulator = try Simulator()
        for _ in 0..<1000 { simulator.touch(matching: true) }
        simulator.run {
            #expect(add("account", "secret", .biometryCurrentSet) == errSecSuccess)
            var count = 0
            for _ in 0..<1000 where read("account").secret == "secret" { count += 1 }
            #expect(count == 1000)
        }
    }
}
