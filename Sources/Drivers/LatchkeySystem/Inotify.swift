// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// Waits for a file to be changed, closed or deleted, without polling (inotify(7)).
package final class FileWatch: Sendable {
    /// Interval of polling without an inotify instance, in milliseconds.
    private static let lookInterval: CInt = 20

    /// The inotify descriptor. Negative when the user's processes have used all inotify instances
    /// (`max_user_instances`, usually 128); `wait` then polls, so that a daemon can still be found.
    private let number: CInt

    /// Starts watching the file at `path`.
    package init(_ path: String) throws(SystemError) {
        number = Descriptor.aboveStandard(inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK)))
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
        // close(2) blocks for 10 to 20 ms while the kernel waits for readers of the marks (synchronize_srcu), which
        // is longer than a daemon takes to start. A separate thread closes it, so that the caller does not wait.
        let number = number
        Processes.detachThread { close(number) }
    }

    /// Waits until the file may have changed; false when the deadline (`Uptime` nanoseconds) passed first.
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

/// Reports that files in some folders were written, renamed or removed (inotify(7)).
package final class FolderWatch: Sendable {
    /// Can be read after a change.
    package let file: Descriptor

    /// Makes a watch of no folder.
    package init() throws(SystemError) {
        let number = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard number >= 0 else { throw SystemError("inotify_init1") }
        file = Descriptor(owning: number)
    }

    /// Watches a folder, or goes on to watch it. A folder that cannot be opened, or does not exist, is not watched.
    package func add(_ path: String) {
        let changes = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF
        inotify_add_watch(file.number, path, UInt32(changes) | UInt32(IN_ONLYDIR) | UInt32(IN_DONT_FOLLOW))
    }

    /// Discards the reported changes.
    package func drain() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while read(file.number, &bytes, bytes.count) > 0 {}
    }
}
