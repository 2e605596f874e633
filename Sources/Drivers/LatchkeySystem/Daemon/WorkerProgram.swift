// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The program that a service starts for each user: the service's own, with other arguments.
package struct WorkerProgram: Sendable {
    private let path: String
    private let arguments: [String]
    private let name: String

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

    /// Starts a process with `descriptors` from number 3 on. It inherits standard error and the environment, which the service
    /// manager has chosen, and nothing else. Does not wait until it runs.
    func start(_ more: [String], _ descriptors: [Descriptor]) throws(SystemError) -> ChildProcess {
        let errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        guard errors >= 0 else { throw SystemError("fcntl") }
        return try ChildProcess.start(
            path, arguments + more, name: name, environment: nil,
            descriptors: [nil, nil, Descriptor(owning: errors)] + descriptors, until: nil)
    }
}
