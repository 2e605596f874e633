// SPDX-License-Identifier: Apache-2.0

package import Glibc
package import LatchkeySystem

/// The role that starts the process which speaks to the sensors.
package protocol SensorProgram: Sendable {
    /// Starts a process. Blocks no longer than that takes.
    func start() throws(SystemError) -> SensorProcess
}

/// A process that speaks to the sensors.
package struct SensorProcess: Sendable {
    package let socket: Descriptor
    /// Its process ID; nil if it is no process of its own, in tests.
    package let processID: pid_t?
    /// Ends the process if it still runs, and returns its exit code; nil if a signal has ended it. Called once, after the
    /// connection was shut down.
    package let end: @Sendable () -> CInt?

    package init(socket: Descriptor, processID: pid_t? = nil, end: @escaping @Sendable () -> CInt?) {
        (self.socket, self.processID, self.end) = (socket, processID, end)
    }
}

/// `latchkey-authd --user` at a fixed path.
package struct InstalledSensorProgram: SensorProgram {
    /// Seconds in which the process must end after its connection was shut down.
    private static let secondsToLeave: Int64 = 1
    private let path: String
    private let environment: [String]
    private let arguments: [String]

    /// - Parameters:
    ///   - testOnlyEnvironment: `NAME=value`, for the bus of a test.
    ///   - testOnlyArguments: further options, for the files of a test.
    package init(_ path: String, testOnlyEnvironment: [String] = [], testOnlyArguments: [String] = []) {
        arguments = ["--user"] + testOnlyArguments
        self.path = path
        environment = testOnlyEnvironment
    }

    package func start() throws(SystemError) -> SensorProcess {
        let (near, far) = try Sockets.pair()
        // No variable of this process: the caller who started it must not choose what the process loads, and to which bus
        // it connects.
        let process = try ChildProcess.start(
            path, arguments, environment: environment, descriptors: [nil, nil, nil, far])
        return SensorProcess(socket: near, processID: process.processID) {
            guard case .exited(let code)? = process.end(within: Self.secondsToLeave) else { return nil }
            return code
        }
    }
}
