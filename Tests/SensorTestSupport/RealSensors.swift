// SPDX-License-Identifier: Apache-2.0

package import ChildProcessDrivers
import Glibc
package import LatchkeySystem
import Synchronization
import TestSupport

/// Starts the built `latchkey-authd --user` as `latchkeyd` does, on a message bus of the test.
package final class RealSensors: SensorProgram {
    private let program: InstalledSensorProgram
    private let process = Mutex<pid_t?>(nil)

    /// - Parameters:
    ///   - bus: the address of the bus that the process takes for that of the system.
    ///   - arguments: options besides `--user`.
    package init(bus: String, _ arguments: [String] = []) {
        program = InstalledSensorProgram(
            BuiltProducts.folder + "/latchkey-authd", testOnlyEnvironment: ["DBUS_SYSTEM_BUS_ADDRESS=" + bus],
            testOnlyArguments: arguments)
    }

    package func start() throws(SystemError) -> SensorProcess {
        let started = try program.start()
        process.withLock { $0 = started.processID }
        return started
    }

    /// Sends a signal to the latest process.
    package func signal(_ number: CInt) {
        if let process = process.withLock({ $0 }) { kill(process, number) }
    }
}
