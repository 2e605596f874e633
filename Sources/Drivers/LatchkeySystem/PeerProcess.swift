// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// Device and inode of a process's executable. Unlike a path, they cannot identify another file while the process runs.
package struct ExecutableFile: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
}

extension ExecutableFile {
    /// Reads the executable of a running process; nil where the kernel denies access.
    package init?(of process: Int32) {
        var status = stat()
        // The kernel resolves this link to the file itself, even after it was renamed or deleted.
        guard stat("/proc/\(process)/exe", &status) == 0 else { return nil }
        self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

/// The program to which a server attributes connections and memory: an executable of a user.
///
/// The executables of other users cannot be determined without privileges; they share the value of their user, so that
/// one user cannot take the share of another.
package struct ClientProgram: Hashable, Sendable {
    package let userID: UInt32
    /// Nil where it cannot be determined, so that a process gains nothing by hiding its executable.
    package let executable: ExecutableFile?
}

/// The process at the other end of a connection, as it was when the connection was accepted.
///
/// While the connection stays open, the process may execute another program, or its id may be reused after it ends.
/// `isUnchanged` checks for both. A change between connecting and accepting is not detected: the kernel records no
/// executable at `connect`.
package struct PeerProcess: Sendable {
    package let processID: Int32
    /// Its executable; nil where it cannot be determined.
    package let executable: ExecutableFile?
    /// The path of its executable; nil where it cannot be determined.
    package let path: String?
    package var program: ClientProgram { ClientProgram(userID: userID, executable: executable) }
    private let userID: UInt32
    /// Its start time, in clock ticks since boot; nil where it cannot be determined.
    private let startTime: UInt64?
    /// The same start time, if the process was alive after it was read, so that it belongs to the process that connected.
    package let knownStartTime: UInt64?
    /// A pidfd, which refers to the process even after its id is reused; nil on kernels without SO_PEERPIDFD (before
    /// 6.5).
    private let handle: Descriptor?

    /// Reads the state of the process that made the connection.
    package init(_ socket: Descriptor, _ peer: PeerCredentials) {
        processID = peer.processID
        userID = peer.userID
        handle = Sockets.peerProcess(socket)
        startTime = TerminalJob(peer.processID)?.startTime
        let executable = ExecutableFile(of: peer.processID)
        let path = Environment.linkTarget("/proc/\(peer.processID)/exe")
        // Checked last: if the process is still alive, its id was not reused while its entries in /proc were read.
        let isAlive = handle.map(Self.isAlive) ?? true
        knownStartTime = isAlive ? startTime : nil
        let isDetermined = executable != nil && path != nil && startTime != nil && isAlive
        self.executable = isDetermined ? executable : nil
        self.path = isDetermined ? path : nil
    }

    /// The process ID with the start time; nil where that could not be determined.
    package var name: ProcessName? {
        knownStartTime.map { ProcessName(processID: processID, startTime: $0, userID: userID) }
    }

    /// Whether the same process still executes the same file; false where that cannot be determined.
    package var isUnchanged: Bool {
        guard let executable, let startTime, ExecutableFile(of: processID) == executable else { return false }
        // A live pidfd proves the same as the start time, at a third of the cost: this check runs for every entry of
        // the audit log.
        guard let handle else { return TerminalJob(processID)?.startTime == startTime }
        return Self.isAlive(handle)
    }

    /// Whether the process still runs, whatever it executes; false where that cannot be determined.
    package var isRunning: Bool {
        guard let startTime else { return false }
        guard let handle else { return TerminalJob(processID)?.startTime == startTime }
        return Self.isAlive(handle)
    }

    /// A pidfd becomes readable when its process has ended (pidfd_open(2)).
    private static func isAlive(_ handle: Descriptor) -> Bool {
        do throws(SystemError) { return try !handle.wait(for: POLLIN, until: 0) } catch { return false }
    }
}
