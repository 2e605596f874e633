// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import Foundation
import LatchkeyModel
import LatchkeySeams
import SensorTestSupport
import SimulatedDriver
import Synchronization
import SystemDriver
import Testing

extension ReaderDriver {
    /// `ProcessSensors` with the real `SensorHost` at the other end, and a simulated sensor behind it.
    static func sensorProcess() -> Made {
        let world = SimulatedWorld(
            WorldState(sensor: .touchID, enrolment: [1, 2, 3]), clock: VirtualClock(), random: SystemRandomSource(),
            user: 1000
        ) { _ in }
        let watched = WatchedReader(world)
        let sensors = ProcessSensors(
            HostedSensors(user: 1000, watched, world), user: 1000, clock: SystemClock(), log: UnwatchedLog())
        // The first state is no change for those who observe from now on.
        _ = sensors.state(for: 1000)
        let (arrived, changed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let armed = Mutex<UInt64?>(nil)
        let isArmed: @Sendable () -> Bool = { armed.withLock { $0 } != nil }
        /// Waits for what a scan reports, if one was begun.
        let arrival: @Sendable () -> Void = {
            if isArmed() { #expect(arrived.wait(timeout: .now() + 10) == .success) }
        }
        return Made(
            state: { sensors.state(for: 1000) },
            arm: { evaluation, events in
                armed.withLock { $0 = evaluation }
                sensors.arm(evaluation, user: 1000) { event in
                    events(event)
                    arrived.signal()
                }
                #expect(watched.armed.wait(timeout: .now() + 10) == .success)
            },
            disarm: { evaluation in
                armed.withLock { if $0 == evaluation { $0 = nil } }
                sensors.disarm(evaluation)
            },
            observe: { body in
                sensors.observe {
                    body()
                    changed.signal()
                }
            },
            touch: {
                world.perform(.touch(matching: $0))
                // A touch of a sensor that is not armed has no effect later.
                _ = try? world.apply(.reset)
                arrival()
            },
            fail: {
                world.perform(.sensorFailure)
                arrival()
            },
            replaceFinger: {
                _ = try world.apply(.replaceFinger)
                try #require(changed.wait(timeout: .now() + 10) == .success)
            })
    }
}

/// Passes everything on, and reports when a scan was begun, which happens on a thread of the process.
private final class WatchedReader: BiometricReader {
    let armed = DispatchSemaphore(value: 0)
    private let reader: any BiometricReader

    init(_ reader: any BiometricReader) { self.reader = reader }

    func state(for user: UInt32) -> SensorState { reader.state(for: user) }

    func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
        reader.arm(evaluation, user: user, events: events)
        armed.signal()
    }

    func disarm(_ evaluation: UInt64) { reader.disarm(evaluation) }
    func observe(_ changed: @escaping @Sendable () -> Void) { reader.observe(changed) }
}
