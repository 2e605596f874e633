// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import Testing

/// Prompts: when they may be shown, when their input counts, and how they end.
@Suite struct PromptTests {
    @Test(.promise("abuse.25"), arguments: AuthenticationPlan.all.dropFirst())
    func withoutInteractionNothingIsShown_LA31_abuse25(_ plan: AuthenticationPlan) {
        var world = World(.touch)
        #expect(world.ask(plan, interaction: false) == [.reply(1, .failure(.notInteractive))])
        #expect(world.state == World(.touch).state)
    }

    @Test func withoutInteractionTheFirstObstacleIsStillReported_LA31() {
        var world = World(.touchEmpty)
        #expect(world.ask(.biometry, interaction: false) == [.reply(1, .failure(.biometryNotEnrolled))])
    }

    @Test func withoutInteractionAnEvaluationDoesNotWaitItsTurn_LA31_LA35() {
        var world = World(.touch)
        world.show(.biometry, id: 1)
        #expect(world.ask(.biometry, id: 2, interaction: false) == [.reply(2, .failure(.notInteractive))])
    }

    @Test func planWithoutStagesIsGrantedWithoutProofs() {
        var world = World(.absent, passcode: false)
        #expect(world.ask(.nothing, interaction: false) == [.reply(1, .success(.none))])
    }

    @Test func theSensorIsArmedOnlyOnceThePromptIsVisible_abuse23() {
        var world = World(.touch)
        let effects = world.ask(.biometry)
        #expect(effects.shown == [1])
        #expect(!effects.contains(.arm(1)))
        #expect(world.send(.promptVisible(1)) == [.arm(1)])
        #expect(world.send(.promptVisible(1)).isEmpty, "once")
    }

    @Test(.promise("abuse.23"), arguments: [AuthenticationPlan.biometry, .either, .biometryThenPasscode])
    func aMatchBeforeThePromptIsVisibleIsDiscarded_abuse23(_ plan: AuthenticationPlan) {
        var world = World(.touch)
        world.ask(plan)
        #expect(world.send(.matched(1, .a)).isEmpty)
        world.send(.promptVisible(1))
        #expect(world.state.active.first?.proven == Authorisation.none)
        #expect(world.state.active.first?.stage == 0)
    }

    @Test func aPasscodeBeforeThePromptIsVisibleIsDiscarded_abuse23() {
        var world = World(.touch)
        world.ask(.passcode)
        #expect(world.type(right: true).isEmpty)
        #expect(world.send(.promptVisible(1)).isEmpty)
        #expect(world.send(.passcodeChecked(1, isRight: true)).isEmpty, "nothing was entered")
    }

    @Test(.promise("abuse.15")) func eventsOfAnotherEvaluationChangeNothing_abuse15() {
        var world = World(.touch)
        world.show(.either, id: 1)
        let before = world.state
        let events: [PolicyEvent] = [
            .promptVisible(9), .promptUnavailable(9), .promptLost(9), .matched(9, .a), .notMatched(9),
            .sensorFailed(9), .fallbackChosen(9), .cancelChosen(9), .passcodeEntered(9, at: 0),
            .passcodeChecked(9, isRight: true), .passcodeChecked(9, isRight: false),
            .withdrawn(9, .appCancel), .deadlinePassed(9),
        ]
        for event in events {
            #expect(world.send(event).isEmpty, "\(event)")
            #expect(world.state == before, "\(event)")
        }
    }

    @Test(.promise("abuse.15")) func aMatchAfterTheEndIsDiscarded_abuse15() {
        var world = World(.touch)
        world.show(.biometry, id: 1)
        world.send(.cancelChosen(1))
        #expect(world.send(.matched(1, .a)).isEmpty)
        world.show(.biometry, id: 2)
        #expect(world.send(.matched(1, .a)).isEmpty)
        #expect(world.state.active.first?.proven == Authorisation.none)
    }

    @Test(.promise("abuse.20")) func unavailablePromptEndsWithNotInteractive_abuse20() {
        var world = World(.touch)
        world.ask(.biometry)
        #expect(world.send(.promptUnavailable(1)) == [.dismiss(1), .reply(1, .failure(.notInteractive))])
    }

    @Test(.promise("abuse.21")) func aPromptThatIsLostEndsWithSystemCancelAndReleasesTheSensor_LA32_abuse21() {
        var world = World(.touch)
        world.show(.biometry)
        #expect(world.send(.promptLost(1)) == [.disarm(1), .dismiss(1), .reply(1, .failure(.systemCancel))])
    }

    @Test func invalidatingEndsTheEvaluationWithAppCancelOnce_LA36() {
        var world = World(.touch)
        world.show(.biometry)
        #expect(
            world.send(.withdrawn(1, .appCancel)) == [.disarm(1), .dismiss(1), .reply(1, .failure(.appCancel))])
        #expect(world.send(.withdrawn(1, .appCancel)).isEmpty)
    }

    @Test func invalidatingEndsAWaitingEvaluationWithoutTouchingThePrompt_LA36() {
        var world = World(.touch)
        world.show(.biometry, id: 1)
        world.ask(.biometry, id: 2)
        #expect(world.send(.withdrawn(2, .appCancel)) == [.reply(2, .failure(.appCancel))])
        #expect(world.state.active.first?.request.id == 1)
        #expect(world.send(.matched(1, .a)).shown.isEmpty)
    }
}
