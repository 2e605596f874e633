// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// The account password, as a step before others and as the passcode.
@Suite struct AccountTests {
    /// A machine whose prompt asks for the account password before anything else.
    private func asking(_ plan: AuthenticationPlan = .nothing, lastStep: LastStep = .none) -> World {
        var world = World(.absent, passcode: !plan.stages.isEmpty)
        world.send([
            .evaluate(
                EvaluationRequest(
                    id: 1, plan: plan, allowsFallback: true, interactionAllowed: true, purpose: .setPasscode,
                    lastStep: lastStep, startsWithAccount: true)),
            .promptVisible(1),
        ])
        return world
    }

    /// Enters a password, whose verification ends with this event.
    private func enter(_ world: inout World, _ result: PolicyEvent) -> [PolicyEffect] {
        world.send([.passcodeEntered(1, at: 0), .countersStored(1), result])
    }

    @Test func theAccountIsAskedForBeforeAnEmptyPlanIsGranted() {
        var world = asking()
        #expect(world.state.active.first?.secret == .accountPassword)
        #expect(enter(&world, .accountProven(1)).outcomes() == [.granted(.none)])
        #expect(world.state.passcodeFailures == 0)
    }

    @Test func theLastStepFollowsTheAccount() {
        var world = asking(lastStep: .asksNewPasscode)
        let effects = enter(&world, .accountProven(1))
        #expect(effects.content?.step == .newPasscodeAsked && effects.outcomes() == [])
    }

    @Test func aStageFollowsTheAccount() {
        var world = asking(.passcode)
        let effects = enter(&world, .accountProven(1))
        #expect(effects.content?.secret == .passcode && effects.content?.triesLeft == 3)
        #expect(world.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func aProofOfThePasscodeIsNoneOfTheAccount() {
        var world = asking()
        #expect(enter(&world, .passcodeChecked(1, isRight: true)).outcomes() == [])
        #expect(world.state.passcodeFailures == 1)
    }

    @Test func theAccountResetsNoCountOfEarlierTries() {
        var world = asking()
        world.state.passcodeFailures = 2
        world.state.biometryFailures = 5
        #expect(enter(&world, .accountProven(1)).outcomes() == [.granted(.none)])
        #expect(world.state.passcodeFailures == 2 && world.state.isBiometryLocked)
    }

    @Test func anOutdatedPasscodeAsksForThePreviousOneWithThreeTries() {
        var world = World(.absent)
        world.show(.passcode)
        world.type(right: false)
        let effects = enter(&world, .passcodeOutdated(1))
        #expect(effects.content?.secret == .previousPassword && effects.content?.notice == .accountPasswordChanged)
        #expect(effects.content?.triesLeft == 3 && world.state.passcodeFailures == 1)
        #expect(enter(&world, .passcodeOutdated(1)).outcomes() == [], "asked for once")
        #expect(world.state.active.first?.isVerifying == true)
        #expect(world.send(.passcodeChecked(1, isRight: true)).outcomes() == [.granted(.code)])
        #expect(world.state.passcodeFailures == 0)
    }

    @Test func onlyAnUnavailableSystemCostsNoTry() {
        for (fault, failures) in [(AccountFault.notAvailable, 0), (.refused, 1), (.failed, 1)] {
            var world = World(.absent)
            world.show(.passcode)
            let effects = enter(&world, .accountNotProven(1, fault))
            #expect(effects.content?.triesLeft == 3 - failures && world.state.passcodeFailures == failures)
            #expect(effects.content?.notice == (fault == .refused ? .accountRefused : .accountNotChecked))
        }
    }

    @Test func threeFailedVerificationsEndTheEvaluation() {
        var world = World(.absent)
        world.show(.passcode)
        _ = enter(&world, .accountNotProven(1, .failed))
        _ = enter(&world, .accountNotProven(1, .refused))
        #expect(enter(&world, .accountNotProven(1, .failed)).outcomes() == [.denied(.authenticationFailed)])
    }

    // MARK: - An expired password

    /// A prompt that says that the password has expired, after it was found right.
    private func announcing() -> (World, [PolicyEffect]) {
        var world = World(.absent)
        world.show(.passcode)
        world.send([.passcodeEntered(1, at: 0), .countersStored(1), .accountExpired(1)])
        let effects = world.send(.passcodeChecked(1, isRight: true))
        return (world, effects)
    }

    @Test func anExpiredPasswordIsAnnouncedAfterAllProofsUntilTheUserConfirmsIt() {
        var (world, effects) = announcing()
        #expect(effects.outcomes() == [] && effects.content?.step == .accountExpired)
        #expect(effects.content?.notice == .accountPasswordExpired && effects.content?.notice.isFailure == false)
        #expect(world.state.passcodeFailures == 0)
        #expect(world.send(.passcodeEntered(1, at: 0)) == [], "nothing is asked for any more")
        #expect(world.send(.codeAcknowledged(1)).outcomes() == [.granted(.code)])
    }

    @Test func anAnnouncementThatNobodyConfirmsTakesNothingAway() {
        var (world, _) = announcing()
        #expect(world.send(.deadlinePassed(1)).outcomes() == [.granted(.code)])
        (world, _) = announcing()
        #expect(world.send(.cancelChosen(1)).outcomes() == [.denied(.userCancel)])
        (world, _) = announcing()
        #expect(world.send(.withdrawn(1, .appCancel)).outcomes() == [.denied(.appCancel)])
    }

    @Test func aLastStepAnnouncesTheExpiredPasswordBesideWhatItAsksFor() {
        var world = asking(lastStep: .asksNewPasscode)
        world.send([.passcodeEntered(1, at: 0), .countersStored(1), .accountExpired(1)])
        let effects = world.send(.accountProven(1))
        #expect(effects.content?.step == .newPasscodeAsked && effects.content?.notice == .accountPasswordExpired)
    }

    @Test func aWrongPasswordAnnouncesNothing() {
        var world = World(.absent)
        world.show(.passcode)
        #expect(world.send(.accountExpired(1)) == [])
        #expect(world.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func aVerdictWithoutAnEnteredPasswordIsIgnored() {
        var world = asking()
        #expect(world.send([.accountProven(1), .passcodeOutdated(1), .accountNotProven(1, .failed)]) == [])
    }
}
