// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// What stat(2) says of a file: the values that Latchkey uses.
package struct FileRecord: Sendable {
    package let file: ExecutableFile
    package let owner: UInt32
    /// The type and the permission bits, as `st_mode`.
    package let mode: UInt32
    /// In bytes.
    package let size: Int
    /// The number of the device that the file is; 0 for other files.
    package let device: UInt64
    /// Seconds and nanoseconds of the last change of owner or mode, and of the content.
    package let changed: [Int]

    init(_ status: stat) {
        file = ExecutableFile(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        owner = status.st_uid
        mode = status.st_mode
        size = Int(status.st_size)
        device = UInt64(status.st_rdev)
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec, status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    /// The record of the file at a path, without following a link.
    package init(at path: String) throws(SystemError) { try self.init(at: FilePath(path)) }

    /// The same for a path that need not be text.
    package init(at path: FilePath) throws(SystemError) {
        var status = stat()
        guard path.call({ lstat($0, &status) }) == 0 else { throw SystemError("lstat") }
        self.init(status)
    }

    /// Whether it is a file of this type, such as `S_IFREG`.
    package func isType(_ type: UInt32) -> Bool { mode & Glibc.S_IFMT == type }
}
