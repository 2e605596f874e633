// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem

/// A file that gets its name only when it is complete and synchronised to the disk.
package final class NewFile {
    private let path: FilePath
    private let partial: FilePath
    private let file: Descriptor
    private var isFinished = false

    /// Creates the file under the name `path.partial`. Throws while another program is writing a file of that name, and if
    /// the name is that of a device, a pipe or a folder.
    ///
    /// - Parameter mode: its permission bits.
    package init(_ path: FilePath, mode: UInt32 = 0o600) throws(Failure) {
        guard try Self.isFree(path) else {
            throw Failure(
                .invalidParameter, "\(path) is not a file that can be replaced.", hint: "Choose another name.")
        }
        self.path = path
        partial = path.appending(".partial")
        // O_NONBLOCK: a named pipe of that name must not block the command.
        if let other = try? Descriptor.open(partial, O_WRONLY | O_NOFOLLOW | O_NONBLOCK), Self.isLocked(other) {
            throw Self.isBeingWritten(path)
        }
        // Left behind by a killed program, or placed there by another user to read what is written.
        Files.remove(partial)
        do throws(SystemError) {
            file = try Descriptor.open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
            // Not as an argument of the call, which the mask of the process would change.
            guard mode == 0o600 || fchmod(file.number, mode) == 0 else { throw SystemError("fchmod") }
        } catch {
            throw Failure(error, "\(path) cannot be written")
        }
        // The file is new, so this fails only on a file system without locks; `isStillThere` works there too.
        flock(file.number, LOCK_EX | LOCK_NB)
    }

    /// Whether nothing but a file or a link has the name: finishing the file replaces that, and a device would be gone.
    private static func isFree(_ path: FilePath) throws(Failure) -> Bool {
        do throws(SystemError) {
            return try [S_IFREG, S_IFLNK].contains(where: FileRecord(at: path).isType)
        } catch {
            // Without the folder, creating the file fails.
            guard error.code == ENOENT else { throw Failure(error, "\(path) cannot be written") }
            return true
        }
    }

    private static func isLocked(_ file: Descriptor) -> Bool {
        flock(file.number, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Whether the name still belongs to this file: two programs may have started at the same time.
    private var isStillThere: Bool {
        guard let mine = try? file.status(),
            let named = try? Descriptor.open(partial, O_WRONLY | O_NOFOLLOW | O_NONBLOCK).status()
        else { return false }
        return mine.file == named.file
    }

    deinit { if !isFinished, isStillThere { Files.remove(partial) } }

    /// Appends bytes.
    package func write(_ bytes: [UInt8]) throws(Failure) { try write(SecretBytes(bytes)) }

    /// Appends the bytes of a secret, or of anything else.
    package func write(_ bytes: SecretBytes) throws(Failure) {
        do throws(SystemError) {
            try bytes.withBytes { (bytes) throws(SystemError) in try file.write(all: bytes) }
        } catch {
            throw Failure(error, "\(path) cannot be written")
        }
    }

    package func finish() throws(Failure) {
        do throws(SystemError) {
            // Before the name is checked, because this takes longest.
            try file.synchronize()
        } catch {
            throw Failure(error, "\(path) cannot be written")
        }
        guard isStillThere else { throw Self.isBeingWritten(path) }
        do throws(SystemError) {
            try Files.rename(partial, to: path)
        } catch {
            throw Failure(error, "\(path) cannot be written")
        }
        isFinished = true
    }

    private static func isBeingWritten(_ path: FilePath) -> Failure {
        Failure(.duplicateItem, "Another program is writing \(path).", hint: "Try again when it has ended.")
    }
}
