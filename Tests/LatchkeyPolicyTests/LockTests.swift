// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// The device's lock and apps in the background: no prompts are shown.
@Suite struct LockTests {
    @Test func lockEndsAllEvaluationsAndShowsNoFurtherPrompt_LA32() {
        var world = World(.touch)
        world.show(.either, id: 1)
        world.ask(.either, id: 2)
        world.ask(.either, id: 3)
        #expect(
            world.send(.locked)
                == [
                    .reply(2, .failure(.systemCancel)), .reply(3, .failure(.systemCancel)), .disarm(1), .dismiss(1),
                    .reply(1, .failure(.systemCancel)),
                ])
    }

    @Test func noPromptIsShownWhileTheDeviceIsLocked_LA31() {
        var world = World(.touch)
        world.send(.locked)
        #expect(world.ask(.either) == [.reply(1, .failure(.notInteractive))])
        world.send(.unlocked(byBiometry: false))
        #expect(world.show(.either).shown == [1])
    }

    @Test func movingToTheBackgroundEndsThePromptAndRefusesNewOnes_LA31_LA32() {
        var world = World(.touch)
        world.show(.biometry)
        #expect(world.send(.background(true)) == [.disarm(1), .dismiss(1), .reply(1, .failure(.systemCancel))])
        #expect(world.ask(.biometry) == [.reply(1, .failure(.notInteractive))])
        #expect(world.send(.background(false)).isEmpty)
        #expect(world.show(.biometry).shown == [1])
    }

    @Test func planWithoutStagesIsGrantedWhileLocked_LA31() {
        var world = World(.touch)
        world.send([.locked, .background(true)])
        #expect(world.ask(.nothing) == [.reply(1, .success(.none))])
    }

    /// An unlock reported for a sensor that cannot be used is ignored.
    @Test(arguments: [World(.touch, biometryFailures: 5), World(.touchEmpty), World(.absent)])
    func unusableSensorDoesNotUnlockTheDevice_LA28(_ world: World) {
        var world = world
        world.send([.locked, .unlocked(byBiometry: true)])
        #expect(world.state.isLocked)
        world.send(.unlocked(byBiometry: false))
        #expect(!world.state.isLocked)
    }

    @Test func onlyPromptsThatEndALockAreShownWhileTheDeviceIsLocked_LA32() {
        var world = World(.touch)
        world.send(.locked)
        #expect(world.ask(.either).outcomes() == [.denied(.notInteractive)])
        let request = EvaluationRequest(
            id: 2, plan: .either, allowsFallback: true, interactionAllowed: true, purpose: .unlock)
        #expect(world.send(.evaluate(request)).shown == [2])
        world.send(.promptVisible(2))
        #expect(world.send(.matched(2, .a)).outcomes(2) == [.granted(.finger)])
        let ending: [PromptPurpose] = [.unlock, .recoverPasscode, .discardProtected, .acceptStore]
        for (id, purpose) in PromptPurpose.allCases.enumerated() where !ending.contains(purpose) {
            let request = EvaluationRequest(
                id: UInt64(3 + id), plan: .either, allowsFallback: true, interactionAllowed: true, purpose: purpose)
            #expect(world.send(.evaluate(request)).outcomes(request.id) == [.denied(.notInteractive)], "\(purpose)")
        }
    }
}

/// The lock of login sessions, and sessions in which biometry is not used.
@Suite struct SessionLockTests {
    private func ask(_ world: inout World, _ plan: AuthenticationPlan, in session: String, id: UInt64 = 1) -> [Ended] {
        var caller = Caller(groups: ["a"], label: "a", processID: 1, userID: 1)
        caller.loginSession = session
        let request = EvaluationRequest(
            id: id, plan: plan, allowsFallback: true, interactionAllowed: true, faceUser: "a", caller: caller)
        return world.send(.evaluate(request)).outcomes(id)
    }

