// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import Testing

/// Prompts of several login sessions at the same time, which share the tries of the user.
@Suite struct SessionPromptTests {
    /// A machine with a visible prompt in each of two sessions.
    private func two(_ plan: AuthenticationPlan, _ other: AuthenticationPlan? = nil, world: World = World()) -> World {
        var world = world
        world.send([.wish(1, plan, session: "1"), .promptVisible(1)])
        world.send([.wish(2, other ?? plan, session: "2"), .promptVisible(2)])
        return world
    }

    // MARK: - Places

    @Test func eachSessionHasAPrompt_LA35() {
        var world = World()
        #expect(world.send(.wish(1, .passcode, session: "1")).shown == [1])
        #expect(world.send(.wish(2, .passcode, session: "2")).shown == [2])
        #expect(world.send(.wish(3, .passcode, session: "1")).isEmpty)
        #expect(world.send(.cancelChosen(2)).shown.isEmpty, "the prompt of another session is no place for it")
        #expect(world.send(.cancelChosen(1)).shown == [3])
    }

    @Test func programsOutsideOfSessionsShareOnePlace_LA35() {
        var world = World()
        #expect(world.send(.wish(1, .passcode, session: "")).shown == [1])
        #expect(world.send(.wish(2, .passcode, session: "")).isEmpty)
        #expect(world.send(.wish(3, .passcode, session: "3")).shown == [3])
    }

    @Test func programsTakeTurnsInEachSession_LA35() {
        var world = World()
        for id: UInt64 in 1...3 {
            world.ask(.passcode, id: id, program: 1, session: "1")
            world.ask(.passcode, id: 10 + id, program: 2, session: "1")
            world.ask(.passcode, id: 20 + id, program: 3, session: "2")
        }
        var order: [UInt64] = []
        while let id = world.state.active.first(where: { $0.request.place.session == "1" })?.request.id {
            order.append(id)
            world.send(.cancelChosen(id))
        }
        #expect(order == [1, 11, 2, 12, 3, 13])
        #expect(world.state.active.map(\.request.id) == [21])
    }

    @Test(arguments: [
        (PromptPlace(session: "1"), PromptPlace(session: "2"), false),
        (PromptPlace(session: "1"), PromptPlace(session: "1"), true),
        (PromptPlace(session: "1", terminal: 7), PromptPlace(session: "2", terminal: 7), true),
        (PromptPlace(session: "1", terminal: 7), PromptPlace(session: "2", terminal: 8), false),
        (PromptPlace(session: "3", agent: "1"), PromptPlace(session: "4", agent: "1"), true),
        (PromptPlace(session: "3", agent: "1"), PromptPlace(session: "1", terminal: 7), true),
        (PromptPlace(session: "user"), PromptPlace(session: "1"), true),
        (PromptPlace(session: "user"), PromptPlace(session: "9"), false),
        (PromptPlace(session: "9", agent: "user"), PromptPlace(session: "1"), true),
    ])
    func promptsOnOneScreenOverlap(_ first: PromptPlace, _ second: PromptPlace, _ overlap: Bool) {
        for (one, other) in [(first, second), (second, first)] {
            var world = World()
            world.send(.biometrySessionsChanged(.only(["1"])))
            for (id, place) in [(UInt64(1), one), (2, other)] {
                world.send(
                    .evaluate(
                        .init(
                            id: id, plan: .passcode, allowsFallback: true, interactionAllowed: true, place: place)))
            }
            #expect(world.state.active.map(\.request.id) == (overlap ? [1] : [1, 2]))
        }
    }

