// SPDX-License-Identifier: Apache-2.0

import LatchkeySeams
import Synchronization

/// A clock that does not advance unless it is set, with a given boot identifier.
final class BootClock: Clock {
    private final class NoAlarm: Alarm { func cancel() {} }

    let bootID: [UInt8]
    private let time = Mutex<(uptime: Int64, wall: Int64, readings: Int)>((0, 1_767_225_600_000_000, 0))

    init(boot: String, uptimeSeconds: Int64 = 0) {
        bootID = Array(boot.utf8)
        time.withLock { $0.uptime = uptimeSeconds * 1_000_000_000 }
    }

    var uptime: Int64 { time.withLock { $0.uptime } }
    var wallTime: Int64 {
        time.withLock { time in
            time.readings += 1
            return time.wall
        }
    }

    /// How often `wallTime` was read.
    var wallReadings: Int { time.withLock { $0.readings } }

    /// Advances the boot-time clock.
    func advance(seconds: Int64) { time.withLock { $0.uptime += seconds * 1_000_000_000 } }

    /// Sets the wall clock, forwards or backwards.
    func setWallTime(_ microseconds: Int64) { time.withLock { $0.wall = microseconds } }

    func alarm(after seconds: Int64, _ body: @escaping @Sendable () -> Void) -> any Alarm { NoAlarm() }
}
