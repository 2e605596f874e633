// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TestSupport
import Testing

@testable import ChildProcessDrivers

/// A finger goes before a face: the camera is for users who have enrolled no finger.
@Suite struct FingerOrFaceTests {
    private static let fingers = SensorState(kind: .touchID, enrolment: EnrolmentSet([1]))
    private static let noFingers = SensorState(kind: .touchID)
    private static let camera = SensorState(
        kind: .faceID, enrolment: EnrolmentSet([2]), reportsEnrolmentChanges: false, isWeak: true)

    /// A reader with a fixed state, which records its calls.
    private final class Recorded: BiometricReader {
        let fixed: SensorState
        let calls = Recorder<String>()
        init(_ fixed: SensorState) { self.fixed = fixed }
        func state(for user: UInt32) -> SensorState { fixed }
        func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
            calls.add("arm \(evaluation)")
        }
        func disarm(_ evaluation: UInt64) { calls.add("disarm \(evaluation)") }
        func observe(_ changed: @escaping @Sendable () -> Void) { calls.add("observe") }
    }

    @Test(arguments: [
        (fingers, camera, true), (noFingers, camera, false), (.absent, camera, false), (noFingers, .absent, true),
        (.absent, .absent, true),
    ])
    func theSensorOfAUserIsTheFingerWhereOneIsEnrolled(
        _ finger: SensorState, _ face: SensorState, _ usesFinger: Bool
    ) {
        let reader = FingerOrFace(finger: Recorded(finger), face: Recorded(face))
        #expect(reader.state(for: 1000) == (usesFinger ? finger : face))
    }

    @Test(arguments: [(fingers, true), (noFingers, false)])
    func onlyTheSensorOfTheStateScansAndBothAreStopped(_ state: SensorState, _ usesFinger: Bool) {
        let (finger, face) = (Recorded(state), Recorded(Self.camera))
        let reader = FingerOrFace(finger: finger, face: face)
        reader.arm(7, user: 1000) { _ in }
        reader.disarm(7)
        #expect(finger.calls.all == (usesFinger ? ["arm 7", "disarm 7"] : ["disarm 7"]))
        #expect(face.calls.all == (usesFinger ? ["disarm 7"] : ["arm 7", "disarm 7"]))
    }
}
