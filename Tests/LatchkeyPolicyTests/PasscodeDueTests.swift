// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// When the passcode is required before biometry: after a restart and after long times without it (Apple Platform
/// Security guide).
@Suite struct PasscodeDueTests {
    private func world(lastPasscode: Int64?, lastBiometry: Int64? = nil) -> World {
        var world = World(.touch)
        world.state.lastPasscode = lastPasscode
        world.state.lastBiometry = lastBiometry
        return world
    }

    /// Returns the status with which the biometric policy is refused at that time; nil if it is not refused.
    private func refusal(_ world: World, at now: Int64) -> Status? {
        var world = world
        return world.ask(.biometry, at: now).outcomes().compactMap {
            if case .denied(let status) = $0 { status } else { nil }
        }.first
    }

    @Test func passcodeIsRequiredAfterARestart_LA28() {
        var world = world(lastPasscode: nil)
        #expect(refusal(world, at: .seconds(1)) == .biometryLockout)
        let effects = world.ask(.either, at: .seconds(1))
        #expect(effects.content?.method == .passcode)
        #expect(effects.content?.notice == .passcodeDueAfterRestart)
        world.send(.promptVisible(1), at: .seconds(1))
        let answer = world.type(right: true, at: .seconds(1))
        #expect(answer.outcomes() == [.granted(.code)])
        #expect(answer.persisted.map(\.lastPasscode) == [nil, .seconds(1)])
        #expect(refusal(world, at: .seconds(2)) == nil)
    }

    @Test func passcodeIsRequiredAfter48HoursWithoutEither() {
        #expect(refusal(world(lastPasscode: 0), at: .hours(48)) == nil)
        #expect(refusal(world(lastPasscode: 0), at: .hours(48) + 1) == .biometryLockout)
        #expect(refusal(world(lastPasscode: 0, lastBiometry: .hours(40)), at: .hours(88)) == nil)
        #expect(refusal(world(lastPasscode: 0, lastBiometry: .hours(40)), at: .hours(88) + 1) == .biometryLockout)
        #expect(refusal(world(lastPasscode: .hours(40), lastBiometry: 0), at: .hours(88)) == nil)
    }

    @Test func passcodeIsRequiredAfter156HoursUnlessBiometryWasUsedWithinFour() {
        let unused = world(lastPasscode: 0, lastBiometry: .hours(152))
        #expect(refusal(unused, at: .hours(156)) == nil)
        #expect(refusal(unused, at: .hours(156) + 1) == .biometryLockout)
        let used = world(lastPasscode: 0, lastBiometry: .hours(153))
        #expect(refusal(used, at: .hours(157)) == nil)
        #expect(refusal(used, at: .hours(157) + 1) == .biometryLockout)
    }

    @Test func timeOfAMatchIsStoredAtMostEveryTenMinutes() {
        var world = World(.touch)
        for (time, isKept) in [(Int64.seconds(600), false), (.seconds(601), true), (.seconds(1201), false)] {
            world.ask(.biometry, at: time)
            world.send(.promptVisible(1), at: time)
            let effects = world.send(.matched(1, .a), at: time)
            #expect(effects.persisted.map(\.lastBiometry) == (isKept ? [time] : []))
            #expect(effects.outcomes() == [.granted(.finger)])
        }
    }

    @Test func settingAPasscodeCountsAsEnteringIt() {
        var world = world(lastPasscode: nil)
        let effects = world.send(.passcodeExists(true), at: .hours(1))
        #expect(effects.persisted.map(\.lastPasscode) == [.hours(1)])
        #expect(refusal(world, at: .hours(2)) == nil)
        #expect(world.send(.passcodeExists(true), at: .hours(1)).isEmpty, "unchanged counters are not stored")
    }
}
