// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import SystemDriver
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
    let make: @Sendable () -> Made

    var testDescription: String { name }

    /// All drivers. A new driver is added here and must pass every test unchanged.
    static let all = [Driver(name: "simulated") { simulated() }]

    private static func simulated() -> Made {
        let world = SimulatedWorld(
            WorldState(sensor: .touchID, enrolment: [1, 2, 3]), clock: VirtualClock(), random: SystemRandomSource(),
            user: 1000
        ) { _ in }
        return Made(
            state: { world.state(for: 1000) }, arm: { world.arm($0, user: 1000, events: $1) },
            disarm: { world.disarm($0) },
            observe: { world.observe($0) },
            touch: {
                world.perform(.touch(matching: $0))
                // A touch of a sensor that is not armed has no effect later.
                _ = try? world.apply(.reset)
            }, fail: { world.perform(.sensorFailure) }, replaceFinger: { _ = try world.apply(.replaceFinger) })
    }
}

/// Collects the events of a scan.
final class Events: Sendable {
    private let list = Mutex<[SensorEvent]>([])
    var all: [SensorEvent] { list.withLock { $0 } }
    @Sendable func add(_ event: SensorEvent) { list.withLock { $0.append(event) } }
}
