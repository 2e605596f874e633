// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A lock on a folder (flock(2)) that ends with its last reference, or with the process.
///
/// The services of a system share the lock of their folder while they run; a program that removes data takes it alone.
/// The folder itself is locked, since a lock file of one user could not be opened by the other.
package final class FolderLock: Sendable {
    private let folder: Descriptor

    private init(_ folder: Descriptor) { self.folder = folder }

    // Closing is not enough: a process that is being started has a copy of the descriptor until it runs its program.
    deinit { flock(folder.number, LOCK_UN) }

    /// Takes the lock together with others; waits while a process has it alone.
    package static func share(_ path: String) throws(SystemError) -> FolderLock { try wait(path, LOCK_SH) }

    /// Takes the lock alone; waits while another process has it.
    package static func alone(_ path: String) throws(SystemError) -> FolderLock { try wait(path, LOCK_EX) }

    private static func wait(_ path: String, _ kind: CInt) throws(SystemError) -> FolderLock {
        let folder = try open(path)
        while flock(folder.number, kind) != 0 { guard errno == EINTR else { throw SystemError("flock") } }
        return FolderLock(folder)
    }

    /// Takes the lock alone; nil if another process has it.
    package static func takeAlone(_ path: String) throws(SystemError) -> FolderLock? {
        let folder = try open(path)
        if flock(folder.number, LOCK_EX | LOCK_NB) == 0 { return FolderLock(folder) }
        let error = SystemError("flock")
        guard error.code == EWOULDBLOCK else { throw error }
        return nil
    }

    private static func open(_ path: String) throws(SystemError) -> Descriptor {
        try Descriptor.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }
}
