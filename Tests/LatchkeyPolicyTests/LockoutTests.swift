// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import Testing

/// The lockout of biometry after five consecutive failed matches, across evaluations and apps.
@Suite struct LockoutTests {
    @Test func fiveFailedMatchesAcrossEvaluationsLockBiometry_LA28() {
        var world = World(.touch)
        world.show(.biometry, id: 1)
        #expect(world.miss(3, id: 1).outcomes(1) == [.denied(.authenticationFailed)])
        let second = world.show(.biometry, id: 2)
        #expect(second.content?.triesLeft == 2, "three of five are used")
        #expect(world.miss(1, id: 2).outcomes(2).isEmpty)
        let last = world.miss(1, id: 2)
        #expect(last.outcomes(2) == [.denied(.biometryLockout)])
        #expect(world.state.isBiometryLocked)
        #expect(world.ask(.biometry, id: 3) == [.reply(3, .failure(.biometryLockout))])
    }

    @Test func lockingTryContinuesWithThePasscodeIfTheStageAcceptsIt_LA28() {
        var world = World(.touch, biometryFailures: 4)
        world.show(.either)
        let effects = world.miss()
        #expect(effects.outcomes().isEmpty)
        #expect(
            effects.content
                == PromptContent(method: .passcode, notice: .biometryLocked, triesLeft: 3, showsFallback: false))
    }

    @Test func fiveFailedFaceScansLockBiometry_LA28() {
        var world = World(.face)
        for id: UInt64 in 1...2 {
            world.show(.biometry, id: id, fallback: false)
            world.miss(2, id: id)
        }
        world.show(.biometry, id: 3)
        #expect(world.miss(1, id: 3).outcomes(3) == [.denied(.biometryLockout)])
    }

    @Test func correctPasscodeInAnEvaluationClearsTheLockout_LA28() {
        var world = World(.touch, biometryFailures: 5)
        world.show(.either)
        let effects = world.type(right: true)
        #expect(
            effects.persisted.last == PolicyCounters(biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0))
        #expect(!world.state.isBiometryLocked)
        #expect(world.state.refusal(of: .biometry, for: "a") == nil)
    }

    @Test func correctPasscodeAfterItsEvaluationEndedClearsTheLockout_LA28() {
        var world = World(.touch, biometryFailures: 5)
        #expect(world.send(.passcodeWasRight).persisted.count == 1)
        #expect(!world.state.isBiometryLocked)
    }

    @Test func nothingButAPasscodeClearsTheLockout_LA28() {
        var world = World(.touch, biometryFailures: 5)
        world.show(.either)
        let events: [PolicyEvent] = [
            .matched(1, .a), .notMatched(1), .countersStored(1), .fallbackChosen(1), .sensorFailed(1),
            .sensorChanged(.touchEmpty),
            .sensorChanged(.touchB), .sensorChanged(.absent), .sensorChanged(.face), .matched(1, .b),
            .passcodeEntered(1, at: 0), .countersStored(1), .passcodeChecked(1, isRight: false),
            .cancelChosen(1), .passcodeExists(false), .passcodeExists(true), .promptLost(1), .deadlinePassed(1),
            .withdrawn(1, .appCancel), .sensorChanged(.touch),
        ]
        for event in events {
            world.send(event)
            #expect(world.state.isBiometryLocked, "\(event)")
        }
        #expect(world.ask(.biometry, id: 2).outcomes(2) == [.denied(.biometryLockout)])
    }

    @Test func matchResetsTheFailureCount_LA29() {
        var world = World(.touch, biometryFailures: 4)
        world.show(.biometry)
        let effects = world.send(.matched(1, .a))
        #expect(
            effects.first == .persist(PolicyCounters(biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0))
        )
        #expect(effects.outcomes() == [.granted(.finger)])
        for id: UInt64 in 2...3 {
            world.show(.biometry, id: id)
            world.miss(2, id: id)
            world.send(.cancelChosen(id))
        }
        #expect(!world.state.isBiometryLocked)
    }

    @Test(.promise("tries.match")) func everyFailedMatchIsStoredBeforeTheEvaluationContinues_LA28() {
        var world = World(.touch)
        world.show(.biometry)
        for count in 1...3 {
            let effects = world.miss()
            #expect(
                effects.first
                    == .persistFirst(
                        1, PolicyCounters(biometryFailures: count, passcodeFailures: 0, passcodeBlockedUntil: 0)))
        }
    }

    @Test func storedCountersLockBiometryAfterARestart_LA28() {
        let persisted = World(.touch, biometryFailures: 5).state.counters
        let restarted = PolicyState(AuthorityState(sensor: .touch, isPasscodeSet: true, counters: persisted))
        #expect(restarted.refusal(of: .biometry, for: "a") == .biometryLockout)
    }

    @Test func missingCountersCountAsMaximumFailures_LA28_LA30_abuse27() {
        var world = World(.touch)
        world.state.useUpTries(at: .seconds(7))
        #expect(world.state.isBiometryLocked)
        #expect(world.state.refusal(of: .biometry, for: "a") == .biometryLockout)
        world.show(.either)
        #expect(world.type(right: true, at: .seconds(3607) - 1).outcomes().isEmpty)
        let effects = world.type(right: true, at: .seconds(3607))
        #expect(effects.outcomes() == [.granted(.code)])
        let right = PolicyCounters(
            biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0, lastPasscode: .seconds(3607))
        #expect(effects.persisted.last == right)
    }

    @Test func failedMatchesBeforeThePromptIsVisibleDoNotCount_LA28_abuse23() {
        var world = World(.touch)
        world.ask(.biometry)
        #expect(world.miss(10).isEmpty)
        #expect(world.state.biometryFailures == 0)
    }
}
