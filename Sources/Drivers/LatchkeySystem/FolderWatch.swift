// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

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
