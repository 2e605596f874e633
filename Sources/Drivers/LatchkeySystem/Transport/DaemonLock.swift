// SPDX-License-Identifier: Apache-2.0

package import CLatchkeyLinux
import Glibc
package import LatchkeyModel

/// The lock file of a store: its holder is the store's only daemon, and its content says where that daemon listens.
///
/// The content has three lines: the version, the socket's path and the process id. The file is empty while no daemon
/// listens.
package enum DaemonLock {
    /// The file's name in the store's folder.
    package static let fileName = "daemon.lock"

    /// The address that a listening daemon wrote.
    package struct Address: Equatable, Sendable {
        package var socket: String
        package var processID: pid_t

        package init(socket: String, processID: pid_t) { (self.socket, self.processID) = (socket, processID) }
    }

    /// Opens the file, creating it if it is missing, and checks that it belongs to this user.
    package static func open(_ folder: String) throws(Failure) -> Descriptor {
        let path = folder + "/" + fileName
        do throws(SystemError) {
            let file = try Descriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW)
            guard try file.status().owner == geteuid() else { throw SystemError("open", code: EPERM) }
            return file
        } catch {
            throw Failure(error, "\(path) cannot be used")
        }
    }

    /// Reads the address; nil when no daemon listens.
    package static func address(_ file: Descriptor) -> Address? {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = pread(file.number, &buffer, buffer.count, 0)
        guard count > 0, let text = String(validating: buffer[..<count], as: UTF8.self) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0] == "1", lines[1].hasPrefix("/"), let process = pid_t(lines[2]) else {
            return nil
        }
        return Address(socket: String(lines[1]), processID: process)
    }

    /// Takes the lock; false when another process holds it. The lock is released when its last descriptor is closed.
    package static func take(_ file: Descriptor) -> Bool { latchkey_lock(file.number) == 0 }

    package static func isTaken(_ file: Descriptor) -> Bool { latchkey_is_locked(file.number) != 0 }

    /// Writes the address at which the holder listens.
    package static func announce(_ address: Address, in file: Descriptor) throws(SystemError) {
        withdraw(file)
        let text = Array("1\n\(address.socket)\n\(address.processID)\n".utf8)
        // A single write, so that a reader never sees a part of it.
        guard pwrite(file.number, text, text.count, 0) == text.count else { throw SystemError("pwrite") }
    }

    /// Removes the address: the daemon no longer listens.
    package static func withdraw(_ file: Descriptor) { _ = ftruncate(file.number, 0) }
}
