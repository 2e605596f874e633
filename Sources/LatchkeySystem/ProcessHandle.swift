// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// Names a process, not a number that another process may have later: a pidfd (pidfd_open(2)).
package struct ProcessHandle: Sendable {
    private let descriptor: Descriptor

    /// Opens the handle; throws ESRCH if there is no such process.
    package init(_ process: Int32) throws(SystemError) { descriptor = try SystemCalls.kernel.handle(of: process) }

    /// Sends a signal.
    package func signal(_ number: Int32) throws(SystemError) {
        guard latchkey_pidfd_signal(descriptor.number, number) == 0 else { throw SystemError("pidfd_send_signal") }
    }

    /// Waits until the process has ended; false if the deadline, in nanoseconds of `Uptime`, passes first.
    package func hasEnded(by deadline: Int64) throws(SystemError) -> Bool {
        try descriptor.wait(for: POLLIN, until: deadline)
    }
}
