// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// Wakes a thread that waits for input of several descriptors (eventfd(2)).
package struct WakeUp: Sendable {
    /// Readable after `signal`, until `clear`.
    package let descriptor: Descriptor

    package init() throws(SystemError) {
        let number = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { throw SystemError("eventfd") }
        descriptor = Descriptor(owning: number)
    }

    /// Makes the descriptor readable; never blocks.
    package func signal() {
        var one: UInt64 = 1
        // It only fails when the counter is full, and the descriptor is readable then.
        _ = Glibc.write(descriptor.number, &one, 8)
    }

    package func clear() {
        var count: UInt64 = 0
        _ = Glibc.read(descriptor.number, &count, 8)
    }
}
