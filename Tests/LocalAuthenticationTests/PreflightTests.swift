// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct PreflightTests {
    /// The preflights of both policies on a machine, biometry first.
    private func answers(_ simulator: Simulator) -> [LAError.Code?] {
        simulator.run { [preflight(.biometry), preflight(.owner)] }
    }

    @Test func bothPoliciesCanBeEvaluatedOnAReadyMachine_LA01() throws {
        #expect(try answers(Simulator()) == [nil, nil])
    }

    @Test func aRefusalFillsTheErrorAndSuccessSetsItToNil_LA01() throws {
        let simulator = try Simulator(isEnrolled: false)
        simulator.run {
            let context = LAContext()
            var error: NSError?
            #expect(!context.canEvaluatePolicy(.biometry, error: &error))
            #expect(error?.domain == LAErrorDomain)
            #expect(error?.code == -7)
            #expect(error?.localizedDescription.isEmpty == false)
            #expect(context.canEvaluatePolicy(.owner, error: &error))
            #expect(error == nil)
        }
    }

    @Test func theErrorPointerMayBeNil_LA01() throws {
        try Simulator(isEnrolled: false).run {
            #expect(!LAContext().canEvaluatePolicy(.biometry, error: nil))
            #expect(LAContext().canEvaluatePolicy(.owner, error: nil))
        }
    }

    @Test func withoutASensorBiometryIsNotAvailable_LA02() throws {
        #expect(try answers(Simulator(sensor: .none)) == [.biometryNotAvailable, nil])
    }

    @Test(arguments: [Simulator.Sensor.touchID, .faceID, .opticID])
    func withNothingEnrolledBiometryIsNotEnrolled_LA02(sensor: Simulator.Sensor) throws {
        #expect(try answers(Simulator(sensor: sensor, isEnrolled: false)) == [.biometryNotEnrolled, nil])
    }

    @Test func aLockoutDisablesBiometryButNotThePasscode_LA02_LA04() async throws {
        let simulator = try Simulator()
        for _ in 0..<5 { simulator.touch(matching: false) }
        await simulator.run {
            for _ in 0..<2 { _ = await ending(.biometry) }
            #expect(preflight(.biometry) == .biometryLockout)
            #expect(preflight(.owner) == nil)
        }
    }

    @Test func withoutAPasscodeNothingCanBeEvaluated_LA03_LA04() throws {
        #expect(try answers(Simulator(passcode: nil)) == [.passcodeNotSet, .passcodeNotSet])
        #expect(try answers(Simulator(isEnrolled: false, passcode: nil)) == [.passcodeNotSet, .passcodeNotSet])
        #expect(try answers(Simulator(sensor: .none, passcode: nil)) == [.biometryNotAvailable, .passcodeNotSet])
    }

    @Test func thePreflightReflectsTheCurrentState_LA09() throws {
        let simulator = try Simulator(sensor: .none, isEnrolled: false, passcode: nil)
        try simulator.setPasscode("1234")
        #expect(answers(simulator) == [.biometryNotAvailable, nil])
        try simulator.connect(.faceID)
        #expect(answers(simulator) == [.biometryNotEnrolled, nil])
        try simulator.enroll()
        #expect(answers(simulator) == [nil, nil])
        try simulator.unenroll()
        #expect(answers(simulator) == [.biometryNotEnrolled, nil])
        try simulator.removePasscode("1234")
        #expect(answers(simulator) == [.passcodeNotSet, .passcodeNotSet])
    }

    // MARK: - The kind of sensor

    @Test(arguments: [
        (Simulator.Sensor.none, LABiometryType.none), (.touchID, .touchID), (.faceID, .faceID), (.opticID, .opticID),
    ])
    func biometryTypeIsSetBySuccessAndByFailure_LA08(sensor: Simulator.Sensor, type: LABiometryType) throws {
        for isEnrolled in [true, false] {
            for policy in [LAPolicy.biometry, .owner] {
                try Simulator(sensor: sensor, isEnrolled: isEnrolled).run {
                    let context = LAContext()
                    #expect(context.biometryType == .none, "before the call")
                    _ = context.canEvaluatePolicy(policy, error: nil)
                    #expect(context.biometryType == type)
                }
            }
        }
    }

    @Test func biometryTypeIsSetWithoutAPasscode_LA08() throws {
        try Simulator(sensor: .faceID, passcode: nil).run {
            let context = LAContext()
            #expect(!context.canEvaluatePolicy(.biometry, error: nil))
            #expect(context.biometryType == .faceID)
        }
    }

    // MARK: - Contexts

    @Test func preflightAndEvaluationMayUseDifferentContexts_LA11() async throws {
        let simulator = try Simulator()
        simulator.touch(matching: true)
        await simulator.run {
            #expect(preflight(.biometry, LAContext()) == nil)
            #expect(await ending(.biometry, LAContext()) == .success)
        }
    }

    @Test func preflightOnAnInvalidatedContextIsInvalidContext_LA12() throws {
        try Simulator().run {
            let context = LAContext()
            context.invalidate()
            #expect(preflight(.biometry, context) == .invalidContext)
            #expect(preflight(.owner, context) == .invalidContext)
        }
    }

    @Test func preflightWithinTheReplyDoesNotBlock_LA10() async throws {
        let simulator = try Simulator()
        simulator.touch(matching: true)
        nonisolated(unsafe) let context = simulator.run { LAContext() }
        // Methods of a context may be called from any thread.
        let answer = try await reply { reply in
            context.evaluatePolicy(.owner, localizedReason: "test") { _, _ in
                reply(context.canEvaluatePolicy(.owner, error: nil))
            }
        }
        #expect(answer)
    }

    @Test func preflightDuringAnEvaluationDoesNotBlock() async throws {
        let machine = try RecordingMachine()
        let context = machine.run { LAContext() }
        let evaluation = Evaluation(context, .owner)
        _ = await machine.nextPrompt()
        #expect(preflight(.owner, context) == nil)
        #expect(machine.run { preflight(.biometry) } == nil)
        machine.perform(.touch(matching: true))
        #expect(await evaluation.end == .success)
    }

    @Test func preflightDoesNotPrompt() async throws {
        let machine = try RecordingMachine()
        machine.run { for _ in 0..<10 { #expect(preflight(.owner) == nil) } }
        #expect(machine.shown.isEmpty)
    }
}
