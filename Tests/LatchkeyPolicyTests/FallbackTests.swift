// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// The fallback button: when it is shown and what it does.
@Suite struct FallbackTests {
    @Test func fallbackAppearsAfterTheFirstFailedTouch_LA25() {
        var world = World(.touch)
        #expect(world.show(.biometry).content?.showsFallback == false)
        #expect(world.miss().content?.showsFallback == true)
        #expect(world.miss().content?.showsFallback == true)
    }

    @Test func fallbackAppearsAfterTheSecondFailedFaceScan_LA25() {
        var world = World(.face)
        #expect(world.show(.biometry).content?.showsFallback == false)
        #expect(world.miss().content?.showsFallback == false)
        #expect(world.miss().content?.showsFallback == true)
    }

    @Test(arguments: [SensorState.touch, .face], [AuthenticationPlan.biometry, .either, .biometryThenPasscode])
    func fallbackNeverAppearsWhenHidden_LA25(_ sensor: SensorState, _ plan: AuthenticationPlan) {
        var world = World(sensor)
        var effects = world.show(plan, fallback: false)
        for _ in 0..<4 { effects += world.miss() }
        for effect in effects {
            if case .update(_, let content) = effect { #expect(!content.showsFallback) }
            if case .show(_, let content) = effect { #expect(!content.showsFallback) }
        }
    }

    @Test func hiddenButtonHasNoEffect_LA25() {
        var hidden = World(.touch)
        hidden.show(.either, fallback: false)
        hidden.miss()
        #expect(hidden.send(.fallbackChosen(1)).isEmpty)

        var early = World(.touch)
        early.show(.biometry)
        #expect(early.send(.fallbackChosen(1)).isEmpty)

        var unseen = World(.touch)
        unseen.ask(.biometry)
        #expect(unseen.send(.fallbackChosen(1)).isEmpty)

        var askingPasscode = World(.touch)
        askingPasscode.show(.passcode)
        #expect(askingPasscode.send(.fallbackChosen(1)).isEmpty)
    }

    /// That of a policy appears after a failed try (behaviour LA-25); no behaviour says so of an item, a key or an operation
    /// of the daemon, whose prompts accept the passcode from the start.
    @Test(arguments: [SensorState.touch, .face], [PromptPurpose.app, .unlock, .readSecret])
    func thePasscodeIsOfferedAtOnceWhereItIsAccepted(_ sensor: SensorState, _ purpose: PromptPurpose) {
        var world = World(sensor)
        #expect(world.show(.either, purpose: purpose).content?.showsFallback == true)
        let effects = world.send(.fallbackChosen(1))
        #expect(effects.first == .disarm(1) && effects.content?.method == .passcode)
        #expect(world.type(right: true).outcomes() == [.granted(.code)])

        var policy = World(sensor)
        #expect(policy.show(.either, acceptsWeak: true).content?.showsFallback == false)
        #expect(policy.send(.fallbackChosen(1)).isEmpty)

        var withoutPasscode = World(sensor)
        #expect(withoutPasscode.show(.biometryThenPasscode, purpose: purpose).content?.showsFallback == false)
    }

    /// The question whether an app may use the camera has an answer of its own for the passcode.
    @Test func thePasscodeIsNotOfferedBesideAQuestion() {
        var world = World(.face, permission: nil)
        #expect(world.show(.either).content?.showsFallback == false)
        #expect(world.send(.permissionAnswered(1, true)).content?.showsFallback == true)
    }

    @Test func fallbackUnderBiometryEndsTheEvaluation_LA24() {
        var world = World(.touch)
        world.show(.biometry)
        world.miss()
        #expect(world.send(.fallbackChosen(1)) == [.disarm(1), .dismiss(1), .reply(1, .failure(.userFallback))])
        #expect(world.state.active.isEmpty)
    }

    @Test func fallbackUnderDeviceOwnerContinuesWithThePasscode_LA24() {
        var world = World(.touch)
        world.show(.either)
        world.miss()
        let effects = world.send(.fallbackChosen(1))
        #expect(effects.first == .disarm(1))
        #expect(effects.content == PromptContent(method: .passcode, notice: .none, triesLeft: 3, showsFallback: false))
        #expect(effects.outcomes().isEmpty)
        #expect(world.send(.matched(1, .a)).isEmpty, "the sensor is off")
        #expect(world.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func fallbackInABiometryStageDoesNotSkipIt_LA24() {
        var world = World(.touch)
        world.show(.biometryThenPasscode)
        world.miss()
        #expect(world.send(.fallbackChosen(1)).outcomes() == [.denied(.userFallback)])
    }
}
