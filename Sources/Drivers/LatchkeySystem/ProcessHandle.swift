// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// Names a process, not a number that another process may have later: a pidfd (pidfd_open(2)).
package struct ProcessHandle: Sendable {
    private let descriptor: Descriptor

    /// Opens the handle; throws ESRCH if there is no such process.
    init(_ process: Int32) throws(SystemError) { descriptor = try SystemCalls.kernel.handle(of: process) }

    func signal(_ number: Int32) throws(SystemError) {
        guard latchkey_pidfd_signal(descriptor.number, number) == 0 else { throw SystemError("pidfd_send_signal") }
    }

    /// Ends a process of this user by SIGTERM and waits until it has ended. Does nothing if it is another one meanwhile.
    ///
    /// - Parameter isStillThere: whether the process that was meant still answers with this number. It is asked when the
    ///   handle is open, which cannot name a later process then.
    /// - Throws: ETIMEDOUT if it has not ended after `seconds`.
    package static func end(
        _ process: Int32, within seconds: Int64, ifStill isStillThere: () -> Bool
    ) throws(SystemError) {
        let handle: ProcessHandle
        do throws(SystemError) { handle = try ProcessHandle(process) } catch {
            guard error.code == ESRCH else { throw error }
            return
        }
        guard isStillThere() else { return }
        try handle.signal(SIGTERM)
        guard try handle.hasEnded(by: Uptime.deadline(seconds: seconds)) else {
            throw SystemError("poll", code: ETIMEDOUT)
        }
    }

    /// Waits until the process has ended; false if the deadline, in nanoseconds of `Uptime`, passes first.
    func hasEnded(by deadline: Int64) throws(SystemError) -> Bool {
        try descriptor.wait(for: POLLIN, until: deadline)
    }
}
