// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization
import Testing

/// A driver that the contract tests of `BiometricReader` run against, with the person at its sensor.
struct Driver: Sendable, CustomTestStringConvertible {
    /// A reader with one enrolled finger. Only this type calls the reader, so that a test reads the same for each.
    struct Made: Sendable {
        /// The state of the sensor.
        let state: @Sendable () -> SensorState
        let arm: @Sendable (_ evaluation: UInt64, _ events: @escaping @Sendable (SensorEvent) -> Void) -> Void
        let disarm: @Sendable (_ evaluation: UInt64) -> Void
        let observe: @Sendable (_ changed: @escaping @Sendable () -> Void) -> Void
        /// Touches the sensor with the enrolled finger or another one, now.
        let touch: @Sendable (_ matching: Bool) -> Void
        /// Makes the sensor fail.
        let fail: @Sendable () -> Void
        /// Replaces the enrolled finger.
        let replaceFinger: @Sendable () throws -> Void
    }

    let name: String
    /// Whether the sensor is weak: each `arm` is one scan, and the enrolment set never changes.
    var isWeak = false
    let make: @Sendable () throws -> Made

    var testDescription: String { name }

    static var strong: [Driver] { all.filter { !$0.isWeak } }
}

/// Collects the events of a scan.
final class Events: Sendable {
    private let list = Mutex<[SensorEvent]>([])
    var all: [SensorEvent] { list.withLock { $0 } }
    @Sendable func add(_ event: SensorEvent) { list.withLock { $0.append(event) } }
}
