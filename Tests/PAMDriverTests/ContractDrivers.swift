// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import SensorTestSupport
import SimulatedDriver
import Synchronization
import SystemDriver
import Testing

@testable import ChildProcessDrivers

extension ReaderDriver {
    /// The camera, and the choice between both kinds of sensors for a user with each.
    static let all = [
        ReaderDriver("face", isWeak: true) { try face { $0 } },
        ReaderDriver("finger or face, with a face", isWeak: true) {
            try face { FingerOrFace(finger: AbsentReader(), face: $0) }
        },
        ReaderDriver("finger or face, with a finger") { finger() },
    ]

    private static let user: UInt32 = 1000

    /// `FingerOrFace` with a simulated fingerprint reader, and a camera that would recognise the user.
    private static func finger() -> Made {
        let (world, camera) = (simulated(.touchID), simulated(.faceID))
        let reader = FingerOrFace(finger: world, face: camera)
        return Made(
            state: { reader.state(for: user) }, arm: { reader.arm($0, user: user, events: $1) },
            disarm: { reader.disarm($0) }, observe: { reader.observe($0) },
            touch: {
                world.perform(.touch(matching: $0))
                // A touch of a sensor that is not armed has no effect later.
                _ = try? world.apply(.reset)
            }, fail: { world.perform(.sensorFailure) }, replaceFinger: { _ = try world.apply(.replaceFinger) })
    }

    private static func simulated(_ sensor: BiometryKind) -> SimulatedWorld {
        SimulatedWorld(
            WorldState(sensor: sensor, enrolment: [1, 2, 3]), clock: VirtualClock(), random: SystemRandomSource(),
            user: user
        ) { _ in }
    }

    /// A camera whose process recognises a face, or another one, when the test says so. A camera that is not armed sees
    /// nothing: it has no process.
    private static func face(_ choose: (PAMFace) -> any BiometricReader) throws -> Made {
        let scripts = try PAMScripts()
        let (begun, seen) = (try scripts.pipe("begun"), try scripts.pipe("seen"))
        let begin = scripts.read(.begin(try #require(AccountName("ada")), .face))
        var places = PAMFace.Places(
            program: try scripts.program(
                """
                \(begin)echo >\(begun)
                read -r face <\(seen)
                case $face in
                own) \(scripts.send(.ended(.account, code: 0)));;
                other) \(scripts.send(.ended(.authentication, code: 7)));;
                esac

                """))
        places.service = try scripts.service()
        places.owner = getuid()
        let reader = choose(PAMFace(places, log: UnwatchedLog()) { $0 == user ? AccountName("ada") : nil })
        let arrived = DispatchSemaphore(value: 0)
        let armed = Mutex<UInt64?>(nil)
        /// Tells the process of an armed camera what it sees, and waits for the event.
        let show: @Sendable (String) -> Void = { face in
            guard armed.withLock({ $0 }) != nil else { return }
            #expect(throws: Never.self) {
                try Descriptor.open(seen, O_WRONLY).write(all: Array((face + "\n").utf8))
            }
            #expect(arrived.wait(timeout: .now() + 10) == .success)
        }
        return Made(
            state: { withExtendedLifetime(scripts) { reader.state(for: user) } },
            arm: { evaluation, events in
                armed.withLock { $0 = evaluation }
                reader.arm(evaluation, user: user) { event in
                    events(event)
                    arrived.signal()
                }
                #expect(throws: Never.self) { try scripts.waitForLine("begun") }
            },
            disarm: { evaluation in
                armed.withLock { if $0 == evaluation { $0 = nil } }
                reader.disarm(evaluation)
            },
            observe: { reader.observe($0) }, touch: { show($0 ? "own" : "other") }, fail: { show("nothing") },
            replaceFinger: { throw Failure(.invalidParameter, "PAM does not report changes of faces.") })
    }
}
