// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// The reader of a daemon of tier `user` that has no process for the sensors (`ProcessSensors`).
package final class AbsentReader: BiometricReader {
    package init() {}
    package func state(for user: UInt32) -> SensorState { .absent }
    package func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
        events(.failed)
    }
    package func disarm(_ evaluation: UInt64) {}
    package func observe(_ changed: @escaping @Sendable () -> Void) {}
}
