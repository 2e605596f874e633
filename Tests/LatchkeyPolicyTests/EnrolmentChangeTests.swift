// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import Testing

/// Changes of enrolment, sensor and passcode during an evaluation.
@Suite struct EnrolmentChangeTests {
    @Test func matchOfAnEarlierEnrolmentSetIsNotAccepted_abuse32() {
        var world = World(.touch)
        world.show(.biometry)
        world.send(.sensorChanged(.touchB))
        let effects = world.send(.matched(1, .a))
        #expect(effects.outcomes().isEmpty)
        #expect(world.state.biometryFailures == 1, "it counts as a failed match")
        world.send(.countersStored(1))
        #expect(
            world.send(.matched(1, .b)).outcomes() == [.granted(Proven(methods: [.biometry], enrolment: .b))])
    }

    @Test(.promise("abuse.32")) func matchBeforeAnEnrolmentChangeDoesNotCountInALaterStage_abuse32() {
        var world = World(.touch)
        world.show(.biometryThenPasscode)
        world.send(.matched(1, .a))
        #expect(world.send(.sensorChanged(.touchB)).outcomes() == [.denied(.authenticationFailed)])
        #expect(world.type(right: true).isEmpty)
    }

    @Test func addingAndRemovingAFingerIsAnEnrolmentChange_abuse31_abuse32() {
        var world = World(.touch)
        world.show(.biometryThenPasscode)
        world.send(.matched(1, .a))
        let effects = world.send([.sensorChanged(.touchB), .sensorChanged(.touch)])
        #expect(effects.outcomes() == [.denied(.authenticationFailed)])
    }

    @Test func passcodeProofSurvivesAnEnrolmentChange() {
        var world = World(.touch)
        world.show(.passcodeThenBiometry)
        world.type(right: true)
        #expect(world.send(.sensorChanged(.touchB)).outcomes().isEmpty)
        #expect(
            world.send(.matched(1, .b)).outcomes()
                == [.granted(Proven(methods: [.biometry, .passcode], enrolment: .b))])
    }

    @Test func grantNamesTheEnrolmentSetThatMatched() {
        var world = World(.touchB)
        world.show(.biometry)
        #expect(
            world.send(.matched(1, .b)).outcomes() == [.granted(Proven(methods: [.biometry], enrolment: .b))])
    }

    @Test func lostEnrolmentEndsBiometryOrContinuesWithThePasscode() {
        for (sensor, status) in [
            (SensorState.touchEmpty, Status.biometryNotEnrolled), (.absent, .biometryNotAvailable),
        ] {
            var alone = World(.touch)
            alone.show(.biometry)
            #expect(
                alone.send(.sensorChanged(sensor)) == [.disarm(1), .dismiss(1), .reply(1, .failure(status))])

            var either = World(.touch)
            either.show(.either)
            let effects = either.send(.sensorChanged(sensor))
            #expect(effects.first == .disarm(1))
            #expect(effects.content?.method == .passcode)
        }
    }

    @Test func lostEnrolmentBeforeThePromptIsVisibleChangesTheMethod() {
        var world = World(.touch)
        world.ask(.either)
        #expect(world.send(.sensorChanged(.touchEmpty)).content?.method == .passcode)
        #expect(world.send(.promptVisible(1)).isEmpty, "nothing to arm")
    }

    /// A prompt shows the name, the tries and the fallback button of its sensor, which would be wrong for another kind.
    @Test func sensorOfAnotherKindEndsBiometryOrContinuesWithThePasscode_LA25() {
        var alone = World(.touch)
        alone.show(.biometry)
        alone.miss()
        #expect(
            alone.send(.sensorChanged(.face))
                == [.disarm(1), .dismiss(1), .reply(1, .failure(.biometryNotAvailable))])

        var either = World(.face)
        either.show(.either)
        let effects = either.send(.sensorChanged(.touch))
        #expect(effects.first == .disarm(1))
        #expect(effects.content?.method == .passcode)
    }

    @Test func removingThePasscodeEndsEveryPlan() {
        for plan in AuthenticationPlan.all.dropFirst() {
            var world = World(.touch)
            world.show(plan)
            #expect(world.send(.passcodeExists(false)).outcomes() == [.denied(.passcodeNotSet)])
            #expect(world.state.active.isEmpty)
        }
    }

    @Test func changesWithoutAnEvaluationHaveNoEffects() {
        var world = World(.touch)
        #expect(world.send(.sensorChanged(.face)).isEmpty)
        #expect(world.send(.passcodeExists(false)).isEmpty)
        #expect(world.state == World(.face, passcode: false).state)
    }
}
