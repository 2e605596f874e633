// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeySeams
import LatchkeySystem
import Synchronization

/// The machine's clocks. Each alarm is a thread that waits: there is at most one for each prompt.
package final class SystemClock: Clock {
    /// The kernel's boot id as text.
    package let bootID: [UInt8]

    /// Reads the boot id; without one every start counts as another boot.
    package init() { bootID = SystemClock.readBootID() }

    package var uptime: Int64 { Uptime.nanoseconds }
    package var wallTime: Int64 { wallTimeMicroseconds() }

    package func alarm(after seconds: Int64, _ body: @escaping @Sendable () -> Void) -> any Alarm {
        ThreadAlarm(deadline: Uptime.deadline(seconds: seconds), body)
    }

    private static func readBootID() -> [UInt8] {
        // Empty: what an unknown boot is worth is decided where two of them are compared.
        guard let file = try? Descriptor.open("/proc/sys/kernel/random/boot_id", O_RDONLY) else { return [] }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(file.number, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count].prefix(36)) : []
    }
}

/// Waits on a pipe that `cancel` closes, so that a cancelled alarm leaves no thread behind.
private final class ThreadAlarm: Alarm {
    private let stop: Mutex<Descriptor?>

    init(deadline: Int64, _ body: @escaping @Sendable () -> Void) {
        // No descriptor is left:
        guard let (near, far) = try? Sockets.pair() else {
            // Without a descriptor there can be no waiting: the alarm is due at once, which ends the prompt.
            stop = Mutex(nil)
            Processes.detachThread(body)
            return
        }
        stop = Mutex(near)
        Processes.detachThread {
            // A wait that fails ends as one that is over: the prompt ends.
            if let isCancelled = try? far.wait(for: POLLIN, until: deadline), isCancelled { return }
            body()
        }
    }

    func cancel() { stop.withLock { $0 = nil } }
    deinit { cancel() }
}
