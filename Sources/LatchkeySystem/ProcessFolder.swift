// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// The folder of one process in /proc, held open.
///
/// The open folder refers to the process itself: after the process has ended every access fails, also when another
/// process has its id by then. Reading entries of a process of another user needs CAP_SYS_PTRACE.
package final class ProcessFolder: Sendable {
    /// Maximum threads of a process whose states are read.
    private static let threadLimit = 1024
    package let processID: Int32
    private let folder: Descriptor
    /// A pidfd of the process.
    private let handle: Descriptor

    /// Opens the folder of the process that has this id now.
    package init(_ process: Int32) throws(SystemError) {
        let number = latchkey_pidfd_open(process)
        guard number >= 0 else { throw SystemError("pidfd_open") }
        processID = process
        handle = Descriptor(owning: number)
        folder = try Descriptor.open("/proc/\(process)", latchkey_path_flag() | O_DIRECTORY)
    }

    /// Opens the folder of the process that a pidfd refers to.
    package init(handle: Descriptor) throws(SystemError) {
        self.handle = handle
        let lines = try Descriptor.open("/proc/self/fdinfo/\(handle.number)", O_RDONLY).readAll(limit: 4096)
        // -1 for a process that has ended, 0 for one in a foreign process namespace.
        guard let field = Self.field("Pid", lines)?.first, let process = Int32(field), process > 0 else {
            throw SystemError("pidfd_open", code: ESRCH)
        }
        processID = process
        folder = try Descriptor.open("/proc/\(process)", latchkey_path_flag() | O_DIRECTORY)
        guard isRunning else { throw SystemError("pidfd_open", code: ESRCH) }
    }

    /// Whether the process has not ended. If it is true after reading, everything was read of the same process.
    package var isRunning: Bool {
        // A pidfd becomes readable when its process has ended (pidfd_open(2)). An error means that this is unknown.
        do throws(SystemError) {
            return try !handle.wait(for: POLLIN, until: 0)
        } catch {
            return false
        }
    }

    /// Reads an entry completely.
    ///
    /// - Throws: `SystemError` with EFBIG when it has more than `limit` bytes.
    package func read(_ name: String, limit: Int) throws(SystemError) -> [UInt8] {
        try Descriptor.open(name, below: folder, O_RDONLY).readAll(limit: limit)
    }

    /// Reads an entry that only the owner of the process may open, such as `environ`.
    ///
    /// CAP_SYS_PTRACE permits the access to the process, but not to the entry, whose mode is 0400. The entry of a
    /// process that cannot be dumped belongs to root; that of another one is opened as its user (setfsuid(2), for this
    /// thread alone), which needs CAP_SETUID.
    package func read(_ name: String, as user: UInt32, limit: Int) throws(SystemError) -> [UInt8] {
        do throws(SystemError) {
            return try read(name, limit: limit)
        } catch {
            guard error.code == EACCES, geteuid() == 0 else { throw error }
        }
        _ = latchkey_set_file_user(user)
        defer { _ = latchkey_set_file_user(0) }
        return try read(name, limit: limit)
    }

    /// The record `stat`.
    package func record() throws(SystemError) -> ProcessRecord {
        guard let record = ProcessRecord(try read("stat", limit: 4096)) else {
            throw SystemError("read", code: EBADMSG)
        }
        return record
    }

    /// The real, effective, saved and file system user id.
    package func userIDs() throws(SystemError) -> [UInt32] {
        let ids = Self.field("Uid", try read("status", limit: 64 << 10))?.compactMap { UInt32($0) } ?? []
        guard ids.count == 4 else { throw SystemError("read", code: EBADMSG) }
        return ids
    }

    /// Whether another process traces any of its threads (ptrace(2)).
    ///
    /// - Throws: `SystemError` with EFBIG when it has more than 1024 threads.
    package func isTraced() throws(SystemError) -> Bool {
        let threads = try Descriptor.open("task", below: folder, O_RDONLY | O_DIRECTORY)
        for thread in try threads.names(limit: Self.threadLimit) {
            let status: Descriptor
            do throws(SystemError) {
                status = try Descriptor.open("\(thread)/status", below: threads, O_RDONLY)
            } catch {
                // The thread has ended since the folder was listed.
                if error.code == ENOENT { continue }
                throw error
            }
            guard let tracer = Self.field("TracerPid", try status.readAll(limit: 64 << 10))?.first, tracer == "0" else {
                return true
            }
        }
        return false
    }

    /// The target of a link, for example of `exe`; nil when it is not valid UTF-8 or too long.
    package func linkTarget(_ name: String) throws(SystemError) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4097)
        let count = readlinkat(folder.number, name, &buffer, buffer.count)
        guard count >= 0 else { throw SystemError("readlinkat") }
        return count < buffer.count ? String(validating: buffer[..<count], as: UTF8.self) : nil
    }

    /// The status of the file that a link leads to, for example `exe`, `root` or `ns/user`. The kernel resolves the
    /// link to the file itself, even after that was renamed or deleted.
    package func status(_ name: String) throws(SystemError) -> FileStatus {
        try FileStatus(of: Descriptor.open(name, below: folder, latchkey_path_flag()))
    }

    /// The words after `name:` in a file of lines `name: value`.
    private static func field(_ name: String, _ bytes: [UInt8]) -> [String]? {
        // The kernel escapes line breaks in the name of the program, so no process can add a line.
        let start = Array("\(name):".utf8)
        let line = bytes.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: start) }
        return line?.dropFirst(start.count).split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
