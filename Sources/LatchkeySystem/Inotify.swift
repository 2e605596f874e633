// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// Tells when a file is changed or closed, so that nobody has to ask again and again.
package final class FileWatch: Sendable {
    private let descriptor: Descriptor

    /// Watches the file at `path` from now on.
    package init(_ path: String) throws(SystemError) {
        let number = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard number >= 0 else { throw SystemError("inotify_init1") }
        descriptor = Descriptor(owning: number)
        guard inotify_add_watch(number, path, UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE_SELF)) >= 0 else {
            throw SystemError("inotify_add_watch")
        }
    }

    /// Waits for the next change; false when the deadline passes first.
    package func wait(until deadline: Int64) throws(SystemError) -> Bool {
        guard try descriptor.wait(for: POLLIN, until: deadline) else { return false }
        var drained = [UInt8](repeating: 0, count: 4096)
        while Glibc.read(descriptor.number, &drained, drained.count) > 0 {}
        return true
    }
}
