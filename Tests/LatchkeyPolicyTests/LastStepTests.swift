// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// The last step of an evaluation, after all stages: the same prompt shows or requests a recovery code, or requests a
/// new passcode.
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
        (.repeatsRecoveryCode, .recoveryCodeRepeated, .codeEntered(1), .codeAcknowledged(1)),
        (.asksAnswer, .answerAsked, .codeEntered(1), .codeAcknowledged(1)),
        (.asksOnce, .onceAsked, .codeEntered(1), .codeAcknowledged(1)),
    ]

    @Test func recoveryCodeFollowsTheStagesAndItsAnswerGrants() {
        for (lastStep, step, done, other) in steps {
            var world = World(.touch)
            #expect(world.send(request(.either, lastStep)).content?.step == .proof)
            world.send(.promptVisible(1))
            #expect(world.send([done, other]).isEmpty, "no stage is complete")
            let effects = world.send(.matched(1, .a))
            #expect(
                effects.suffix(3) == [
                    .disarm(1),
                    .update(
                        1,
                        PromptContent(
                            method: .passcode, notice: .none, triesLeft: 0, showsFallback: false, step: step)),
                    .startDeadline(1, seconds: step.seconds),
                ])
            #expect(effects.outcomes().isEmpty)
            #expect(world.send(other).isEmpty, "the event of the other step")
            #expect(world.send(done) == [.dismiss(1), .reply(1, .success(.finger))])
        }
    }

    @Test func planWithoutStagesShowsThePromptForItsLastStep() {
        for (lastStep, step, done, _) in steps {
            var world = World(.absent, passcode: false)
            let effects = world.send(request(.nothing, lastStep))
            #expect(effects.shown == [1] && effects.content?.step == step)
            #expect(effects.last == .startDeadline(1, seconds: step.seconds))
            #expect(world.send(done).isEmpty, "not visible yet")
            world.send(.promptVisible(1))
            #expect(world.send(done) == [.dismiss(1), .reply(1, .success(.none))])
        }
    }

    /// Nothing is to be written down or thought of for an answer: the prompt ends as early as one that asks for a proof.
    @Test func onlyCodesAndNewPasscodesHaveTheLongDeadline() {
        for step in PromptContent.Step.allCases {
            let isShort = [.proof, .accountExpired, .answerAsked, .onceAsked].contains(step)
            #expect(step.seconds == (isShort ? 60 : 600), "\(step)")
        }
    }

    @Test func lastStepRequiresThatAPromptIsAllowed() {
        var world = World(.absent, passcode: false)
        #expect(
            world.send(request(.nothing, .showsRecoveryCode, interaction: false)).outcomes() == [
                .denied(.notInteractive)
            ])
        world.send(.locked)
        #expect(world.send(request(.nothing, .showsRecoveryCode)).outcomes() == [.denied(.notInteractive)])
    }

    @Test func authenticationEventsAreIgnoredDuringTheLastStep() {
        var world = World(.touch)
        world.send(request(.biometry, .showsRecoveryCode))
        world.send([.promptVisible(1), .matched(1, .a)])
        #expect(
            world.send([
                .passcodeEntered(1, at: 0), .passcodeChecked(1, isRight: false), .notMatched(1), .fallbackChosen(1),
                .sensorFailed(1),
                .permissionAnswered(1, true), .promptVisible(1),
            ]).isEmpty)
        #expect(world.send(.permissionChanged("a", false)).count == 1, "the decision is stored, nothing else happens")
        #expect(world.send(.codeAcknowledged(1)).outcomes() == [.granted(.finger)])
    }

    @Test(arguments: [
        (PolicyEvent.cancelChosen(1), Status.userCancel), (.promptLost(1), .systemCancel),
        (.deadlinePassed(1), .systemCancel), (.locked, .systemCancel), (.withdrawn(1, .appCancel), .appCancel),
        (.sensorChanged(.touchB), .authenticationFailed),
    ])
    func eventsThatEndAnEvaluationEndItInTheLastStepToo(_ event: PolicyEvent, _ status: Status) {
        var world = World(.touch)
        world.send([request(.biometry, .showsRecoveryCode), .promptVisible(1), .matched(1, .a)])
        #expect(world.send(event).outcomes() == [.denied(status)])
        #expect(world.send(.codeAcknowledged(1)).isEmpty)
    }

    @Test func acknowledgementOfAnotherPromptIsIgnored() {
        var world = World(.touch)
        world.send([request(.biometry, .showsRecoveryCode), .promptVisible(1), .matched(1, .a)])
        #expect(world.send(.codeAcknowledged(2)).isEmpty)
    }

    // MARK: - New passcode

    private func content(
        _ step: PromptContent.Step, _ notice: PromptContent.Notice = .none
    ) -> PromptContent {
        PromptContent(method: .passcode, notice: notice, triesLeft: 0, showsFallback: false, step: step)
    }

    @Test func newPasscodeIsAskedForTwiceAfterTheStages() {
        var world = World(.touch)
        world.send([request(.either, .asksNewPasscode, purpose: .changePasscode), .promptVisible(1)])
        #expect(
            world.send([.newPasscodeEntered(1, isLongEnough: true), .newPasscodeRepeated(1, isEqual: true)]).isEmpty,
            "no stage is complete")
        #expect(
            world.send(.matched(1, .a)).suffix(2) == [
                .update(1, content(.newPasscodeAsked)), .startDeadline(1, seconds: Limits.lastStepSeconds),
            ])
        #expect(world.send(.newPasscodeRepeated(1, isEqual: true)).isEmpty, "it was not entered once")
        #expect(world.send([.codeEntered(1), .codeAcknowledged(1)]).isEmpty, "events of other steps")
        #expect(
            world.send(.newPasscodeEntered(1, isLongEnough: true)) == [.update(1, content(.newPasscodeRepeated))])
        #expect(world.send(.newPasscodeEntered(1, isLongEnough: true)).isEmpty, "it was entered already")
        #expect(world.send(.newPasscodeRepeated(1, isEqual: true)) == [.dismiss(1), .reply(1, .success(.finger))])
    }

    @Test func shortNewPasscodeIsAskedForAgain() {
        var world = World(.absent, passcode: false)
        let effects = world.send(request(.nothing, .asksNewPasscode, purpose: .setPasscode))
        #expect(effects.shown == [1] && effects.content == content(.newPasscodeAsked))
        #expect(effects.last == .startDeadline(1, seconds: Limits.lastStepSeconds))
        #expect(world.send(.newPasscodeEntered(1, isLongEnough: true)).isEmpty, "not visible yet")
        world.send(.promptVisible(1))
        for _ in 1...20 {
            #expect(
                world.send(.newPasscodeEntered(1, isLongEnough: false)) == [
                    .update(1, content(.newPasscodeAsked, .newPasscodeTooShort))
                ])
            #expect(world.send(.newPasscodeRepeated(1, isEqual: true)).isEmpty)
        }
        #expect(
            world.send(.newPasscodeEntered(1, isLongEnough: true)).content == content(.newPasscodeRepeated),
            "the notice has gone")
        #expect(world.send(.newPasscodeRepeated(1, isEqual: true)).outcomes() == [.granted(.none)])
    }

    @Test func differentEntriesOfANewPasscodeBeginAgain() {
        var world = World(.absent, passcode: false)
        world.send([request(.nothing, .asksNewPasscode, purpose: .setPasscode), .promptVisible(1)])
        world.send(.newPasscodeEntered(1, isLongEnough: true))
        #expect(
            world.send(.newPasscodeRepeated(1, isEqual: false)) == [
                .update(1, content(.newPasscodeAsked, .newPasscodesDiffer))
            ])
        #expect(world.send(.newPasscodeRepeated(1, isEqual: true)).isEmpty, "the first entry is asked for again")
        world.send(.newPasscodeEntered(1, isLongEnough: true))
        #expect(world.send(.newPasscodeRepeated(1, isEqual: true)).outcomes() == [.granted(.none)])
    }

    @Test func newPasscodeChangesNoCounter() {
        var world = World(.touch)
        let counters = world.state.counters
        world.send([request(.nothing, .asksNewPasscode, purpose: .setPasscode), .promptVisible(1)])
        let effects = world.send([
            .newPasscodeEntered(1, isLongEnough: false), .newPasscodeEntered(1, isLongEnough: true),
            .newPasscodeRepeated(1, isEqual: false), .cancelChosen(1),
        ])
        #expect(effects.persisted.isEmpty && world.state.counters == counters)
        #expect(effects.outcomes() == [.denied(.userCancel)])
    }

    @Test func newPasscodeOfAnotherPromptIsIgnored() {
        var world = World(.absent, passcode: false)
        world.send([request(.nothing, .asksNewPasscode, purpose: .setPasscode), .promptVisible(1)])
        #expect(world.send(.newPasscodeEntered(2, isLongEnough: true)).isEmpty)
        world.send(.newPasscodeEntered(1, isLongEnough: true))
        #expect(world.send(.newPasscodeRepeated(2, isEqual: true)).isEmpty)
    }

    @Test func unlockIsNotReusedForTheDaemonsOwnOperations_LA33() {
        for (purpose, lastStep) in [(PromptPurpose.exportItems, LastStep.none), (.app, .showsRecoveryCode)] {
            var world = World(.touch)
            world.send(.unlocked(byBiometry: true))
            #expect(
                world.send(request(.biometry, lastStep, reuseSeconds: 300, purpose: purpose)).shown == [1], "\(purpose)"
            )
        }
    }
}
