// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// The folder of one process in /proc, held open.
///
/// The open folder refers to the process itself: after the process has ended every access fails, also when another
/// process has its id by then. Reading entries of a process of another user needs CAP_SYS_PTRACE.
package final class ProcessFolder: Sendable {
    package let processID: Int32
    let folder: Descriptor
    private let handle: Descriptor
    let calls: SystemCalls

    package init(_ process: Int32, _ calls: SystemCalls = .kernel) throws(SystemError) {
        self.calls = calls
        processID = process
        handle = try calls.handle(of: process)
        folder = try calls.open("/proc/\(process)", latchkey_path_flag() | O_DIRECTORY)
    }

    /// Opens the folder of the process that a pidfd refers to.
    package init(handle: Descriptor) throws(SystemError) {
        calls = .kernel
        self.handle = handle
        let lines = try Descriptor.open("/proc/self/fdinfo/\(handle.number)", O_RDONLY).readAll(limit: 4096)
        // -1 for a process that has ended, 0 for one in a foreign process namespace.
        guard let field = Self.field("Pid", lines)?.first, let process = Int32(field), process > 0 else {
            throw SystemError("pidfd_open", code: ESRCH)
        }
        processID = process
        folder = try Descriptor.open("/proc/\(process)", latchkey_path_flag() | O_DIRECTORY)
        guard try isRunning() else { throw SystemError("pidfd_open", code: ESRCH) }
    }

    /// Whether the process has not ended. If it is true after reading, everything was read of the same process.
    package func isRunning() throws(SystemError) -> Bool { try !calls.hasEnded(handle) }

    /// Reads an entry completely.
    ///
    /// - Throws: `SystemError` with EFBIG when it has more than `limit` bytes.
    package func read(_ name: String, limit: Int) throws(SystemError) -> [UInt8] {
        try calls.readAll(calls.open(name, below: folder, O_RDONLY), name, limit: limit)
    }

    /// Opens an entry that only the owner of the process may open, such as `environ`.
    ///
    /// CAP_SYS_PTRACE permits the access to the process, but not to the entry, whose mode is 0400. The entry of a
    /// process that cannot be dumped belongs to root; that of another one is opened as its user (setfsuid(2), for this
    /// thread alone), which needs CAP_SETUID.
    private func open(_ name: String, as user: UInt32) throws(SystemError) -> Descriptor {
        do throws(SystemError) {
            return try calls.open(name, below: folder, O_RDONLY)
        } catch {
            guard error.code == EACCES, geteuid() == 0 else { throw error }
        }
        return try FileUser.act(as: user) { () throws(SystemError) in try calls.open(name, below: folder, O_RDONLY) }
    }

    /// Passes an entry that only the owner of the process may open to `take`, piece by piece, until that returns false.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes.
    ///   - deadline: on the clock of `Uptime`, in nanoseconds; a single read is not interrupted.
    /// - Throws: `SystemError` with EFBIG when it has more than `limit` bytes, with ETIMEDOUT after the deadline.
    package func scan(
        _ name: String, as user: UInt32, limit: Int, until deadline: Int64, _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(SystemError) {
        let entry = try open(name, as: user)
        var rest = limit + 1
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: min(rest, Self.pieceBytes), alignment: 16)
        defer { memory.deallocate() }
        while true {
            let piece = UnsafeMutableRawBufferPointer(rebasing: memory[..<min(rest, memory.count)])
            let count = try calls.read(entry, name, into: piece)
            if count == 0 { return }
            rest -= count
            guard rest > 0 else { throw SystemError("read", code: EFBIG) }
            guard take(UnsafeRawBufferPointer(rebasing: piece[..<count])) else { return }
            guard Uptime.nanoseconds < deadline else { throw SystemError("read", code: ETIMEDOUT) }
        }
    }

    private static let pieceBytes = 64 << 10

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

    /// The names of its threads.
    ///
    /// - Throws: `SystemError` with EFBIG when it has more than `limit`.
    package func threads(limit: Int) throws(SystemError) -> [String] {
        try calls.names(calls.open("task", below: folder, O_RDONLY | O_DIRECTORY), "task", limit: limit).map(
            \.description)
    }

    /// Whether another process traces a thread (ptrace(2)).
    package func isTraced(thread: String) throws(SystemError) -> Bool {
        guard let tracer = Self.field("TracerPid", try read("task/\(thread)/status", limit: 64 << 10))?.first else {
            throw SystemError("read", code: EBADMSG)
        }
        return tracer != "0"
    }

    /// The target of a link, for example of `exe`; nil when it is not valid UTF-8 or too long.
    package func linkTarget(_ name: String) throws(SystemError) -> String? { try calls.linkTarget(name, below: folder) }

    /// The status of the file that a link leads to, for example `exe`, `root` or `ns/user`. The kernel resolves the
    /// link to the file itself, even after that was renamed or deleted.
    package func status(_ name: String) throws(SystemError) -> FileStatus {
        try calls.status(of: calls.open(name, below: folder, latchkey_path_flag()), name)
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

/// The fields of `/proc/PID/stat` (proc(5)) that Latchkey uses.
package struct ProcessRecord: Equatable, Sendable {
    /// The state, one letter.
    package let state: String
    package let parent: Int32
    package let processGroup: String
    package let terminalGroup: String
    /// The device number of the controlling terminal; 0 when there is none.
    package let terminal: UInt64
    /// Its start time, in clock ticks since boot; unchanged by execve(2).
    package let startTime: UInt64
    /// The addresses of code, stack, arguments and environment, which execve(2) randomises. The kernel shows them as
    /// zeros to a reader that may not trace the process.
    package let layout: [String]
    /// Whether execve(2) has passed on the environment. Before, the executable is the new one already, and
    /// `/proc/PID/environ` is empty. False also for a reader that may not trace the process.
    package let hasEnvironment: Bool

    /// A hash of the start time and the layout, which the kernel chooses anew at each execve(2), unless the process has turned
    /// that off (personality(2)): then two executions of the same program can have one.
    package var execution: UInt64 { ([String(startTime)] + layout).joined(separator: " ").utf8.shortHash }

    /// Parses the record; nil when it is malformed.
    package init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        // The program's name is in parentheses and may itself contain parentheses, spaces and incomplete characters, so
        // fields are counted from the last closing parenthesis. Field 3 of proc(5) has index 0.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(end + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count > 49, let parent = Int32(fields[1]), let device = Int32(fields[4]),
            let startTime = UInt64(fields[19])
        else { return nil }
        state = fields[0]
        self.parent = parent
        processGroup = fields[2]
        terminal = UInt64(UInt32(bitPattern: device))
        terminalGroup = fields[5]
        self.startTime = startTime
        hasEnvironment = fields[48] != "0"
        layout = Array(fields[23...25] + fields[42...48])
    }
}

/// Names a process, not a number that another process may have later: a pidfd (pidfd_open(2)).
package struct ProcessHandle: Sendable {
    private let descriptor: Descriptor

    /// Opens the handle; throws ESRCH if there is no such process.
    init(_ process: Int32) throws(SystemError) { descriptor = try SystemCalls.kernel.handle(of: process) }

    func signal(_ number: Int32) throws(SystemError) {
        guard latchkey_pidfd_signal(descriptor.number, number) == 0 else { throw SystemError("pidfd_send_signal") }
    }

    /// Ends a process of this user by SIGTERM and waits until it has ended. Does nothing if it is another one meanwhile.
    ///
    /// - Parameter isStillThere: whether the process that was meant still answers with this number. It is asked when the
    ///   handle is open, which cannot name a later process then.
    /// - Throws: ETIMEDOUT if it has not ended after `seconds`.
    package static func end(
        _ process: Int32, within seconds: Int64, ifStill isStillThere: () -> Bool
    ) throws(SystemError) {
        let handle: ProcessHandle
        do throws(SystemError) { handle = try ProcessHandle(process) } catch {
            guard error.code == ESRCH else { throw error }
            return
        }
        guard isStillThere() else { return }
        try handle.signal(SIGTERM)
        guard try handle.hasEnded(by: Uptime.deadline(seconds: seconds)) else {
            throw SystemError("poll", code: ETIMEDOUT)
        }
    }

    /// Waits until the process has ended; false if the deadline, in nanoseconds of `Uptime`, passes first.
    func hasEnded(by deadline: Int64) throws(SystemError) -> Bool { try descriptor.wait(for: POLLIN, until: deadline) }
}
