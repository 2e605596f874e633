// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

/// A running child process of the test, killed with its last reference.
final class Child: Sendable {
    let processID: pid_t
    private let input: Descriptor

    /// Starts a program whose standard input and output are a socket of this object.
    init(_ path: String, _ arguments: [String] = [], environment: [String] = [], terminal: String? = nil) throws {
        let (ours, its) = try Sockets.pair()
        input = ours
        processID = try Processes.spawn(
            path, arguments, environment: environment, descriptors: [its, its, nil], terminal: terminal)
    }

    /// Runs a program as another user; root only.
    convenience init(as user: uid_t, _ path: String, environment: [String] = []) throws {
        try self.init(
            "/usr/bin/setpriv", ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", path],
            environment: environment)
    }

    deinit {
        kill(processID, SIGKILL)
        Processes.wait(processID)
    }

    /// Waits until the program has read a line and written it back, as cat(1) does.
    func awaitEcho() throws {
        try [0x0a].withUnsafeBytes { try input.write(all: UnsafeRawBufferPointer(rebasing: $0[..<1])) }
        let isReadable = try input.wait(for: POLLIN, until: Uptime.deadline(seconds: 10))
        try #require(isReadable, "the program did not answer")
        var byte: UInt8 = 0
        try #require(Glibc.read(input.number, &byte, 1) == 1 && byte == 0x0a, "the program has ended")
    }

    /// Waits until a program that executes another one, as setpriv(1) does, has begun with it.
    func awaitProgram(_ path: String) throws {
        let deadline = Uptime.deadline(seconds: 10)
        while Environment.linkTarget("/proc/\(processID)/exe") != path {
            try #require(Uptime.nanoseconds < deadline, "\(path) did not start")
            sched_yield()
        }
    }

    /// Waits until execve(2) has ended; posix_spawn(3) returns before.
    private func awaitStart() throws {
        let deadline = Uptime.deadline(seconds: 10)
        while try !ProcessFolder(processID).record().hasEnvironment {
            try #require(Uptime.nanoseconds < deadline, "the program did not start")
            sched_yield()
        }
    }

    /// The name of the process, as the kernel would report it to the peer of a connection.
    func name(user: uid_t = getuid()) throws -> ProcessName {
        let job = try #require(TerminalJob(processID))
        return ProcessName(processID: processID, startTime: job.startTime, userID: user)
    }

    /// Its identity, where the namespaces of the test count as those of the system.
    func identity(
        user: uid_t = getuid(), _ folder: DeclarationFolder = DeclarationFolder("/nonexistent/apps.d")
    ) throws
        -> ProgramIdentity
    {
        try awaitStart()
        return try ProgramIdentifier(declarations: folder, reference: getpid()).identify(try name(user: user))
    }
}

extension Need {
    /// The programs of the machine are files that only root can change.
    static let protectedPrograms = Need("a /usr/bin/cat that only root can change, on a mount without nosuid") {
        guard let mounts = try? MountTable(),
            let walk = try? PathWalk("/usr/bin/cat", mounts, isAllowed: ProtectedPath.isProtected)
        else { return false }
        return ProtectedPath.isProtected(walk.components)
    }

    /// A process in a mount namespace and a user namespace of its own.
    static let namespaces = Need("permission to create user namespaces") {
        guard let child = try? Processes.spawn("/usr/bin/unshare", ["--user", "--mount", "/usr/bin/true"]) else {
            return false
        }
        return Processes.wait(child) == 0
    }
}
