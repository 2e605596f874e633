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
