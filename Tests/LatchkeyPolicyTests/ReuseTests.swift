// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import Testing

/// Reuse of the match that unlocked the device as a proof for an app (behaviour LA-33).
@Suite struct ReuseTests {
    /// Returns a device that was unlocked 1000 s after its start, by default by biometry.
    private func unlocked(byBiometry: Bool = true) -> World {
        var world = World(.touch)
        world.send(.locked)
        world.send(.unlocked(byBiometry: byBiometry), at: .seconds(1000))
        return world
    }

    @Test(arguments: [AuthenticationPlan.biometry, .either])
    func unlockByBiometryIsAcceptedWithinTheWindow_LA33(_ plan: AuthenticationPlan) {
        var world = unlocked()
        #expect(world.ask(plan, reuseSeconds: 10, at: .seconds(1010)).outcomes() == [.granted(.finger)])
        #expect(world.ask(plan, reuseSeconds: 10, at: .seconds(1010) + 1).shown == [1])
    }

    @Test func theWindowIsNeverLongerThanFiveMinutes_LA33() {
        var world = unlocked()
        #expect(world.ask(.biometry, reuseSeconds: .max, at: .seconds(1300)).outcomes() == [.granted(.finger)])
        #expect(world.ask(.biometry, reuseSeconds: .max, at: .seconds(1300) + 1).shown == [1])
    }

    @Test func withoutAWindowNothingIsReused_LA33() {
        var world = unlocked()
        #expect(world.ask(.biometry, reuseSeconds: 0, at: .seconds(1000)).shown == [1])
    }

    @Test func unlockInTheFutureIsNotReused_LA33_abuse28() {
        var world = unlocked()
        #expect(world.ask(.biometry, reuseSeconds: 10, at: .seconds(999)).shown == [1])
    }

    @Test(arguments: [AuthenticationPlan.biometryThenPasscode, .passcode, .passcodeThenBiometry])
    func unlockIsReusedOnlyForPlansThatBiometryCompletes_LA33(_ plan: AuthenticationPlan) {
        var world = unlocked()
        #expect(world.ask(plan, reuseSeconds: 10, at: .seconds(1001)).shown == [1])
    }

    @Test func anUnlockByPasscodeOrAMatchInAnAppIsNotReused_LA33() {
        var byPasscode = unlocked(byBiometry: false)
        #expect(byPasscode.ask(.biometry, reuseSeconds: 10, at: .seconds(1001)).shown == [1])

        var inAnApp = World(.touch)
        inAnApp.show(.biometry, id: 1)
        inAnApp.send(.matched(1, .a))
        #expect(inAnApp.ask(.biometry, id: 2, reuseSeconds: 10).shown == [2])
    }

    @Test func aLockEndsTheWindow_LA33() {
        var world = unlocked()
        world.send(.locked)
        #expect(world.state.biometricUnlock == nil)
        world.send(.unlocked(byBiometry: false), at: .seconds(1001))
        #expect(world.ask(.biometry, reuseSeconds: 10, at: .seconds(1001)).shown == [1])
    }

    @Test(.promise("abuse.31")) func anEnrolmentChangeEndsTheWindow_LA33_abuse31() {
        var world = unlocked()
        world.send([.sensorChanged(.touchB), .sensorChanged(.touch)])
        #expect(world.ask(.biometry, reuseSeconds: 10, at: .seconds(1001)).shown == [1])
    }

    @Test func aChangeBetweenVirtualAndRealSensorEndsTheWindow_LA33_abuse24() {
        var world = unlocked()
        var virtual = SensorState.touch
        virtual.isVirtual = true
        world.send([.sensorChanged(virtual), .sensorChanged(.touch)])
        #expect(world.state.biometricUnlock == nil)
        #expect(world.ask(.biometry, reuseSeconds: 10, at: .seconds(1001)).shown == [1])
    }

    @Test func aReusedUnlockByAVirtualSensorIsAVirtualProof_LA33_abuse24() {
        for isVirtual in [true, false] {
            var sensor = SensorState.touch
            sensor.isVirtual = isVirtual
            var world = World(sensor)
            world.send(.unlocked(byBiometry: true), at: .seconds(1000))
            let effects = world.ask(.biometry, reuseSeconds: 10, at: .seconds(1001))
            #expect(effects.authorisation(1)?.isVirtual == isVirtual)
        }
    }

    @Test func unlockIsNotReusedAfterALockout_LA28_LA33() {
        var world = unlocked()
        for id: UInt64 in 1...2 {
            world.show(.biometry, id: id)
            world.miss(3, id: id)
        }
        let effects = world.ask(.either, id: 3, reuseSeconds: 10, at: .seconds(1001))
        #expect(effects.outcomes(3).isEmpty)
        #expect(effects.content?.method == .passcode)
    }

    @Test func unlockIsReusedWithoutInteraction_LA31_LA33() {
        var world = unlocked()
        #expect(
            world.ask(.biometry, interaction: false, reuseSeconds: 10, at: .seconds(1001)).outcomes()
                == [.granted(.finger)])
    }
}
