// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// Paired devices: when they are requested, when a confirmation counts, and what happens when they move in or out of
/// reach.
@Suite struct CompanionTests {
    private func world(_ sensor: SensorState = .touch, _ companions: CompanionState = .watchNear) -> World {
        var world = World(sensor)
        world.send(.companionsChanged(companions))
        return world
    }

    @Test func reachableCompanionIsRequestedForACompanionPlan_LA05() {
        var near = world()
        #expect(
            near.show(.companion).content
                == PromptContent(
                    method: .companion, notice: .none, triesLeft: 0, showsFallback: true, offersCompanion: true))
        #expect(near.send(.companionConfirmed(1)) == [.dismiss(1), .reply(1, .granted(.watch))])

        var away = world(.touch, .watchAway)
        #expect(away.ask(.companion) == [.reply(1, .denied(.companionNotAvailable))])
    }

    @Test func biometryOrCompanionReportsBiometryStatusIfThereIsASensor_LA05() {
        for (sensor, failures, status) in [
            (SensorState.absent, 0, Status.companionNotAvailable), (.touchEmpty, 0, .biometryNotEnrolled),
            (.touch, 5, .biometryLockout),
        ] {
            var world = World(sensor, biometryFailures: failures)
            #expect(world.ask(.biometryOrCompanion) == [.reply(1, .denied(status))])
            world.send(.companionsChanged(.watchNear))
            #expect(world.show(.biometryOrCompanion).content?.method == .companion, "a companion is enough")
            #expect(world.send(.companionConfirmed(1)).outcomes() == [.granted(.watch)])
        }
    }

    @Test func confirmationCompletesAPromptForBiometry_LA05() {
        var world = world()
        let content = world.show(.biometryOrCompanion).content
        #expect(content?.method == .biometry)
        #expect(content?.offersCompanion == true)
        #expect(world.send(.companionConfirmed(1)) == [.disarm(1), .dismiss(1), .reply(1, .granted(.watch))])
    }

    @Test func evaluationContinuesWithTheCompanionAfterTheLastFailedTouch_LA05() {
        var world = world()
        world.show(.biometryOrCompanion)
        let effects = world.miss(3)
        #expect(effects.contains(.disarm(1)))
        #expect(effects.content?.method == .companion)
        #expect(effects.outcomes().isEmpty)
        #expect(world.send(.companionConfirmed(1)).outcomes() == [.granted(.watch)])
    }

    @Test func fallbackDoesNotLeadToTheCompanion_LA24() {
        var finger = world()
        finger.show(.biometryOrCompanion)
        finger.miss()
        #expect(finger.send(.fallbackChosen(1)).outcomes() == [.denied(.userFallback)])

        var code = world()
        code.show(.companionOrPasscode)
        #expect(code.send(.fallbackChosen(1)).content?.method == .passcode)
        #expect(code.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func hiddenFallbackIsHiddenForACompanionToo_LA25() {
        var world = world()
        #expect(world.show(.companion, fallback: false).content?.showsFallback == false)
        #expect(world.send(.fallbackChosen(1)).isEmpty)
    }

    @Test func inputBeforeThePromptIsVisibleIsIgnored_LA05_abuse23() {
        var world = world()
        world.ask(.companion)
        #expect(world.send(.companionConfirmed(1)).isEmpty)
        #expect(world.send(.fallbackChosen(1)).isEmpty)
        #expect(world.state.active.first?.proven == Authorisation.none)
    }

    @Test func confirmationCountsOnlyForAnEvaluationThatOffersIt_LA05() {
        var other = world()
        other.show(.companion, id: 1)
        #expect(other.send(.companionConfirmed(2)).isEmpty)

        var without = world()
        without.show(.either)
        #expect(without.send(.companionConfirmed(1)).isEmpty, "the plan accepts no companion")

        var away = world(.touch, .watchAway)
        #expect(away.show(.biometryOrCompanion).content?.offersCompanion == false)
        #expect(away.send(.companionConfirmed(1)).isEmpty, "none is near")
    }

    @Test func companionOutOfReachEndsAnEvaluationThatOnlyItCanComplete_LA05() {
        var alone = world()
        alone.show(.companion)
        #expect(
            alone.send(.companionsChanged(.watchAway))
                == [.dismiss(1), .reply(1, .denied(.companionNotAvailable))])

        var finger = world()
        finger.show(.biometryOrCompanion)
        let effects = finger.send(.companionsChanged(.watchAway))
        #expect(effects.outcomes().isEmpty)
        #expect(effects.content?.offersCompanion == false)
        #expect(finger.send(.companionsChanged(.watchNear)).content?.offersCompanion == true)
        #expect(finger.send(.matched(1, .a)).outcomes() == [.granted(.finger)])
    }

    /// Otherwise a plan that also accepts the passcode would request a device that is out of reach, and never end.
    @Test func passcodeIsRequestedWhileTheCompanionIsOutOfReach_LA05() {
        var away = world(.absent, .watchAway)
        #expect(away.show(.companionOrPasscode, fallback: false).content?.method == .passcode)
        #expect(away.type(right: true).outcomes() == [.granted(.code)])

        var leaving = world()
        leaving.show(.companionOrPasscode, fallback: false)
        #expect(leaving.send(.companionsChanged(.watchAway)).content?.method == .passcode)
        #expect(leaving.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func removingThePasscodeDoesNotEndACompanionPrompt_LA05() {
        var alone = world()
        alone.show(.companion)
        #expect(alone.send(.passcodeExists(false)).isEmpty, "the passcode was not requested")
        #expect(alone.send(.companionConfirmed(1)).outcomes() == [.granted(.watch)])

        var finger = world()
        finger.show(.biometryOrCompanion)
        let effects = finger.send(.passcodeExists(false))
        #expect(effects.first == .disarm(1) && effects.content?.method == .companion)
        #expect(finger.send(.companionConfirmed(1)).outcomes() == [.granted(.watch)])
    }

    @Test func companionChangesWithoutACompanionPromptHaveNoEffects() {
        var world = world()
        #expect(world.send(.companionsChanged(.watchAway)).isEmpty)
        world.show(.either)
        #expect(world.send(.companionsChanged(.watchNear)).isEmpty, "the plan accepts no companion")
    }
}
