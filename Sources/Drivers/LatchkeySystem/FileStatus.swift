// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// Owner, permissions and place of a file, as the kernel holds them.
///
/// The status is read without a request to the server of a file system, so that a file system of another user (FUSE)
/// cannot block the reader.
package struct FileStatus: Equatable, Sendable {
    /// The type of a file.
    package enum Kind: Sendable { case folder, regularFile, other }

    package var kind: Kind
    package var owner: UInt32
    /// The permission bits with set-user-ID, set-group-ID and sticky bit, at most 0o7777. The group's bits include
    /// every permission that a POSIX access control list gives, since they are its mask.
    package var mode: UInt32
    /// The number of names; 0 when the file was deleted.
    package var links: UInt32
    package var file: ExecutableFile
    /// The mount that the file was reached by, a key of `MountTable`.
    package var mount: UInt64
}

extension FileStatus {
    /// Reads the status of an open file, also of one that was opened with O_PATH.
    ///
    /// - Throws: `SystemError` with ENOSYS on a kernel that does not report mounts (before Linux 5.8).
    package init(of descriptor: Descriptor) throws(SystemError) {
        var found = latchkey_status()
        let code = latchkey_cached_status(descriptor.number, &found)
        guard code == 0 else { throw SystemError("statx", code: code) }
        let kind: Kind =
            switch found.mode & UInt32(Glibc.S_IFMT) {
            case UInt32(Glibc.S_IFDIR): .folder
            case UInt32(Glibc.S_IFREG): .regularFile
            default: .other
            }
        self.init(
            kind: kind, owner: found.owner, mode: found.mode & 0o7777, links: found.links,
            file: ExecutableFile(device: found.device, inode: found.inode), mount: found.mount)
    }
}

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
