// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
import LatchkeySystem

/// The program that a service starts for each user: the service's own, with other arguments.
package struct WorkerProgram: Sendable {
    private let path: String
    private let arguments: [String]
    private let name: String
    /// Above the numbers that a started process gets.
    private static let firstFree: CInt = 16

    /// - Parameter arguments: of the process that accepts connections; the options of the other processes are added.
    package init(_ arguments: [String]) {
        // The file itself, also after a package has replaced the one at its path: all processes have one version.
        path = "/proc/self/exe"
        self.arguments = arguments
        name = Environment.executable ?? path
    }

    /// A program that stands in for it.
    init(testOnlyPath path: String, _ arguments: [String]) {
        self.path = path
        self.arguments = arguments
        name = path
    }

    /// A process that was started, with a pidfd, which refers to it until it was waited for.
    struct Started {
        let processID: pid_t
        let handle: Descriptor
    }

    /// Starts a process with `descriptors` from number 3 on. It inherits standard error
    /// and the environment, which the service manager has chosen.
    func start(_ more: [String], _ descriptors: [Descriptor]) throws(SystemError) -> Started {
        // Moved out of the way of the numbers that they get, which are given one after the other.
        var moved: [Descriptor?] = [nil, nil]
        for number in [STDERR_FILENO] + descriptors.map(\.number) {
            let copy = fcntl(number, F_DUPFD_CLOEXEC, Self.firstFree)
            guard copy >= 0 else { throw SystemError("fcntl") }
            moved.append(Descriptor(owning: copy))
        }
        let process = try Processes.spawn(
            path, arguments + more, name: name,
            descriptors: moved, newSession: true)
        // The process cannot be reaped before, so the number is its own.
        let handle = latchkey_pidfd_open(process)
        guard handle >= 0 else {
            let error = SystemError("pidfd_open")
            Processes.wait(process, killAfter: 0)
            throw error
        }
        return Started(processID: process, handle: Descriptor(owning: handle))
    }
}
