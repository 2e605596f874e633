// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// Tries within one evaluation, and how it ends.
@Suite struct TriesTests {
    @Test(arguments: [SensorState.touch, .face]) func aMatchGrants(_ sensor: SensorState) {
        var world = World(sensor)
        #expect(world.show(.biometry).last == .arm(1))
        #expect(world.send(.matched(1, .a)) == [.disarm(1), .dismiss(1), .reply(1, .success(.finger))])
        #expect(world.state == World(sensor).state)
    }

    @Test func threeFailedTouchesEndABiometricEvaluation_LA27() {
        var world = World(.touch)
        #expect(world.show(.biometry).content?.triesLeft == 3)
        #expect(world.miss().content?.triesLeft == 2)
        let second = world.miss()
        #expect(
            second.content
                == PromptContent(method: .biometry, notice: .notRecognised, triesLeft: 1, showsFallback: true))
        #expect(second.outcomes().isEmpty)
        let third = world.miss()
        #expect(third.outcomes() == [.denied(.authenticationFailed)])
        #expect(third.suffix(3) == [.disarm(1), .dismiss(1), .reply(1, .failure(.authenticationFailed))])
    }

    @Test func twoFailedFaceScansKeepThePromptWithItsFallback_LA27() {
        var world = World(.face)
        #expect(world.show(.biometry).content?.triesLeft == 2)
        world.miss()
        let second = world.miss()
        #expect(second.contains(.disarm(1)))
        #expect(
            second.content
                == PromptContent(method: .biometry, notice: .notRecognised, triesLeft: 0, showsFallback: true))
        #expect(second.outcomes().isEmpty)
        #expect(world.send(.matched(1, .a)).isEmpty, "the sensor is off")
        #expect(world.miss().isEmpty)
        #expect(world.send(.fallbackChosen(1)) == [.dismiss(1), .reply(1, .failure(.userFallback))])
    }

    @Test func twoFailedFaceScansEndTheEvaluationIfFallbackIsHidden_LA27() {
        var world = World(.face)
        world.show(.biometry, fallback: false)
        #expect(world.miss().outcomes().isEmpty)
        #expect(world.miss().outcomes() == [.denied(.authenticationFailed)])
    }

    @Test(arguments: [(SensorState.touch, 3), (.face, 2)], [true, false])
    func failedTriesContinueWithThePasscodeIfTheStageAcceptsIt_LA27(_ sensor: (SensorState, Int), _ fallback: Bool) {
        var world = World(sensor.0)
        world.show(.either, fallback: fallback)
        let effects = world.miss(sensor.1)
        #expect(effects.outcomes().isEmpty)
        #expect(
            effects.content
                == PromptContent(method: .passcode, notice: .biometryFinished, triesLeft: 3, showsFallback: false))
        #expect(effects.filter { $0 == .disarm(1) }.count == 1)
        #expect(world.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func threeWrongPasscodesEndAnEvaluation() {
        var world = World(.touch)
        #expect(world.show(.passcode).content?.triesLeft == 3)
        let first = world.type(right: false)
        #expect(
            first.content
                == PromptContent(method: .passcode, notice: .wrongPasscode, triesLeft: 2, showsFallback: false))
        #expect(world.type(right: false).content?.triesLeft == 1)
        #expect(world.type(right: false).outcomes() == [.denied(.authenticationFailed)])
    }

    @Test(arguments: AuthenticationPlan.all.dropFirst())
    func cancelEndsTheEvaluation_LA23(_ plan: AuthenticationPlan) {
        var unseen = World(.touch)
        unseen.ask(plan)
        #expect(unseen.send(.cancelChosen(1)) == [.dismiss(1), .reply(1, .failure(.userCancel))])

        var seen = World(.touch)
        seen.show(plan)
        let effects = seen.send(.cancelChosen(1))
        #expect(effects.outcomes() == [.denied(.userCancel)])
        #expect(seen.state == World(.touch).state)
        #expect(seen.send(.cancelChosen(1)).isEmpty)
    }

    @Test func cancelDuringVerificationTakesPrecedence_LA23() {
        var world = World(.touch)
        world.show(.passcode)
        world.send(.passcodeEntered(1, at: 0))
        #expect(world.send(.countersStored(1)) == [.checkPasscode(1)])
        #expect(world.send(.cancelChosen(1)).outcomes() == [.denied(.userCancel)])
        #expect(world.send(.passcodeChecked(1, isRight: true)).isEmpty)
    }

    @Test func passcodeDuringVerificationIsIgnored() {
        var world = World(.touch)
        world.show(.passcode)
        world.send(.passcodeEntered(1, at: 0))
        #expect(world.send(.passcodeEntered(1, at: 0)).isEmpty)
        world.send(.countersStored(1))
        #expect(world.send([.passcodeEntered(1, at: 0), .passcodeRepeated(1), .countersStored(1)]).isEmpty)
        #expect(world.send(.passcodeChecked(1, isRight: false)).content?.triesLeft == 2)
        #expect(world.send(.passcodeChecked(1, isRight: true)).isEmpty, "one result for one entry")
    }

    @Test func aSensorThatFailsEndsBiometry() {
        var alone = World(.touch)
        alone.show(.biometry)
        #expect(alone.send(.sensorFailed(1)).outcomes() == [.denied(.biometryNotAvailable)])

        var either = World(.touch)
        either.show(.either)
        let effects = either.send(.sensorFailed(1))
        #expect(effects.content?.method == .passcode)
        #expect(effects.first == .disarm(1))
        #expect(either.state.biometryFailures == 0)
    }

    @Test func aPassedDeadlineEndsTheEvaluation() {
        var world = World(.touch)
        #expect(world.show(.biometry).contains(.startDeadline(1, seconds: 60)))
        let effects = world.send(.deadlinePassed(1))
        #expect(effects == [.disarm(1), .dismiss(1), .reply(1, .failure(.systemCancel))])
    }
}
