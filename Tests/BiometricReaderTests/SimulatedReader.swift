// SPDX-License-Identifier: Apache-2.0

import LatchkeySeams
import SensorTestSupport
import SimulatedDriver
import SystemDriver

extension ReaderDriver {
    /// All drivers of this package. A new driver is added here and must pass every test unchanged.
    static let all = [ReaderDriver("simulated") { simulated() }, ReaderDriver("sensor process") { sensorProcess() }]

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
