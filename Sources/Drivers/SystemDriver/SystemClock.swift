// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeySeams
import LatchkeySystem
import Synchronization

/// The machine's clocks. Each alarm waits on a thread of its own; the daemon sets only a few at a time.
package final class SystemClock: Clock {
    /// The kernel's boot identifier as text, 36 bytes; empty when it cannot be read.
    package let bootID: [UInt8]

    /// Reads the boot identifier; an empty one counts as a different boot each time.
    package init() { bootID = SystemClock.readBootID() }

    package var uptime: Int64 { Uptime.nanoseconds }
    package var wallTime: Int64 { wallTimeMicroseconds() }

    package func alarm(after seconds: Int64, _ body: @escaping @Sendable () -> Void) -> any Alarm {
        ThreadAlarm(deadline: Uptime.deadline(seconds: seconds), body)
    }

    private static func readBootID() -> [UInt8] {
        // On failure the identifier is empty, which comparisons treat as a different boot.
        guard let file = try? Descriptor.open("/proc/sys/kernel/random/boot_id", O_RDONLY) else { return [] }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(file.number, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count].prefix(36)) : []
    }
}

/// Waits on a socket whose peer `cancel` closes, so that cancelling also ends the thread.
private final class ThreadAlarm: Alarm {
    private let stop: Mutex<Descriptor?>

    init(deadline: Int64, _ body: @escaping @Sendable () -> Void) {
        // Fails when no descriptor is free.
        guard let (near, far) = try? Sockets.pair() else {
            // Without a descriptor the thread cannot wait for cancellation, so the alarm fires at once: a prompt ends
            // early, instead of never.
            stop = Mutex(nil)
            Processes.detachThread(body)
            return
        }
        stop = Mutex(near)
        Processes.detachThread {
            // A failed wait counts as expired, so that a prompt with this deadline ends.
            if let isCancelled = try? far.wait(for: POLLIN, until: deadline), isCancelled { return }
            body()
        }
    }

    func cancel() { stop.withLock { $0 = nil } }
    deinit { cancel() }
}
