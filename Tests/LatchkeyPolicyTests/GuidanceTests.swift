// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// Scans that the sensor cannot use, and a sensor that is unplugged while it scans: neither is a failed match.
@Suite struct GuidanceTests {
    private let notices: [SensorGuidance: PromptContent.Notice] = [
        .scanAgain: .scanAgain, .swipeTooShort: .swipeTooShort, .fingerNotCentred: .fingerNotCentred,
        .removeAndRetry: .removeAndRetry, .tooFast: .scanTooFast,
    ]

    @Test(arguments: SensorGuidance.allCases) func guidanceChangesOnlyTheNotice(_ guidance: SensorGuidance) throws {
        var world = World(.touch)
        let shown = try #require(world.show(.either).content)
        let before = world.state
        for _ in 1...20 {
            var expected = shown
            expected.notice = try #require(notices[guidance])
            #expect(world.send(.guided(1, guidance)) == [.update(1, expected)])
            #expect(!expected.notice.isFailure)
        }
        var after = world.state
        after.active[0].notice = .none
        #expect(after == before, "tries, counters and the sensor are unchanged")
        #expect(world.send(.matched(1, .a)).outcomes() == [.granted(.finger)])
    }

    @Test func aSensorThatAnotherProgramUsesIsNoAttempt() throws {
        var world = World(.touch)
        let shown = try #require(world.show(.either).content)
        #expect(world.send(.sensorInUse(1, false)).isEmpty, "nothing is said of a sensor that is not in use")
        var expected = shown
        expected.notice = .sensorInUse
        #expect(world.send(.sensorInUse(1, true)) == [.update(1, expected)])
        #expect(!expected.notice.isFailure)
        #expect(world.send(.sensorInUse(1, false)) == [.update(1, shown)])
        world.send([.guided(1, .scanAgain)])
        #expect(world.send(.sensorInUse(1, false)).isEmpty, "guidance stays")
        #expect(world.send(.sensorInUse(2, true)).isEmpty, "another evaluation")
        #expect(world.send(.matched(1, .a)).outcomes() == [.granted(.finger)])
    }

    @Test func aMissAfterGuidanceCountsOnce() {
        var world = World(.touch)
        world.show(.biometry)
        world.send([.guided(1, .removeAndRetry), .guided(1, .scanAgain)])
        #expect(world.miss().content?.notice == .notRecognised)
        #expect(world.state.biometryFailures == 1 && world.state.active.first?.failedTries == 1)
        #expect(world.send(.guided(1, .swipeTooShort)).content?.triesLeft == 2)
    }

    @Test func guidanceIsIgnoredWhileTheSensorDoesNotScan() {
        var world = World(.touch)
        world.ask(.either)
        #expect(world.send(.guided(1, .scanAgain)).isEmpty, "not visible yet")
        world.send(.promptVisible(1))
        #expect(world.send(.guided(2, .scanAgain)).isEmpty, "another evaluation")
        world.send(.notMatched(1))
        #expect(world.send(.guided(1, .scanAgain)).isEmpty, "a count is being stored")
        world.send([.countersStored(1), .fallbackChosen(1)])
        #expect(world.send([.guided(1, .scanAgain), .sensorDisconnected(1)]).isEmpty, "the passcode is asked for")
        world.send(.cancelChosen(1))
        #expect(world.send([.guided(1, .scanAgain), .sensorDisconnected(1)]).isEmpty, "the evaluation has ended")
    }

    @Test func disconnectedSensorIsReplacedByThePasscodeIfThePlanAcceptsIt() {
        var world = World(.touch)
        world.show(.either)
        let counters = world.state.counters
        let effects = world.send(.sensorDisconnected(1))
        #expect(
            effects == [
                .disarm(1),
                .update(
                    1,
                    PromptContent(
                        method: .passcode, notice: .sensorDisconnected, triesLeft: 3, showsFallback: false)),
            ])
        #expect(world.state.counters == counters && world.state.sensor == .absent)
        #expect(world.send(.sensorChanged(.absent)).isEmpty, "the driver's own report changes nothing")
        #expect(world.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func disconnectedSensorEndsAPlanWithoutAnotherMethod() {
        var world = World(.touch)
        world.show(.biometry)
        #expect(
            world.send(.sensorDisconnected(1)) == [.disarm(1), .dismiss(1), .reply(1, .failure(.biometryDisconnected))])
        #expect(world.state.biometryFailures == 0)
        #expect(world.ask(.biometry).outcomes() == [.denied(.biometryNotAvailable)], "there is no sensor afterwards")
    }

    @Test func onlyASensorThatScansForTheEvaluationIsDisconnectedFromIt() {
        var world = World(.touch)
        world.ask(.biometry)
        #expect(world.send(.sensorDisconnected(1)).isEmpty, "the prompt is not visible, so nothing scans")
        world.send(.promptVisible(1))
        #expect(world.send(.sensorDisconnected(2)).isEmpty, "another evaluation")
        #expect(world.state.sensor != .absent)
        #expect(world.send(.matched(1, .a)).outcomes() == [.granted(.finger)])
    }

    @Test func aWaitingEvaluationIsRefusedWhenTheSensorWasDisconnected() {
        var world = World(.touch)
        world.show(.biometry)
        world.ask(.biometry, id: 2)
        let effects = world.send(.sensorDisconnected(1))
        #expect(effects.outcomes(1) == [.denied(.biometryDisconnected)])
        #expect(effects.outcomes(2) == [.denied(.biometryNotAvailable)])
    }

    @Test func anUnlockByBiometryIsNotReusedAfterTheSensorWasDisconnected_LA33() {
        var world = World(.touch)
        world.send(.unlocked(byBiometry: true))
        world.show(.biometry)
        world.send(.sensorDisconnected(1))
        world.send(.sensorChanged(.touch))
        #expect(world.ask(.biometry, reuseSeconds: 300).shown == [1], "the sensor may have been replaced")
    }

    @Test func aDisconnectWhileAMissIsStoredContinuesOnce() {
        var world = World(.touch)
        world.show(.either)
        world.send(.notMatched(1))
        #expect(world.send(.sensorDisconnected(1)).content?.method == .passcode)
        #expect(world.send(.countersStored(1)).isEmpty)
        #expect(world.state.biometryFailures == 1, "the miss before stays counted")
    }
}