    @Test func promptsOfAUserAreLimited() {
        var world = World()
        let limit = UInt64(Limits.shownPrompts)
        for id in 1...limit { #expect(world.send(.wish(id, .passcode, session: "\(id)")).shown == [id]) }
        #expect(world.send(.wish(99, .passcode, session: "99")).isEmpty)
        #expect(world.send(.cancelChosen(3)).shown == [99])
    }

    private func change(_ id: UInt64, session: String) -> PolicyEvent {
        .evaluate(
            .init(
                id: id, plan: .passcode, allowsFallback: true, interactionAllowed: true, lastStep: .asksNewPasscode,
                program: id, place: PromptPlace(session: session)))
    }

    /// Otherwise a proof of the earlier passcode, which waits at its prompt, would permit another change.
    @Test(.promise("abuse.18")) func aChangeOfThePasscodeIsTheOnlyPromptOfTheUser() {
        var world = World()
        #expect(world.send(.wish(1, .passcode, session: "1")).shown == [1])
        #expect(world.send(change(2, session: "2")).isEmpty)
        #expect(world.send(.wish(3, .passcode, session: "3")).isEmpty, "the change keeps its turn")
        #expect(world.send(.cancelChosen(1)).shown == [2])
        #expect(world.send(change(4, session: "4")).isEmpty)
        #expect(world.send(.cancelChosen(2)).shown == [3])
        #expect(world.send(.cancelChosen(3)).shown == [4])
    }

    @Test func aPromptThatOverlapsTwoOthersKeepsItsTurn_LA35() {
        func ask(_ id: UInt64, _ place: PromptPlace) -> PolicyEvent {
            .evaluate(
                .init(
                    id: id, plan: .passcode, allowsFallback: true, interactionAllowed: true, program: id, place: place))
        }
        var world = World()
        let (screen, remote) = (PromptPlace(session: "1"), PromptPlace(session: "2", terminal: 7))
        #expect(world.send(ask(1, screen)).shown == [1])
        #expect(world.send(ask(2, remote)).shown == [2])
        #expect(world.send(ask(3, PromptPlace(session: "2", agent: "1"))).isEmpty)
        for (id, place) in [(UInt64(4), screen), (5, remote)] { #expect(world.send(ask(id, place)).isEmpty) }
        #expect(world.send(.cancelChosen(1)).shown.isEmpty)
        #expect(world.send(ask(6, screen)).isEmpty, "a later one does not overtake it")
        #expect(world.send(.cancelChosen(2)).shown == [3])
        #expect(world.send(.cancelChosen(3)).shown == [4, 5])
    }

    @Test func aPlaceThatBecomesFreeByASwitchIsUsedAtOnce() {
        var world = World()
        world.send(.biometrySessionsChanged(.only(["1"])))
        world.send(.wish(1, .passcode, session: "1"))
        #expect(world.send(.wish(2, .passcode, session: BiometrySessions.userManager)).isEmpty)
        #expect(world.send(.biometrySessionsChanged(.only(["3"]))).shown == [2])
    }

    @Test func aLockEndsThePromptsOfAllSessions() {
        var world = two(.either)
        world.send(.wish(3, .either, session: "2"))
        let effects = world.send(.locked)
        for id: UInt64 in 1...3 { #expect(effects.outcomes(id) == [.denied(.systemCancel)]) }
        #expect(effects.count { if case .arm = $0 { true } else { false } } == 0, "the sensor is not passed on")
        #expect(world.state.active.isEmpty && world.state.waiting.isEmpty && world.state.served.isEmpty)
    }

    // MARK: - Tries

    @Test func aDelayThatARightPasscodeEndsLaterIsNoLongerShown_LA30() {
        var world = two(.passcode)
        world.state.passcodeFailures = 2
        world.send([.passcodeEntered(1, at: 0), .countersStored(1)])
        #expect(world.send(.cancelChosen(1)).contains(.startDelay(2, seconds: 5)))
        // The verification of the first passcode ends after its evaluation has.
        #expect(world.send(.passcodeWasRight).content?.delaySeconds == 0)
        #expect(world.send(.passcodeEntered(2, at: 1)) == [.persistFirst(2, world.state.counters)])
    }

    @Test func aSecondPasscodeWaitsForTheFirst_LA30() {
        var world = two(.passcode)
        world.send([.passcodeEntered(1, at: 0), .countersStored(1)])
        #expect(world.send(.passcodeEntered(2, at: 0)).isEmpty)
        #expect(world.state.passcodeFailures == 1, "it does not count before it is verified")
        let effects = world.send(.passcodeChecked(1, isRight: false))
        #expect(effects.last == .persistFirst(2, world.state.counters) && world.state.passcodeFailures == 2)
        #expect(world.send(.countersStored(2)) == [.checkPasscode(2)])
    }

    @Test(arguments: [
        PolicyEvent.passcodeChecked(1, isRight: true), .passcodeChecked(1, isRight: false),
        .passcodeNotChecked(1, .storeUnreadable), .passcodeNotVerified(1, .vaultUnavailable), .cancelChosen(1),
        .promptLost(1), .promptUnavailable(1), .withdrawn(1, .systemCancel), .withdrawn(1, .appCancel),
        .deadlinePassed(1), .passcodeOutdated(1), .accountNotProven(1, .failed), .accountNotProven(1, .notAvailable),
    ])
    func everyEndOfAVerificationEntersTheHeldPasscode_LA30(_ ending: PolicyEvent) {
        var world = two(.passcode)
        world.send([.passcodeEntered(1, at: 0), .countersStored(1), .passcodeEntered(2, at: 0)])
        let effects = world.send(ending)
        #expect(effects.last == .persistFirst(2, world.state.counters))
        // A try that was not taken back, and was not right, stays counted beside the second one.
        let isUncounted: Set<PolicyEvent> = [
            .passcodeChecked(1, isRight: true), .passcodeNotVerified(1, .vaultUnavailable), .passcodeOutdated(1),
            .accountNotProven(1, .notAvailable),
        ]
        #expect(world.state.passcodeFailures == (isUncounted.contains(ending) ? 1 : 2))
        #expect(world.send(.countersStored(2)) == [.checkPasscode(2)])
        world.send(.passcodeNotVerified(2, .vaultUnavailable))
        #expect(world.state.passcodeFailures == (isUncounted.contains(ending) ? 0 : 1))
    }

    @Test func aFullDiskEndsTheFirstAndEntersTheHeldPasscode() {
        var world = two(.passcode)
        world.send([.passcodeEntered(1, at: 0), .passcodeEntered(2, at: 0)])
        let effects = world.send(.countersNotStored(1, .diskFull))
        #expect(effects.outcomes(1) == [.denied(.diskFull)])
        #expect(effects.last == .persistFirst(2, world.state.counters) && world.state.passcodeFailures == 1)
    }

    @Test func heldPasscodesAreEnteredInOrder_LA30() {
        var world = two(.passcode)
        world.send([.wish(3, .passcode, session: "3"), .promptVisible(3)])
        world.send([.passcodeEntered(2, at: 0), .countersStored(2)])
        world.send([.passcodeEntered(3, at: 0), .passcodeEntered(1, at: 0), .passcodeEntered(3, at: 0)])
        #expect(world.state.heldEntries.map(\.id) == [3, 1])
        #expect(world.send(.passcodeChecked(2, isRight: true)).last == .persistFirst(3, world.state.counters))
        #expect(world.state.heldEntries.map(\.id) == [1])
    }

    @Test func aHeldPasscodeIsForgottenWithItsPrompt() {
        var world = two(.passcode)
        world.send([.passcodeEntered(1, at: 0), .countersStored(1), .passcodeEntered(2, at: 0), .cancelChosen(2)])
        #expect(world.state.heldEntries.isEmpty)
        world.send(.passcodeChecked(1, isRight: false))
        #expect(world.state.passcodeFailures == 1)
    }

    @Test func aHeldPasscodeIsNotUsedForTheNextStage() {
        var world = two(.passcode, AuthenticationPlan([[.biometry, .passcode], [.passcode]]))
        world.send([.passcodeEntered(1, at: 0), .countersStored(1), .passcodeEntered(2, at: 0)])
        world.send(.matched(2, .a))
        #expect(world.state.shown(2)?.stage == 1 && world.state.heldEntries.isEmpty)
        world.send(.passcodeChecked(1, isRight: false))
        #expect(world.state.passcodeFailures == 1)
    }

    @Test func aHeldPasscodeIsRejectedByTheDelayOfTheFirst_LA30() {
        var world = two(.passcode)
        world.state.passcodeFailures = 2
        world.send([.passcodeEntered(1, at: 0), .countersStored(1), .passcodeEntered(2, at: 0)])
        let effects = world.send(.passcodeChecked(1, isRight: false))
        #expect(effects.contains(.startDelay(2, seconds: 5)))
        #expect(effects.content?.delaySeconds == 5)
        #expect(world.state.passcodeFailures == 3 && world.state.heldEntries.isEmpty, "it was not verified")
        #expect(effects.outcomes(2).isEmpty)
    }

    @Test func rightPasscodeOfAnEndedEvaluationYieldsNoFreeTry_LA30() {
        var world = two(.passcode)
        world.send([.passcodeEntered(1, at: 0), .countersStored(1), .passcodeEntered(2, at: 0), .cancelChosen(1)])
        world.send(.countersStored(2))
        #expect(world.state.passcodeFailures == 2)
        // The verification of the first passcode ends after its evaluation has.
        world.send(.passcodeWasRight)
        #expect(world.state.passcodeFailures == 1)
        world.send(.passcodeChecked(2, isRight: false))
        #expect(world.state.passcodeFailures == 1)
    }

    @Test(.promise("abuse.18")) func twoSessionsHaveNoMoreTriesThanOne_LA30() {
        var world = World()
        var verified = 0
        /// Sends an event, and stores the counts at once.
        func send(_ event: PolicyEvent) {
            let effects = world.send(event)
            verified += effects.count { if case .checkPasscode = $0 { true } else { false } }
            for case .persistFirst(let id, _) in effects { send(.countersStored(id)) }
        }
        for round: UInt64 in 0..<20 {
            let (one, other) = (10 * round + 1, 10 * round + 2)
            world.send([.wish(one, .passcode, session: "1"), .promptVisible(one)])
            world.send([.wish(other, .passcode, session: "2"), .promptVisible(other)])
            for id in [one, other, one, other] { send(.passcodeEntered(id, at: 0)) }
            send(.cancelChosen(one))
            send(.passcodeChecked(other, isRight: false))
            send(.cancelChosen(other))
        }
        #expect(verified == 3, "the delay after the third wrong passcode applies to both sessions")
    }

    // MARK: - Other prompts

    @Test func aDelayUpdatesThePromptsOfOtherSessions_LA30() {
        var world = two(.passcode)
        world.state.passcodeFailures = 2
        world.send([.passcodeEntered(1, at: 0), .countersStored(1)])
        let effects = world.send(.passcodeChecked(1, isRight: false))
        #expect(effects.contains(.startDelay(1, seconds: 5)) && effects.contains(.startDelay(2, seconds: 5)))
        #expect(world.send(.passcodeEntered(2, at: .seconds(1))).content?.delaySeconds == 4)
        #expect(world.state.passcodeFailures == 3)
        #expect(world.send(.delayPassed(2, at: .seconds(5))).content?.delaySeconds == 0)
    }

    @Test func aPasscodeThatIsBeingVerifiedDelaysNoOtherPrompt_LA30() {
        var world = two(.passcode)
        world.state.passcodeFailures = 2
        world.send([.passcodeEntered(1, at: 0), .countersStored(1)])
        let effects = world.send(.wish(3, .passcode, session: "3"))
        #expect(effects.content?.delaySeconds == 0)
        #expect(world.send(.passcodeChecked(1, isRight: true)).allSatisfy { $0 != .startDelay(3, seconds: 5) })
    }

    @Test func aLockoutEndsAPromptThatWaitsForTheSensor_LA28() {
        var world = two(.biometry, world: World(.touch, biometryFailures: 4))
        let effects = world.miss(1, id: 1)
        #expect(effects.outcomes(1) == [.denied(.biometryLockout)])
        #expect(effects.outcomes(2) == [.denied(.biometryLockout)])
    }

    @Test func aLockoutLeavesThePasscodeToOtherPrompts_LA28() {
        var world = two(.biometry, .either, world: World(.touch, biometryFailures: 4))
        let effects = world.miss(1, id: 1)
        #expect(effects.outcomes(1) == [.denied(.biometryLockout)] && effects.outcomes(2).isEmpty)
        #expect(effects.content?.method == .passcode && effects.content?.notice == .biometryLocked)
    }

    @Test func aPromptThatTheLockoutLeavesWithTheDelayedPasscodeStartsTheDelay_LA28_LA30() {
        var world = World(.touch, biometryFailures: 4)
        (world.state.passcodeFailures, world.state.passcodeBlockedUntil) = (3, .seconds(5))
        world = two(.biometry, .either, world: world)
        #expect(world.state.shown(2)?.method == .passcode && world.state.shown(2)?.awaitsSensor == true)
        let effects = world.miss(1, id: 1)
        #expect(effects.content?.notice == .biometryLocked && effects.contains(.startDelay(2, seconds: 5)))
    }

    // MARK: - The sensor

    @Test func theSensorIsArmedForOneEvaluation() {
        var world = World()
        world.send([.wish(1, .either, session: "1"), .promptVisible(1)])
        let shown = world.send(.wish(2, .either, session: "2"))
        #expect(shown.content?.method == .passcode && shown.content?.notice == .sensorInUse)
        #expect(world.send(.promptVisible(2)).isEmpty)
        #expect(world.send(.matched(2, .a)).isEmpty, "a match is for the evaluation whose sensor is armed")
        let effects = world.send(.matched(1, .a))
        #expect(effects.outcomes(1) == [.granted(.finger)] && effects.outcomes(2).isEmpty)
        #expect(effects.content?.method == .biometry && effects.last == .arm(2))
        #expect(world.send(.matched(1, .a)).isEmpty)
        #expect(world.send(.matched(2, .a)).outcomes(2) == [.granted(.finger)])
    }

    @Test func aBiometricEvaluationWaitsAtItsPromptForTheSensor() {
        var world = two(.biometry)
        #expect(world.state.shown(2)?.method == .biometry && world.state.shown(2)?.isArmed == false)
        #expect(world.send(.notMatched(2)).isEmpty && world.send(.guided(2, .swipeTooShort)).isEmpty)
        #expect(world.send(.cancelChosen(1)).suffix(1) == [.arm(2)])
    }

    @Test func theSensorIsArmedOnlyWhenThePromptIsVisible() {
        var world = World()
        world.send([.wish(1, .biometry, session: "1"), .promptVisible(1), .wish(2, .biometry, session: "2")])
        #expect(!world.send(.cancelChosen(1)).contains(.arm(2)))
        #expect(world.send(.promptVisible(2)) == [.arm(2)])
    }

    @Test func anEvaluationThatWaitsForTheSensorPrecedesNewOnes() {
        var world = two(.biometry)
        world.send(.wish(3, .biometry, session: "1"))
        let effects = world.send(.cancelChosen(1))
        #expect(effects.contains(.arm(2)) && effects.shown == [3])
        #expect(world.state.shown(3)?.awaitsSensor == true)
    }

    @Test func anEvaluationThatLeavesTheSensorPassesItOn() {
        var world = two(.either)
        let effects = world.miss(3, id: 1)
        #expect(effects.contains(.disarm(1)) && effects.last == .arm(2))
        #expect(world.state.shown(1)?.method == .passcode)
    }

    @Test func anEnteredPasscodeKeepsThePromptAtThePasscode() {
        var world = two(.either)
        world.send([.passcodeEntered(2, at: 0), .countersStored(2)])
        #expect(!world.send(.cancelChosen(1)).contains(.arm(2)))
        let effects = world.send(.passcodeChecked(2, isRight: false))
        #expect(effects.content?.method == .passcode && !effects.contains(.arm(2)))
    }

    @Test func aSwitchToAnotherSessionPassesTheSensorOn_LA32() {
        var world = World()
        world.send(.biometrySessionsChanged(.only(["1", "2"])))
        for id: UInt64 in 1...2 {
            var caller = Caller(groups: ["g"], label: "p", processID: Int32(id), userID: 1)
            caller.loginSession = "\(id)"
            world.send(
                .evaluate(
                    .init(id: id, plan: .either, allowsFallback: true, interactionAllowed: true, caller: caller)))
            world.send(.promptVisible(id))
        }
        let effects = world.send(.biometrySessionsChanged(.only(["2"])))
        #expect(effects.contains(.disarm(1)) && effects.last == .arm(2))
        #expect(world.state.shown(1)?.method == .passcode)
    }

    @Test func theCameraThatIsFinishedIsPassedOn_LA27() {
        var world = two(.biometry, .either, world: World(.face))
        let effects = world.miss(2, id: 1)
        #expect(effects.outcomes(1).isEmpty && world.state.shown(1)?.method == .biometry, "it stays with its button")
        #expect(effects.last == .arm(2))
    }

    @Test func removingTheFingersLeavesThePasscodeToThePromptThatWaitsForTheSensor() {
        var world = two(.biometry, .either)
        let effects = world.send(.sensorChanged(.touchEmpty))
        #expect(effects.outcomes(1) == [.denied(.biometryNotEnrolled)] && effects.outcomes(2).isEmpty)
        #expect(world.state.shown(2)?.method == .passcode && world.state.shown(2)?.awaitsSensor == false)
    }
}
