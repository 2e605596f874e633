// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import Testing

/// A try is counted, and the count is durable, before a passcode is verified or the evaluation continues.
@Suite struct CountedFirstTests {
    @Test(.promise("tries.first")) func passcodeIsCountedAndTheCountStoredBeforeItIsVerified() {
        var world = World(.touch)
        world.show(.passcode)
        let counted = PolicyCounters(biometryFailures: 0, passcodeFailures: 1, passcodeBlockedUntil: 0)
        #expect(world.send(.passcodeEntered(1, at: 0)) == [.persistFirst(1, counted)])
        #expect(world.send(.passcodeChecked(1, isRight: true)).isEmpty, "no verification was requested")
        #expect(world.send(.countersStored(1)) == [.checkPasscode(1)])
        #expect(world.send(.countersStored(1)).isEmpty)
        let effects = world.send(.passcodeChecked(1, isRight: true))
        #expect(effects.first == .persist(World(.touch).state.counters), "a correct passcode resets the count first")
        #expect(effects.outcomes() == [.granted(.code)])
    }

    @Test(.promise("tries.first")) func passcodeWhoseCountCannotBeStoredIsNotVerifiedAndNotCounted() {
        for failures in [0, 2] {
            var world = World(.touch)
            world.state.passcodeFailures = failures
            let before = world.state.counters
            world.show(.passcode)
            world.send(.passcodeEntered(1, at: 0))
            #expect(
                world.send(.countersNotStored(1, .diskFull)) == [.dismiss(1), .reply(1, .failure(.diskFull))])
            #expect(world.state.counters == before, "a full disk uses no tries")
            #expect(world.send(.countersStored(1)).isEmpty)
        }
    }

    @Test func missWhoseCountCannotBeStoredEndsTheEvaluationAndStaysCounted() {
        var world = World(.touch)
        world.show(.either)
        #expect(world.send(.notMatched(1)).count == 1)
        #expect(world.send([.notMatched(1), .matched(1, .a)]).isEmpty, "no match counts before the count is stored")
        #expect(
            world.send(.countersNotStored(1, .diskFull)) == [.disarm(1), .dismiss(1), .reply(1, .failure(.diskFull))])
        #expect(world.state.biometryFailures == 1)
    }

    @Test func passcodeThatCannotBeVerifiedStaysCountedAndEndsTheEvaluation() {
        var world = World(.touch)
        world.show(.passcode)
        #expect(world.send(.passcodeNotChecked(1, .storeUnreadable)).isEmpty, "no passcode was entered")
        world.send([.passcodeEntered(1, at: 0), .countersStored(1)])
        #expect(world.send(.passcodeNotChecked(1, .storeUnreadable)).outcomes() == [.denied(.storeUnreadable)])
        #expect(world.state.passcodeFailures == 1)
    }

    @Test func repeatedWrongPasscodeIsNotCounted() {
        var world = World(.touch)
        world.show(.passcode)
        world.type(right: false)
        for _ in 1...5 {
            let effects = world.send(.passcodeRepeated(1))
            #expect(effects.count == 1)
            #expect(effects.content?.notice == .sameWrongPasscode && effects.content?.triesLeft == 2)
        }
        #expect(world.state.passcodeFailures == 1)
        world.send(.passcodeEntered(1, at: 0))
        #expect(world.send(.passcodeRepeated(1)).isEmpty)
    }

    @Test func storedCountOfAnotherEvaluationIsIgnored() {
        var world = World(.touch)
        world.show(.passcode)
        world.send(.passcodeEntered(1, at: 0))
        #expect(world.send([.countersStored(2), .countersNotStored(2, .diskFull), .delayPassed(2, at: 0)]).isEmpty)
        #expect(world.state.passcodeFailures == 1, "the try of the evaluation stays counted")
        #expect(world.send(.countersStored(1)) == [.checkPasscode(1)])
    }

    @Test func reasonWhyThePasscodeIsRequiredIsReported() {
        var state = World(.touch).state
        #expect(state.passcodeDue == nil)
        state.lastPasscode = nil
        #expect(state.passcodeDue == .afterRestart)
        state.lastPasscode = 0
        state.now = .hours(48) + 1
        #expect(state.passcodeDue == .unusedForTwoDays)
        state.lastBiometry = .hours(152)
        state.now = .hours(156) + 1
        #expect(state.passcodeDue == .unusedForAWeek)
        var world = World(.touch)
        #expect(world.ask(.either, at: .hours(49)).content?.notice == .passcodeDueByTime)
    }
}
