// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// A camera behind a PAM module: it answers policies, and each scan is started by the user.
@Suite struct WeakSensorTests {
    @Test func onlyAPolicyIsAnswered() {
        var world = World(.weakFace)
        #expect(world.ask(.biometry).outcomes() == [.denied(.biometryNotAvailable)])
        #expect(world.ask(.either, id: 2).content?.method == .passcode)
        #expect(World(.weakFace).state.refusal(of: .biometry, for: "a") == .biometryNotAvailable)
        #expect(World(.weakFace).state.refusal(of: .biometry, for: "a", acceptsWeak: true) == nil)
    }

    @Test func theCameraWaitsForTheUser() {
        var world = World(.weakFace)
        let shown = world.show(.biometry, acceptsWeak: true)
        #expect(shown.content?.question == .scan && !shown.contains(.arm(1)))
        #expect(world.send(.matched(1, .a)).isEmpty, "a match of a scan that was not started")
        #expect(world.send(.permissionAnswered(1, true)).last == .arm(1))
        #expect(world.send(.matched(1, .a)).outcomes() == [.granted(.finger)])
    }

    @Test func theUserStartsEachScan() {
        var world = World(.weakFace)
        world.show(.biometry, acceptsWeak: true)
        world.send(.permissionAnswered(1, true))
        let missed = world.miss()
        #expect(missed.contains(.disarm(1)) && missed.content?.question == .scan)
        #expect(world.send(.matched(1, .a)).isEmpty)
        #expect(world.send(.permissionAnswered(1, true)).last == .arm(1))
    }

    @Test func declinedScansLeadToThePasscodeOrEndTheEvaluation() {
        var world = World(.weakFace)
        world.show(.either, acceptsWeak: true)
        let declined = world.send(.permissionAnswered(1, false))
        #expect(declined.content?.method == .passcode && world.state.facePermissions == ["a": true])
        var other = World(.weakFace)
        other.show(.biometry, acceptsWeak: true)
        #expect(other.send(.permissionAnswered(1, false)).outcomes() == [.denied(.userCancel)])
    }

    /// Who has just allowed the app the camera is looking at the prompt already.
    @Test func thePermissionIsAskedFirstAndStartsTheScan_LA07() {
        var world = World(.weakFace, permission: nil)
        #expect(world.show(.biometry, acceptsWeak: true).content?.question == .permission)
        #expect(world.send(.permissionAnswered(1, true)).last == .arm(1))
        #expect(world.show(.biometry, id: 2, acceptsWeak: true).content == nil, "the first prompt is still shown")
        world.send(.matched(1, .a))
        #expect(world.state.active.first?.question == .scan)
    }

    @Test func aMatchDoesNotPostponeTheNextPasscode() {
        for sensor in [SensorState.weakFace, .touch] {
            var world = World(sensor)
            world.ask(.biometry, acceptsWeak: true, at: .hours(1))
            world.send(.promptVisible(1), at: .hours(1))
            world.send(.permissionAnswered(1, true), at: .hours(1))
            #expect(world.send(.matched(1, .a), at: .hours(1)).outcomes() == [.granted(.finger)])
            #expect((world.state.lastBiometry == nil) == sensor.isWeak)
        }
    }

    @Test func aSensorThatBecomesWeakIsNotUsedForTheRest() {
        var world = World(.face)
        world.show(.biometry)
        #expect(world.send(.sensorChanged(.weakFace)).outcomes() == [.denied(.biometryNotAvailable)])
    }

    /// A weak match beside a strong one of the same set must not replace it in a context.
    @Test func aWeakProofDoesNotReplaceAStrongOne() {
        func proof(_ sensor: SensorState) -> Authorisation {
            var world = World(sensor)
            world.show(.biometry, acceptsWeak: true)
            for case .reply(_, .success(let proof)) in world.send([.permissionAnswered(1, true), .matched(1, .a)]) {
                return proof
            }
            return .none
        }
        let (weak, strong) = (proof(.weakFace), proof(.touch))
        #expect(weak.isWeak && !strong.isWeak)
        #expect(!weak.satisfies(.biometry) && weak.satisfies(.biometry, acceptsWeak: true))
        #expect(strong.union(weak).satisfies(.biometry) && weak.union(strong).satisfies(.biometry))
    }
}
