// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct BiometricEvaluationTests {
    /// Runs a script on a machine and evaluates each of the policies.
    private func endings(
        _ simulator: Simulator, _ policies: LAPolicy..., script: (Simulator) -> Void
    ) async -> [Ending] {
        script(simulator)
        return await simulator.run {
            var endings: [Ending] = []
            for policy in policies { endings.append(await ending(policy)) }
            return endings
        }
    }

    @Test(arguments: [Simulator.Sensor.touchID, .faceID, .opticID])
    func aMatchSucceedsWithoutAnError_LA22(sensor: Simulator.Sensor) async throws {
        let endings = await endings(try Simulator(sensor: sensor), .biometry, .owner) {
            $0.scan(matching: true, sensor)
            $0.scan(matching: true, sensor)
        }
        #expect(endings == [.success, .success])
    }

    @Test func theCancelButtonEndsWithUserCancel_LA23() async throws {
        let endings = await endings(try Simulator(), .biometry, .owner) {
            $0.cancel()
            $0.touch(matching: false)
            $0.cancel()
        }
        #expect(endings == [.failure(.userCancel), .failure(.userCancel)])
    }

    @Test func theFallbackButtonEndsABiometricPolicyWithUserFallback_LA24() async throws {
        let endings = await endings(try Simulator(), .biometry) {
            $0.touch(matching: false)
            $0.chooseFallback()
        }
        #expect(endings == [.failure(.userFallback)])
    }

    @Test func theFallbackButtonOfDeviceOwnerAuthenticationAsksForThePasscode_LA24() async throws {
        let endings = await endings(try Simulator(), .owner) {
            $0.touch(matching: false)
            $0.chooseFallback()
            $0.enter(passcode: "1234")
        }
        #expect(endings == [.success])
    }

    // MARK: - Tries

    @Test func threeFailedTouchesEndABiometricEvaluation_LA27() async throws {
        let endings = await endings(try Simulator(), .biometry) { for _ in 0..<3 { $0.touch(matching: false) } }
        #expect(endings == [.failure(.authenticationFailed)])
    }

    @Test func twoFailedTouchesDoNotEndABiometricEvaluation_LA27() async throws {
        let endings = await endings(try Simulator(), .biometry) {
            for matching in [false, false, true] { $0.touch(matching: matching) }
        }
        #expect(endings == [.success])
    }

    @Test func afterThreeFailedTouchesDeviceOwnerAuthenticationAsksForThePasscode_LA27() async throws {
        let endings = await endings(try Simulator(), .owner) {
            for _ in 0..<3 { $0.touch(matching: false) }
            $0.enter(passcode: "1234")
        }
        #expect(endings == [.success])
    }

    @Test(arguments: [Simulator.Sensor.faceID, .opticID])
    func afterTwoFailedFacesOnlyTheFallbackIsOffered_LA27(sensor: Simulator.Sensor) async throws {
        let endings = await endings(try Simulator(sensor: sensor), .biometry, .biometry) {
            $0.presentFace(matching: false)
            $0.presentFace(matching: false)
            $0.chooseFallback()
            $0.presentFace(matching: true)
        }
        #expect(endings == [.failure(.userFallback), .success])
    }

    @Test func afterTwoFailedFacesWithoutAFallbackTheEvaluationFails_LA27() async throws {
        let simulator = try Simulator(sensor: .faceID)
        simulator.presentFace(matching: false)
        simulator.presentFace(matching: false)
        await simulator.run {
            let context = LAContext()
            context.localizedFallbackTitle = ""
            #expect(await ending(.biometry, context) == .failure(.authenticationFailed))
        }
    }

    @Test func threeWrongPasscodesEndAnEvaluation() async throws {
        let endings = await endings(try Simulator(sensor: .none), .owner) {
            for wrong in ["4321", "4322", "4323"] { $0.enter(passcode: wrong) }
        }
        #expect(endings == [.failure(.authenticationFailed)])
    }

    // MARK: - Lockout

    @Test func fiveFailedTouchesLockBiometryAcrossEvaluationsAndContexts_LA28() async throws {
        let endings = await endings(try Simulator(), .biometry, .biometry, .biometry) {
            for _ in 0..<5 { $0.touch(matching: false) }
        }
        #expect(
            endings == [.failure(.authenticationFailed), .failure(.biometryLockout), .failure(.biometryLockout)])
    }

    @Test func duringLockoutThePasscodeIsAskedForAndEndsTheLockout_LA28_LA04() async throws {
        let simulator = try Simulator()
        let locked = await endings(simulator, .biometry, .biometry) { for _ in 0..<5 { $0.touch(matching: false) } }
        #expect(locked.last == .failure(.biometryLockout))
        let opened = await endings(simulator, .owner, .biometry) {
            $0.enter(passcode: "1234")
            $0.touch(matching: true)
        }
        #expect(opened == [.success, .success])
    }

    @Test func aLockoutDuringDeviceOwnerAuthenticationAsksForThePasscode_LA28() async throws {
        let endings = await endings(try Simulator(), .biometry, .owner, .biometry) {
            for _ in 0..<5 { $0.touch(matching: false) }
            $0.enter(passcode: "1234")
            $0.touch(matching: true)
        }
        #expect(endings == [.failure(.authenticationFailed), .success, .success])
    }

    @Test func aWrongPasscodeDoesNotEndALockout_LA28() async throws {
        let simulator = try Simulator()
        _ = await endings(simulator, .biometry, .biometry) { for _ in 0..<5 { $0.touch(matching: false) } }
        let endings = await endings(simulator, .owner, .biometry) {
            $0.enter(passcode: "4321")
            $0.cancel()
        }
        #expect(endings == [.failure(.userCancel), .failure(.biometryLockout)])
    }

    @Test func aMatchResetsTheFailureCounter_LA29() async throws {
        let simulator = try Simulator()
        let endings = await endings(simulator, .biometry, .biometry, .biometry) {
            for matching in [false, false, true, false, false, true, false, false, true] {
                $0.touch(matching: matching)
            }
        }
        #expect(endings == [.success, .success, .success])
        simulator.run { #expect(preflight(.biometry) == nil) }
    }

    @Test func cancellingDoesNotResetTheFailureCounter_LA29() async throws {
        let endings = await endings(try Simulator(), .biometry, .biometry, .biometry) {
            for _ in 0..<2 {
                $0.touch(matching: false)
                $0.touch(matching: false)
                $0.cancel()
            }
            $0.touch(matching: false)
        }
        #expect(endings == [.failure(.userCancel), .failure(.userCancel), .failure(.biometryLockout)])
    }

    @Test func aLockoutSurvivesARestartOfTheDaemon_LA28_abuse27() async throws {
        let folder = try TemporaryFolder()
        do {
            let simulator = try Simulator(store: .folder(folder.path + "/store"))
            _ = await endings(simulator, .biometry, .biometry) { for _ in 0..<5 { $0.touch(matching: false) } }
        }
        let simulator = try Simulator(store: .folder(folder.path + "/store"))
        simulator.run { #expect(preflight(.biometry) == .biometryLockout) }
        let endings = await endings(simulator, .owner, .biometry) {
            $0.enter(passcode: "1234")
            $0.touch(matching: true)
        }
        #expect(endings == [.success, .success])
    }

    // MARK: - Refused evaluations

    @Test func anEvaluationFailsWithTheCodeOfItsPreflight_LA02() async throws {
        let machines = [
            try Simulator(sensor: .none), try Simulator(isEnrolled: false), try Simulator(passcode: nil),
            try Simulator(sensor: .none, isEnrolled: false, passcode: nil),
        ]
        for simulator in machines {
            await simulator.run {
                for policy in [LAPolicy.biometry, .owner] {
                    guard let refusal = preflight(policy) else { continue }
                    #expect(await ending(policy) == .failure(refusal))
                }
            }
        }
    }

    @Test func withInteractionNotAllowedNoPromptIsShown_LA31_abuse25() async throws {
        let machine = try RecordingMachine()
        let context = machine.run { LAContext() }
        context.interactionNotAllowed = true
        for policy in [LAPolicy.biometry, .owner] {
            #expect(await ending(policy, context) == .failure(.notInteractive))
        }
        #expect(machine.shown.isEmpty)
        context.interactionNotAllowed = false
        machine.perform(.touch(matching: true))
        #expect(await ending(.owner, context) == .success)
        context.interactionNotAllowed = true
        #expect(await ending(.owner, context) == .success, "a context with a proof needs no prompt")
    }
}
