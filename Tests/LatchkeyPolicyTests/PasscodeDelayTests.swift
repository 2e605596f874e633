// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// Wrong passcodes and the time without entry behind them. The delays are ours: Apple says only that they grow and
/// that six end it.
@Suite struct PasscodeDelayTests {
    @Test(arguments: [(0, 0), (1, 0), (2, 0), (3, 5), (4, 60), (5, 300), (6, 3600), (7, 3600), (1_000_000, 3600)])
    func delaysGrowUntilAnHour_LA30(_ failures: Int, _ seconds: Int64) {
        #expect(PolicyState.passcodeDelay(afterFailures: failures) == .seconds(seconds))
    }

    @Test func wrongPasscodesAreCountedAcrossEvaluations_LA30() {
        var world = World(.absent)
        var now = Int64.seconds(1000)
        for failures in 1...7 {
            world.show(.passcode)
            let effects = world.type(right: false, at: now)
            let until = failures < 3 ? 0 : now + PolicyState.passcodeDelay(afterFailures: failures)
            #expect(
                effects.kept
                    == [
                        PolicyCounters(
                            biometryFailures: 0, passcodeFailures: failures, passcodeBlockedUntil: until)
                    ])
            world.send(.cancelChosen(1))
            now = max(now, until)
        }
    }

    @Test func duringADelayEvenTheRightPasscodeIsRefusedAndNotCounted_LA30() {
        var world = World(.absent)
        world.state.passcodeFailures = 3
        world.state.passcodeBlockedUntil = .seconds(10)
        world.show(.passcode)
        let before = world.state.counters
        let effects = world.type(right: true, at: .seconds(10) - 1)
        #expect(effects.outcomes().isEmpty)
        #expect(effects.kept.isEmpty)
        world.type(right: false, at: 0)
        #expect(world.state.counters == before)
        #expect(world.type(right: false, at: 0).outcomes() == [.denied(.authenticationFailed)])
        #expect(world.state.counters == before)
    }

    @Test func afterTheDelayTheRightPasscodeIsTaken_LA30() {
        var world = World(.absent)
        world.state.passcodeFailures = 3
        world.state.passcodeBlockedUntil = .seconds(10)
        world.show(.passcode)
        #expect(world.type(right: true, at: .seconds(10)).outcomes() == [.granted(.code)])
        #expect(world.state.passcodeFailures == 0)
        #expect(world.state.passcodeBlockedUntil == 0)
    }

    @Test func aDelayedPasscodeDoesNotClearTheLockout_LA28_LA30() {
        var world = World(.touch, biometryFailures: 5)
        world.state.passcodeFailures = 6
        world.state.passcodeBlockedUntil = .seconds(10)
        world.show(.either)
        world.type(right: true, at: 0)
        world.send(.passcodeUsed(isRight: true, at: 0))
        #expect(world.state.isBiometryLocked)
    }

    @Test func passcodesOutsideOfEvaluationsCountToo_LA30() {
        var world = World(.absent)
        #expect(world.send(.passcodeUsed(isRight: false, at: 0)).kept.map(\.passcodeFailures) == [1])
        world.send([.passcodeUsed(isRight: false, at: 0), .passcodeUsed(isRight: false, at: 0)])
        #expect(world.state.passcodeBlockedUntil == .seconds(5))
        #expect(world.send(.passcodeUsed(isRight: true, at: .seconds(5) - 1)).isEmpty)
        #expect(world.send(.passcodeUsed(isRight: true, at: .seconds(5))).kept.map(\.passcodeFailures) == [0])
        #expect(world.send(.passcodeUsed(isRight: true, at: .seconds(5))).isEmpty, "nothing changed, nothing kept")
    }

    @Test func aMatchDoesNotEndADelay_LA30() {
        var world = World(.touch)
        world.state.passcodeFailures = 4
        world.state.passcodeBlockedUntil = .seconds(10)
        world.show(.biometry)
        #expect(world.send(.matched(1, .a)).outcomes() == [.granted(.finger)])
        #expect(world.state.passcodeFailures == 4)
        #expect(world.state.passcodeBlockedUntil == .seconds(10))
    }

    @Test func removingThePasscodeForgetsItsWrongTries_LA30() {
        var world = World(.touch, biometryFailures: 5)
        world.state.passcodeFailures = 4
        world.state.passcodeBlockedUntil = .seconds(10)
        let effects = world.send(.passcodeExists(false))
        #expect(effects.kept == [PolicyCounters(biometryFailures: 5, passcodeFailures: 0, passcodeBlockedUntil: 0)])
        #expect(world.state.isBiometryLocked, "but not the failed matches")
    }
}