    @Test func theLockOfASessionEndsPromptsAndEndsWithTheSession_LA32() {
        var world = World(.touch)
        world.show(.either)
        #expect(world.send(.sessionLocked).outcomes() == [.denied(.systemCancel)])
        #expect(world.ask(.either, id: 2).outcomes(2) == [.denied(.notInteractive)])
        world.send(.sessionUnlocked)
        #expect(!world.state.isLocked && world.show(.either, id: 3).shown == [3])
    }

    @Test(arguments: [[PolicyEvent.locked, .sessionLocked], [.sessionLocked, .locked]])
    func aLockByRequestDoesNotEndWithTheSession(_ events: [PolicyEvent]) {
        var world = World(.touch)
        world.send(events + [.sessionUnlocked])
        #expect(world.state.isLocked)
        world.send([.sessionLocked, .sessionUnlocked])
        #expect(world.state.isLocked)
        world.send(.unlocked(byBiometry: false))
        #expect(!world.state.isLocked)
    }

    @Test func aPromptEndsTheLockOfASessionUntilTheNextOne() {
        var world = World(.touch)
        world.send([.sessionLocked, .unlocked(byBiometry: false)])
        #expect(!world.state.isLocked && !world.state.isSessionLock)
        world.send(.sessionLocked)
        #expect(world.state.isLocked)
        world.send(.sessionUnlocked)
        #expect(!world.state.isLocked)
    }

    @Test func theLockOfASessionEndsTheReuseOfAnUnlock_LA33() {
        var world = World(.touch)
        world.send([.unlocked(byBiometry: true), .sessionLocked, .sessionUnlocked])
        #expect(world.ask(.biometry, reuseSeconds: 300).outcomes().isEmpty)
    }

    @Test(arguments: [("2", true), ("user", true), ("7", false), ("", false)])
    func biometryIsForTheSessionsThatPermitIt_abuse22(_ session: String, _ isUsed: Bool) {
        var world = World(.touch)
        world.send(.biometrySessionsChanged(.only(["2"])))
        #expect(ask(&world, .biometry, in: session) == (isUsed ? [] : [.denied(.biometryNotAvailable)]))
        world.send(.withdrawn(1, .appCancel))
        #expect(ask(&world, .either, in: session, id: 2).isEmpty)
        #expect(world.state.active.first?.method == (isUsed ? .biometry : .passcode))
        #expect(world.send(.promptVisible(2)) == (isUsed ? [.arm(2)] : []))
    }

    @Test func withoutSessionsThatPermitItNoneDoes_abuse22() {
        var world = World(.touch)
        world.send(.biometrySessionsChanged(.only([])))
        for (id, session) in ["2", "user", ""].enumerated() {
            #expect(ask(&world, .biometry, in: session, id: UInt64(id)) == [.denied(.biometryNotAvailable)])
        }
    }

    @Test func aLaterStageOfAnotherSessionAsksForNoFinger_abuse22() {
        var world = World(.touch)
        #expect(ask(&world, .passcodeThenBiometry, in: "2").isEmpty)
        world.send([.promptVisible(1), .biometrySessionsChanged(.only([]))])
        #expect(world.type(right: true).outcomes() == [.denied(.biometryNotAvailable)])
    }

    @Test func anUnlockByBiometryIsNotReusedInAnotherSession_abuse22() {
        var world = World(.touch)
        world.send([.unlocked(byBiometry: true), .biometrySessionsChanged(.only(["2"]))])
        #expect(world.ask(.biometry, reuseSeconds: 300).outcomes() == [.denied(.biometryNotAvailable)])
    }

    @Test func aSwitchStopsTheSensorOfThatSessionOnly_abuse22() {
        var world = World(.touch)
        world.send(.biometrySessionsChanged(.only(["2", "3"])))
        #expect(ask(&world, .biometry, in: "2").isEmpty)
        world.send(.promptVisible(1))
        #expect(world.send(.biometrySessionsChanged(.only(["2"]))).isEmpty)
        #expect(
            world.send(.biometrySessionsChanged(.only(["3"])))
                == [.disarm(1), .dismiss(1), .reply(1, .failure(.systemCancel))])
    }
}
