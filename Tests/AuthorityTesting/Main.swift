// SPDX-License-Identifier: Apache-2.0

import AuthorityDaemon
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SystemDriver

/// `latchkey-authd` with a scripted sensor, for tests of both services. It is never installed.
@main
enum Main {
    static func main() {
        AuthorityProcess.main(isVirtual: true) { options, _, clock, _ in
            let virtual = VirtualClock(over: clock, offset: 0, boot: 0)
            let world = SimulatedWorld(
                WorldState(sensor: .touchID, enrolment: [1]), clock: virtual, random: SystemRandomSource(), user: 0
            ) { _ in }
            let sensor = ScriptedSensor(world)
            return Result { () throws(Failure) in
                try SensorSocket.serve(options.sensorSocket, world)
                return AuthorityProcess.Drivers(reader: sensor, sessions: UnwatchedSessions())
            }
        }
    }
}

/// A machine that reports no login sessions: the scripted sensor is used in all of them.
private final class UnwatchedSessions: SessionMonitor {
    func sessions(of user: UInt32) -> SessionState { SessionState(isLocked: false, biometry: .every) }
    func observeSession(_ report: @escaping @Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void) {}
}

/// The simulated sensor for every user: all have the same finger.
private final class ScriptedSensor: BiometricReader {
    private let world: SimulatedWorld

    init(_ world: SimulatedWorld) { self.world = world }

    func state(for user: UInt32) -> SensorState { world.state(for: 0) }

    func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
        world.arm(evaluation, user: 0, events: events)
    }

    func disarm(_ evaluation: UInt64) { world.disarm(evaluation) }
    func observe(_ changed: @escaping @Sendable () -> Void) { world.observe(changed) }
}
