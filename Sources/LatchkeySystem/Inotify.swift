// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// Tells when a file is changed or closed, so that nobody has to ask again and again.
package final class FileWatch: Sendable {
    /// Milliseconds between looks when there is no descriptor.
    private static let lookInterval: CInt = 20

    /// Negative when the user's processes have used up the kernel's share of watches (`max_user_instances`, usually
    /// 128): a daemon that cannot be waited for with one must still be found.
    private let number: CInt

    /// Watches the file at `path` from now on.
    package init(_ path: String) throws(SystemError) {
        number = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard number >= 0 else {
            guard errno == EMFILE || errno == ENOMEM else { throw SystemError("inotify_init1") }
            return
        }
        guard inotify_add_watch(number, path, UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE_SELF)) >= 0 else {
            throw SystemError("inotify_add_watch")
        }
    }

    deinit {
        guard number >= 0 else { return }
        // Closing makes the kernel wait until nobody looks at the marks any more (synchronize_srcu): 10 to 20 ms, longer
        // than a daemon takes to start. A thread of its own waits in place of whoever needed the file.
        let number = number
        Processes.detachThread { close(number) }
    }

    /// Waits until there may have been a change; false when the deadline passes first.
    package func wait(until deadline: Int64) throws(SystemError) -> Bool {
        guard number >= 0 else {
            poll(nil, 0, Self.lookInterval)
            return Uptime.nanoseconds < deadline
        }
        guard try Descriptor.wait(number, for: POLLIN, until: deadline) else { return false }
        var drained = [UInt8](repeating: 0, count: 4096)
        while Glibc.read(number, &drained, drained.count) > 0 {}
        return true
    }
}
