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
                    .reply(2, .denied(.systemCancel)), .reply(3, .denied(.systemCancel)), .disarm(1), .dismiss(1),
                    .reply(1, .denied(.systemCancel)),
                ])
    }

    @Test func noPromptIsShownWhileTheDeviceIsLocked_LA31() {
        var world = World(.touch)
        world.send(.locked)
        #expect(world.ask(.either) == [.reply(1, .denied(.notInteractive))])
        world.send(.unlocked(byBiometry: false))
        #expect(world.show(.either).shown == [1])
    }

    @Test func movingToTheBackgroundEndsThePromptAndRefusesNewOnes_LA31_LA32() {
        var world = World(.touch)
        world.show(.biometry)
        #expect(world.send(.background(true)) == [.disarm(1), .dismiss(1), .reply(1, .denied(.systemCancel))])
        #expect(world.ask(.biometry) == [.reply(1, .denied(.notInteractive))])
        #expect(world.send(.background(false)).isEmpty)
        #expect(world.show(.biometry).shown == [1])
    }

    @Test func planWithoutStagesIsGrantedWhileLocked_LA31() {
        var world = World(.touch)
        world.send([.locked, .background(true)])
        #expect(world.ask(.nothing) == [.reply(1, .granted(.none))])
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

    @Test func onlyUnlockPromptsAreShownWhileTheDeviceIsLocked_LA32() {
        var world = World(.touch)
        world.send(.locked)
        #expect(world.ask(.either).outcomes() == [.denied(.notInteractive)])
        let request = EvaluationRequest(
            id: 2, plan: .either, allowsFallback: true, interactionAllowed: true, purpose: .unlock)
        #expect(world.send(.evaluate(request)).shown == [2])
        world.send(.promptVisible(2))
        #expect(world.send(.matched(2, .a)).outcomes(2) == [.granted(.finger)])
        for (id, purpose) in PromptPurpose.allCases.enumerated() where purpose != .unlock {
            let request = EvaluationRequest(
                id: UInt64(3 + id), plan: .either, allowsFallback: true, interactionAllowed: true, purpose: purpose)
            #expect(world.send(.evaluate(request)).outcomes(request.id) == [.denied(.notInteractive)], "\(purpose)")
        }
    }
}
