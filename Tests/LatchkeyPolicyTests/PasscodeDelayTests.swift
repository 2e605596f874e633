// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// Delays after wrong passcodes. The delays are Latchkey's own: Apple documents only that they grow and that entry is
/// disabled after six wrong passcodes.
@Suite struct PasscodeDelayTests {
    /// Returns a machine on which three wrong passcodes were entered, the last five seconds before `until`.
    private func delayed(until: Int64 = .seconds(10)) -> World {
        var world = World(.absent)
        world.state.passcodeFailures = 3
        world.state.passcodeBlockedUntil = until
        return world
    }

    @Test(arguments: [(0, 0), (1, 0), (2, 0), (3, 5), (4, 60), (5, 300), (6, 3600), (7, 3600), (1_000_000, 3600)])
    func delaysGrowUntilAnHour_LA30(_ failures: Int, _ seconds: Int64) {
        #expect(PolicyState.passcodeDelay(afterFailures: failures) == .seconds(seconds))
    }

    @Test func wrongPasscodesAreCountedAcrossEvaluations_LA30() {
        var world = World(.absent)
        var now = Int64.seconds(1000)
        for failures in 1...7 {
            world.ask(.passcode, at: now)
            world.send(.promptVisible(1), at: now)
            let effects = world.type(right: false, at: now)
            let until = failures < 3 ? 0 : now + PolicyState.passcodeDelay(afterFailures: failures)
            #expect(
                effects.persisted
                    == [
                        PolicyCounters(
                            biometryFailures: 0, passcodeFailures: failures, passcodeBlockedUntil: until)
                    ])
            world.send(.cancelChosen(1), at: now)
            now = max(now, until)
        }
    }

    @Test func delayedPasscodeIsNotVerifiedAndNotCounted_LA30() {
        var world = delayed()
        world.show(.passcode)
        let before = world.state.counters
        for _ in 1...5 {
            let effects = world.type(right: true, at: .seconds(10) - 1)
            #expect(!effects.contains(.checkPasscode(1)) && effects.outcomes().isEmpty && effects.persisted.isEmpty)
            #expect(effects.content?.triesLeft == 3 && effects.content?.notice == PromptContent.Notice.none)
        }
        #expect(world.state.counters == before)
    }

    @Test func promptDuringADelayShowsTheSecondsAndThenAcceptsThePasscode_LA30() {
        var world = delayed()
        let shown = world.ask(.passcode, at: .seconds(6) - 1)
        #expect(shown.content?.delaySeconds == 5, "rounded up to whole seconds")
        #expect(shown.contains(.startDelay(1, seconds: 5)))
        // `delayPassed` may be posted too early, and before the prompt is visible.
        let early = world.send(.delayPassed(1, at: .seconds(9)), at: .seconds(9))
        #expect(early.content?.delaySeconds == 1 && early.contains(.startDelay(1, seconds: 1)))
        let over = world.send(.delayPassed(1, at: .seconds(10)), at: .seconds(10))
        #expect(over.count == 1 && over.content?.delaySeconds == 0)
        world.send(.promptVisible(1), at: .seconds(10))
        #expect(world.type(right: true, at: .seconds(10)).outcomes() == [.granted(.code)])
    }

    @Test func wrongPasscodeThatStartsADelayShowsIt_LA30() {
        var world = World(.absent)
        world.state.passcodeFailures = 2
        world.show(.passcode)
        let effects = world.type(right: false, at: .seconds(1))
        #expect(effects.content?.notice == .wrongPasscode && effects.content?.delaySeconds == 5)
        #expect(effects.suffix(2) == [.startDelay(1, seconds: 5), .startDeadline(1, seconds: 65)])
    }

    @Test func passcodeAfterAFallbackMayBeDelayed_LA30() {
        var world = World(.touch)
        world.state.passcodeBlockedUntil = .seconds(10)
        world.show(.either)
        #expect(world.miss(1).content?.delaySeconds == 0, "biometry is not delayed")
        #expect(world.send(.fallbackChosen(1)).contains(.startDelay(1, seconds: 10)))

        var both = World(.touch)
        both.state.passcodeBlockedUntil = .seconds(10)
        both.show(.biometryThenPasscode)
        #expect(both.send(.matched(1, .a)).contains(.startDelay(1, seconds: 10)))
    }

    /// Who waits for the end of the delay can enter the passcode after it, unless a call of an app would end before.
    @Test(arguments: [(Int64(58), Int64(118)), (300, 360), (301, 60), (3600, 60)])
    func promptWithADelayEndsAMinuteAfterIt(_ seconds: Int64, _ deadline: Int64) {
        var world = delayed(until: .seconds(seconds))
        let shown = world.show(.passcode)
        let deadlines = shown.filter { if case .startDeadline = $0 { true } else { false } }
        #expect(deadlines == [.startDeadline(1, seconds: deadline)])
    }

    @Test func promptEndsAMinuteAfterADelayThatWasLifted() {
        var world = delayed(until: .seconds(3600))
        world.show(.passcode)
        let effects = world.send(.passcodeWasRight)
        #expect(effects.content?.delaySeconds == 0 && effects.last == .startDeadline(1, seconds: 60))
    }

    @Test func promptThatEndsDuringADelayEndsWithPasscodeDelayed_LA30() {
        var world = delayed(until: .seconds(100))
        world.show(.passcode)
        #expect(world.send(.deadlinePassed(1), at: .seconds(60)).outcomes() == [.denied(.passcodeDelayed)])
        world.show(.passcode)
        #expect(world.send(.deadlinePassed(1), at: .seconds(100)).outcomes() == [.denied(.systemCancel)])
    }

    @Test func correctPasscodeAfterTheDelayIsAccepted_LA30() {
        var world = delayed()
        world.show(.passcode)
        #expect(world.type(right: true, at: .seconds(10)).outcomes() == [.granted(.code)])
        #expect(world.state.passcodeFailures == 0)
        #expect(world.state.passcodeBlockedUntil == 0)
    }

    @Test func delayedPasscodeDoesNotClearTheLockout_LA28_LA30() {
        var world = World(.touch, biometryFailures: 5)
        world.state.passcodeFailures = 6
        world.state.passcodeBlockedUntil = .seconds(10)
        world.show(.either)
        world.type(right: true, at: 0)
        #expect(world.state.isBiometryLocked)
    }

    @Test func matchDoesNotEndADelay_LA30() {
        var world = World(.touch)
        world.state.passcodeFailures = 4
        world.state.passcodeBlockedUntil = .seconds(10)
        world.show(.biometry)
        #expect(world.send(.matched(1, .a)).outcomes() == [.granted(.finger)])
        #expect(world.state.passcodeFailures == 4)
        #expect(world.state.passcodeBlockedUntil == .seconds(10))
    }

    @Test func removingThePasscodeResetsItsFailures_LA30() {
        var world = World(.touch, biometryFailures: 5)
        world.state.passcodeFailures = 4
        world.state.passcodeBlockedUntil = .seconds(10)
        let effects = world.send(.passcodeExists(false))
        #expect(
            effects.persisted == [PolicyCounters(biometryFailures: 5, passcodeFailures: 0, passcodeBlockedUntil: 0)])
        #expect(world.state.isBiometryLocked, "but not the failed matches")
    }
}
