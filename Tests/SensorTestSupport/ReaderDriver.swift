// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Testing

/// A driver that `BiometricReaderContract` is checked for, with the person at its sensor.
package struct ReaderDriver: Sendable, CustomTestStringConvertible {
    /// A reader with one enrolled finger. Only this type calls the reader, so that a test reads the same for each.
    package struct Made: Sendable {
        /// The state of the sensor.
        package let state: @Sendable () -> SensorState
        package let arm: @Sendable (_ evaluation: UInt64, _ events: @escaping @Sendable (SensorEvent) -> Void) -> Void
        package let disarm: @Sendable (_ evaluation: UInt64) -> Void
        package let observe: @Sendable (_ changed: @escaping @Sendable () -> Void) -> Void
        /// Touches the sensor with the enrolled finger or another one, now.
        package let touch: @Sendable (_ matching: Bool) -> Void
        /// Makes the sensor fail.
        package let fail: @Sendable () -> Void
        /// Replaces the enrolled finger.
        package let replaceFinger: @Sendable () throws -> Void

        package init(
            state: @escaping @Sendable () -> SensorState,
            arm: @escaping @Sendable (UInt64, @escaping @Sendable (SensorEvent) -> Void) -> Void,
            disarm: @escaping @Sendable (UInt64) -> Void,
            observe: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
            touch: @escaping @Sendable (Bool) -> Void, fail: @escaping @Sendable () -> Void,
            replaceFinger: @escaping @Sendable () throws -> Void
        ) {
            (self.state, self.arm, self.disarm, self.observe) = (state, arm, disarm, observe)
            (self.touch, self.fail, self.replaceFinger) = (touch, fail, replaceFinger)
        }
    }

    let name: String
    /// Whether the sensor is weak: each `arm` is one scan, and the enrolment set never changes.
    package let isWeak: Bool
    package let make: @Sendable () throws -> Made

    package init(_ name: String, isWeak: Bool = false, _ make: @escaping @Sendable () throws -> Made) {
        (self.name, self.isWeak, self.make) = (name, isWeak, make)
    }

    package var testDescription: String { name }
}
