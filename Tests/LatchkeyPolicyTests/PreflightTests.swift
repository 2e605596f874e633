// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// The statuses of `canEvaluatePolicy`, and that an evaluation is refused with the same status.
@Suite struct PreflightTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var sensor: SensorState
        var passcode: Bool
        var failures = 0
        // The statuses with which the biometric and the device-owner policy are refused.
        var biometry: Status?
        var either: Status?
        var testDescription: String {
            let enrolled = sensor.enrolment == nil ? "nothing enrolled" : "enrolled"
            return "\(sensor.kind), \(enrolled), passcode \(passcode), \(failures) failures"
        }
    }

    static let rows = [
        // A missing sensor is reported first, whatever else is missing (-6).
        Row(sensor: .absent, passcode: false, biometry: .biometryNotAvailable, either: .passcodeNotSet),
        Row(sensor: .absent, passcode: true, biometry: .biometryNotAvailable, either: nil),
        Row(sensor: .absent, passcode: true, failures: 5, biometry: .biometryNotAvailable, either: nil),
        // Not documented by Apple: without a passcode nothing can be enrolled, so a missing passcode comes next (-5).
        Row(sensor: .touchEmpty, passcode: false, biometry: .passcodeNotSet, either: .passcodeNotSet),
        Row(sensor: .touch, passcode: false, biometry: .passcodeNotSet, either: .passcodeNotSet),
        Row(sensor: .touch, passcode: false, failures: 5, biometry: .passcodeNotSet, either: .passcodeNotSet),
        // Then nothing enrolled (-7), also while locked.
        Row(sensor: .touchEmpty, passcode: true, biometry: .biometryNotEnrolled, either: nil),
        Row(sensor: .faceEmpty, passcode: true, biometry: .biometryNotEnrolled, either: nil),
        Row(sensor: .touchEmpty, passcode: true, failures: 5, biometry: .biometryNotEnrolled, either: nil),
        // Then the lockout (-8), during which the passcode is usable.
        Row(sensor: .touch, passcode: true, failures: 5, biometry: .biometryLockout, either: nil),
        Row(sensor: .face, passcode: true, failures: 6, biometry: .biometryLockout, either: nil),
        Row(sensor: .touch, passcode: true, failures: 4, biometry: nil, either: nil),
        Row(sensor: .touch, passcode: true, biometry: nil, either: nil),
        Row(sensor: .face, passcode: true, biometry: nil, either: nil),
    ]

    private func world(_ row: Row) -> World {
        World(row.sensor, passcode: row.passcode, biometryFailures: row.failures)
    }

    @Test(arguments: rows) func biometryIsRefusedWithTheFirstObstacle_LA02_LA03(_ row: Row) {
        #expect(world(row).state.refusal(of: .biometry, for: "a") == row.biometry)
    }

    @Test(arguments: rows) func deviceOwnerIsRefusedOnlyWithoutAPasscode_LA04(_ row: Row) {
        #expect(world(row).state.refusal(of: .either, for: "a") == row.either)
    }

    @Test(arguments: rows) func evaluationIsRefusedWithTheStatusOfPreflight_LA02_LA04(_ row: Row) {
        for (plan, refusal) in [(AuthenticationPlan.biometry, row.biometry), (.either, row.either)] {
            var world = world(row)
            let effects = world.ask(plan)
            if let refusal {
                #expect(effects == [.reply(1, .failure(refusal))])
                #expect(world.state.active.isEmpty)
            } else {
                #expect(effects.shown == [1])
                #expect(effects.outcomes().isEmpty)
            }
        }
    }

    @Test func lockoutRequestsThePasscodeAtOnce_LA04() {
        var world = World(.touch, biometryFailures: 5)
        let effects = world.show(.either)
        #expect(effects.content?.method == .passcode)
        #expect(effects.content?.notice == .biometryLocked)
        #expect(!effects.contains(.arm(1)))
        #expect(world.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test(arguments: [SensorState.absent, .touchEmpty]) func passcodeIsRequestedWithoutUsableBiometry_LA04(
        _ sensor: SensorState
    ) {
        var world = World(sensor)
        #expect(world.show(.either).content?.method == .passcode)
        #expect(world.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func withoutASensorBiometryOrAPairedDeviceReportsTheDevice_LA05() {
        for (sensor, failures, status) in [
            (SensorState.absent, 0, Status.companionNotAvailable), (.touchEmpty, 0, .biometryNotEnrolled),
            (.touch, 5, .biometryLockout),
        ] {
            let state = World(sensor, biometryFailures: failures).state
            let policy = Policy.deviceOwnerAuthenticationWithBiometricsOrCompanion
            #expect(state.refusal(of: policy, for: "a", in: "") == status)
        }
        let state = World(.touch).state
        for (policy, status) in [
            (Policy.deviceOwnerAuthenticationWithBiometricsOrCompanion, nil),
            (.deviceOwnerAuthenticationWithCompanion, Status.companionNotAvailable),
            (.deviceOwnerAuthenticationWithWristDetection, .companionNotAvailable),
        ] {
            #expect(state.refusal(of: policy, for: "a", in: "") == status)
        }
    }

    @Test func preflightChecksEveryStage() {
        #expect(World(.absent).state.refusal(of: .passcodeThenBiometry, for: "a") == .biometryNotAvailable)
        #expect(World(.absent).state.refusal(of: .biometryThenPasscode, for: "a") == .biometryNotAvailable)
        #expect(World(.touch).state.refusal(of: .biometryThenPasscode, for: "a") == nil)
        #expect(World(.absent, passcode: false).state.refusal(of: .nothing, for: "a") == nil)
        #expect(World(.touch).state.refusal(of: AuthenticationPlan([[]]), for: "a") == .companionNotAvailable)
    }
}
