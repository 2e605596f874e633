// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// The root folder of a process in a sandbox, where a hostile program of its user can have put anything.
///
/// Nothing here waits for another process. A look-up on FUSE or on a network file system would, so only a root folder on tmpfs
/// is looked into, where bwrap(1) makes that of a sandbox, and what is found there is opened only if it is a regular file
/// on tmpfs, too. It is opened by a descriptor of it, so another file that is put at its place meanwhile is not opened.
package struct SandboxRoot: Sendable {
    private static let fileSystem = "tmpfs"
    /// Maximum bytes of the table of mounts of a process. A sandbox has about a hundred mounts, of 100 bytes each; a hostile one
    /// can have as many as the kernel allows, and the programs of other users wait while they are read.
    private static let mountBytes = 128 << 10

    private let folder: Descriptor
    private let mounts: MountTable
    private let calls: SystemCalls

    /// Opens the root folder of a process; nil if it is that of this process, or not on tmpfs.
    init?(_ process: ProcessFolder, _ folder: Descriptor, _ calls: SystemCalls) throws(SystemError) {
        let status = try calls.status(of: folder, "root")
        let own = try calls.status(of: calls.open("/", latchkey_path_flag() | O_DIRECTORY), "/")
        guard status.file != own.file else { return nil }
        mounts = MountTable(try process.read("mountinfo", limit: Self.mountBytes))
        guard mounts[status.mount]?.fileSystem == Self.fileSystem else { return nil }
        (self.folder, self.calls) = (folder, calls)
    }

    /// Finds a file of the folder as `user`, without opening it.
    package func find(_ name: String, as user: UInt32) throws(SystemError) -> Descriptor {
        try FileUser.act(as: user) { () throws(SystemError) in
            // Finds a symbolic link itself.
            try calls.open(name, below: folder, latchkey_path_flag() | O_NOFOLLOW)
        }
    }

    /// Reads a file that was found, as `user`.
    ///
    /// - Throws: `SystemError` with ENOTSUP for anything else than a regular file on tmpfs, with EFBIG for more than `limit`
    ///   bytes.
    package func read(_ found: Descriptor, _ name: String, as user: UInt32, limit: Int) throws(SystemError) -> [UInt8] {
        let status = try calls.status(of: found, name)
        guard status.kind == .regularFile, mounts[status.mount]?.fileSystem == Self.fileSystem else {
            throw SystemError("read", code: ENOTSUP)
        }
        let file = try FileUser.act(as: user) { () throws(SystemError) in
            try calls.open("/proc/self/fd/\(found.number)", O_RDONLY | O_NONBLOCK | O_NOCTTY)
        }
        return try calls.readAll(file, name, limit: limit)
    }
}

extension ProcessFolder {
    /// The root folder of the process; nil if it is that of this process, or not on tmpfs.
    package func sandboxRoot() throws(SystemError) -> SandboxRoot? {
        try SandboxRoot(self, calls.open("root", below: folder, latchkey_path_flag() | O_DIRECTORY), calls)
    }
}

/// The user whose permissions count for files, for one thread (setfsuid(2)).
enum FileUser {
    /// Acts with the permissions of a user, where this process is root; needs CAP_SETUID there.
    static func act<R>(as user: UInt32, _ body: () throws(SystemError) -> R) throws(SystemError) -> R {
        guard geteuid() == 0 else { return try body() }
        _ = latchkey_set_file_user(user)
        defer { _ = latchkey_set_file_user(0) }
        return try body()
    }
}
