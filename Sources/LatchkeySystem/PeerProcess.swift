// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The file that a process executes, as the kernel numbers it: a path can be given to another file, these cannot.
package struct ExecutableFile: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// The file of a running process; nil where the kernel does not let this process look.
    package init?(of process: Int32) {
        var status = stat()
        // The link leads to the file itself, whatever its path is now.
        guard stat("/proc/\(process)/exe", &status) == 0 else { return nil }
        self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

/// The process at the other end of a connection as it was when the connection was accepted.
///
/// A process may execute another program, or end and leave its number to another process, while its connection stays.
/// `isUnchanged` looks again. What happened between connecting and accepting is not seen: the kernel records no
/// executable at `connect`.
package struct PeerProcess: Sendable {
    package let processID: Int32
    /// Its executable; nil where it cannot be determined.
    package let executable: ExecutableFile?
    /// The path of its executable; nil where it cannot be determined.
    package let path: String?
    /// When it began, in clock ticks since the machine started.
    private let startTime: UInt64?
    /// Stays with the process, not with its number; nil on kernels without SO_PEERPIDFD (before 6.5).
    private let handle: Descriptor?

    /// Looks at the process that made the connection.
    package init(_ socket: Descriptor, _ peer: PeerCredentials) {
        processID = peer.processID
        handle = Sockets.peerProcess(socket)
        startTime = TerminalJob(peer.processID)?.startTime
        let executable = ExecutableFile(of: peer.processID)
        let path = Environment.linkTarget("/proc/\(peer.processID)/exe")
        // The number belonged to that process until now, so what was read is about that process.
        let isDetermined = executable != nil && path != nil && startTime != nil && (handle.map(Self.isAlive) ?? true)
        self.executable = isDetermined ? executable : nil
        self.path = isDetermined ? path : nil
    }

    /// Whether the same process still executes the same file; false where that cannot be determined.
    package var isUnchanged: Bool {
        guard let executable, let startTime, ExecutableFile(of: processID) == executable else { return false }
        // The descriptor stays with the process, so a live one says what the time of its start would say, and costs a
        // third: this is asked for every entry of the audit log.
        guard let handle else { return TerminalJob(processID)?.startTime == startTime }
        return Self.isAlive(handle)
    }

    /// A process descriptor is readable once the process has ended (pidfd_open(2)).
    private static func isAlive(_ handle: Descriptor) -> Bool {
        do throws(SystemError) {
            return try !handle.wait(for: POLLIN, until: 0)
        } catch {
            return false
        }
    }
}
