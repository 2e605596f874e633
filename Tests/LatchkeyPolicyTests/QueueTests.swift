// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import Testing

/// Concurrent evaluations: one prompt at a time, and programs take turns.
@Suite struct QueueTests {
    private func busy(_ ids: ClosedRange<UInt64>) -> World {
        var world = World(.touch)
        for id in ids { world.ask(.either, id: id) }
        return world
    }

    @Test(.promise("abuse.18")) func aSecondEvaluationWaitsForTheFirst_LA35_abuse18() {
        var world = World(.touch)
        #expect(world.show(.either, id: 1).shown == [1])
        #expect(world.ask(.either, id: 2).isEmpty)
        let effects = world.send(.matched(1, .a))
        #expect(effects.prefix(3) == [.disarm(1), .dismiss(1), .reply(1, .success(.finger))])
        #expect(effects.shown == [2])
        #expect(effects.outcomes(2).isEmpty, "a match answers one evaluation")
    }

    @Test(arguments: [
        PolicyEvent.cancelChosen(1), .promptLost(1), .promptUnavailable(1), .deadlinePassed(1),
        .withdrawn(1, .appCancel), .matched(1, .a), .passcodeExists(true),
    ])
    func everyEndOfAnEvaluationActivatesTheNext_LA35(_ ending: PolicyEvent) {
        var world = busy(1...2)
        world.send(.promptVisible(1))
        #expect(world.send(ending).shown == (ending == .passcodeExists(true) ? [] : [2]))
    }

    @Test func evaluationsOfOneProgramAreServedInOrder_LA35() {
        var world = busy(1...5)
        var order: [UInt64] = []
        while let id = world.state.active.first?.request.id {
            order.append(id)
            world.send(.cancelChosen(id))
        }
        #expect(order == [1, 2, 3, 4, 5])
    }

    @Test func cancellingAnEvaluationKeepsTheOrderOfTheOthers_LA35() {
        var world = busy(1...4)
        #expect(world.send(.withdrawn(3, .systemCancel)) == [.reply(3, .failure(.systemCancel))])
        var order: [UInt64] = []
        while let id = world.state.active.first?.request.id {
            order.append(id)
            world.send(.cancelChosen(id))
        }
        #expect(order == [1, 2, 4])
    }

    @Test func waitingEvaluationThatCannotBeCompletedIsRefusedInItsTurn_LA35() {
        var world = World(.touch, biometryFailures: 4)
        world.show(.biometry, id: 1)
        world.ask(.biometry, id: 2)
        world.ask(.either, id: 3)
        world.ask(.biometry, id: 4)
        let effects = world.miss(1, id: 1)
        #expect(effects.outcomes(1) == [.denied(.biometryLockout)])
        #expect(effects.outcomes(2) == [.denied(.biometryLockout)])
        #expect(effects.shown == [3])
        #expect(effects.content?.method == .passcode)
        #expect(world.send(.cancelChosen(3)).outcomes(4) == [.denied(.biometryLockout)])
        #expect(world.state.active.isEmpty)
    }

    @Test func removingThePasscodeRefusesAllWaitingEvaluations_LA35() {
        var world = busy(1...3)
        let effects = world.send(.passcodeExists(false))
        for id: UInt64 in 1...3 { #expect(effects.outcomes(id) == [.denied(.passcodeNotSet)]) }
        #expect(effects.shown.isEmpty)
    }

    @Test func eventsForAWaitingEvaluationAreIgnored_LA35() {
        var world = busy(1...2)
        world.send(.promptVisible(1))
        let before = world.state
        for event: PolicyEvent in [
            .promptVisible(2), .matched(2, .a), .notMatched(2), .sensorFailed(2), .fallbackChosen(2),
            .passcodeEntered(2, at: 0), .passcodeChecked(2, isRight: true),
        ] {
            #expect(world.send(event).isEmpty, "\(event)")
        }
        #expect(world.state == before)
    }

    @Test(.promise("turns.prompts")) func programsTakeTurnsWhateverTheirNumberOfEvaluations_LA35() {
        var world = World(.touch)
        for id: UInt64 in 1...10 { world.ask(.either, id: id, program: 1) }
        for id: UInt64 in 11...13 { world.ask(.either, id: id, program: 2) }
        world.ask(.either, id: 14, program: 3)
        var order: [UInt64] = []
        while let id = world.state.active.first?.request.id {
            order.append(id)
            world.send(.cancelChosen(id))
            // A new evaluation of the program that was served last does not overtake waiting ones.
            if id == 1 { world.ask(.either, id: 15, program: 1) }
        }
        #expect(order == [1, 11, 14, 2, 12, 3, 13, 4, 5, 6, 7, 8, 9, 10, 15])
        #expect(world.state.served.isEmpty, "programs without evaluations are not remembered")
    }

    @Test func newProgramWaitsForOnePromptOfEachOtherProgram_LA35() {
        var world = World(.touch)
        for id: UInt64 in 1...5 { world.ask(.either, id: id, program: id % 2) }
        world.ask(.either, id: 6, program: 9)
        var order: [UInt64] = []
        while let id = world.state.active.first?.request.id {
            order.append(id)
            world.send(.cancelChosen(id))
        }
        #expect(order.firstIndex(of: 6) == 2)
    }

    @Test(.promise("turns.prompts")) func waitingEvaluationsOfAProgramAreLimited_LA35() {
        var world = World(.touch)
        let limit = UInt64(Limits.waitingPrompts)
        for id in 1...limit + 1 { #expect(world.ask(.either, id: id, program: 1).outcomes(id).isEmpty) }
        #expect(world.ask(.either, id: 99, program: 1) == [.reply(99, .failure(.limitExceeded))])
        #expect(world.ask(.either, id: 100, program: 2).isEmpty, "the limit of another program is separate")
        // Evaluation 100 is served next, then evaluation 2, so that program 1 may have one more waiting.
        world.send([.cancelChosen(1), .cancelChosen(100)])
        #expect(world.ask(.either, id: 101, program: 1).isEmpty)
    }

    /// Ten thousand waiting evaluations that cannot be completed are refused in a loop, not recursively.
    @Test func longQueueIsRefusedWithoutRecursion_LA35() {
        var world = World(.touch)
        for id: UInt64 in 1...10_000 { world.ask(.either, id: id, program: id) }
        #expect(world.send(.passcodeExists(false)).count { if case .reply = $0 { true } else { false } } == 10_000)
    }
}
