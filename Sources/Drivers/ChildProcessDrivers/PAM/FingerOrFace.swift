// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams

/// A fingerprint reader, and a camera for the users who have enrolled no finger.
///
/// A finger is the stronger proof, so a camera is used only where none is enrolled.
package final class FingerOrFace: BiometricReader {
    private let finger: any BiometricReader
    private let face: any BiometricReader

    package init(finger: any BiometricReader, face: any BiometricReader) { (self.finger, self.face) = (finger, face) }

    package func state(for user: UInt32) -> SensorState {
        let state = finger.state(for: user)
        guard state.enrolment == nil else { return state }
        let other = face.state(for: user)
        return other.kind == .none ? state : other
    }

    package func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
        let reader = finger.state(for: user).enrolment == nil ? face : finger
        reader.arm(evaluation, user: user, events: events)
    }

    package func disarm(_ evaluation: UInt64) {
        // The set of fingers may have changed since `arm`; a reader that does not scan ignores the call.
        finger.disarm(evaluation)
        face.disarm(evaluation)
    }

    package func observe(_ changed: @escaping @Sendable () -> Void) {
        finger.observe(changed)
        face.observe(changed)
    }
}
