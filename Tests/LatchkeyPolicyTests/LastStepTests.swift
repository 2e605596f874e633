// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// The step behind a proven plan: a recovery code is shown, or asked for, in the same prompt.
@Suite struct LastStepTests {
    private func request(
        _ plan: AuthenticationPlan, _ lastStep: LastStep, interaction: Bool = true, reuseSeconds: UInt64 = 0,
        purpose: PromptPurpose = .exportItems
    ) -> PolicyEvent {
        .evaluate(
            EvaluationRequest(
                id: 1, plan: plan, allowsFallback: true, interactionAllowed: interaction, reuseSeconds: reuseSeconds,
                faceUser: "a", purpose: purpose, lastStep: lastStep))
    }

    private let steps: [(LastStep, PromptContent.Step, done: PolicyEvent, other: PolicyEvent)] = [
        (.showsRecoveryCode, .recoveryCodeShown, .codeAcknowledged(1), .codeEntered(1)),
        (.asksRecoveryCode, .recoveryCodeAsked, .codeEntered(1), .codeAcknowledged(1)),
    ]

    @Test func theCodeComesWhenThePlanIsProvenAndTheAnswerWhenItIsDone() {
        for (lastStep, step, done, other) in steps {
            var world = World(.touch)
            #expect(world.send(request(.either, lastStep)).content?.step == .proof)
            world.send(.promptVisible(1))
            #expect(world.send([done, other]).isEmpty, "nothing is proven")
            let effects = world.send(.matched(1, .a))
            #expect(
                effects.suffix(3) == [
                    .disarm(1),
                    .update(
                        1,
                        PromptContent(
                            method: .passcode, notice: .none, triesLeft: 0, showsFallback: false, step: step)),
                    .startDeadline(1, seconds: Limits.recoveryCodeSeconds),
                ])
            #expect(effects.outcomes().isEmpty)
            #expect(world.send(other).isEmpty, "the answer to another question")
            #expect(world.send(done) == [.dismiss(1), .reply(1, .granted(.finger))])
        }
    }

    @Test func aPlanOfNothingShowsThePromptForItsLastStep() {
        for (lastStep, step, done, _) in steps {
            var world = World(.absent, passcode: false)
            let effects = world.send(request(.nothing, lastStep))
            #expect(effects.shown == [1] && effects.content?.step == step)
            #expect(effects.last == .startDeadline(1, seconds: Limits.recoveryCodeSeconds))
            #expect(world.send(done).isEmpty, "not visible yet")
            world.send(.promptVisible(1))
            #expect(world.send(done) == [.dismiss(1), .reply(1, .granted(.none))])
        }
    }

    @Test func aLastStepNeedsAPlaceToAsk() {
        var world = World(.absent, passcode: false)
        #expect(
            world.send(request(.nothing, .showsRecoveryCode, interaction: false)).outcomes() == [
                .denied(.notInteractive)
            ])
        world.send(.locked)
        #expect(world.send(request(.nothing, .showsRecoveryCode)).outcomes() == [.denied(.notInteractive)])
    }

    @Test func duringTheLastStepNothingIsProvenAndNothingIsOffered() {
        var world = World(.touch)
        world.send(.companionsChanged(.watchNear))
        world.send(request(.biometryOrCompanion, .showsRecoveryCode))
        world.send([.promptVisible(1), .matched(1, .a)])
        #expect(
            world.send([
                .passcodeEntered(1, at: 0), .passcodeChecked(1, isRight: false), .notMatched(1), .companionConfirmed(1),
                .fallbackChosen(1), .sensorFailed(1), .companionsChanged(.watchAway),
                .permissionAnswered(1, true), .promptVisible(1),
            ]).isEmpty)
        #expect(world.send(.permissionChanged("a", false)).count == 1, "the answer is kept, and nothing else")
        #expect(world.send(.codeAcknowledged(1)).outcomes() == [.granted(.finger)])
    }

    @Test(arguments: [
        (PolicyEvent.cancelChosen(1), Status.userCancel), (.promptLost(1), .systemCancel),
        (.deadlinePassed(1), .systemCancel), (.locked, .systemCancel), (.withdrawn(1, .appCancel), .appCancel),
        (.sensorChanged(.touchB), .authenticationFailed),
    ])
    func whatEndsAnEvaluationEndsItInTheLastStepToo(_ event: PolicyEvent, _ status: Status) {
        var world = World(.touch)
        world.send([request(.biometry, .showsRecoveryCode), .promptVisible(1), .matched(1, .a)])
        #expect(world.send(event).outcomes() == [.denied(status)])
        #expect(world.send(.codeAcknowledged(1)).isEmpty)
    }

    @Test func theCodeOfOnePromptIsNotTheAnswerToAnother() {
        var world = World(.touch)
        world.send([request(.biometry, .showsRecoveryCode), .promptVisible(1), .matched(1, .a)])
        #expect(world.send(.codeAcknowledged(2)).isEmpty)
    }

    @Test func anUnlockIsReusedForNoPurposeOfTheDaemonsOwn_LA33() {
        for (purpose, lastStep) in [(PromptPurpose.exportItems, LastStep.none), (.app, .showsRecoveryCode)] {
            var world = World(.touch)
            world.send(.unlocked(byBiometry: true))
            #expect(
                world.send(request(.biometry, lastStep, reuseSeconds: 300, purpose: purpose)).shown == [1], "\(purpose)"
            )
        }
    }
}
