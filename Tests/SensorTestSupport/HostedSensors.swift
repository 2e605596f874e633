// SPDX-License-Identifier: Apache-2.0

import AuthorityDaemon
package import ChildProcessDrivers
import LatchkeyModel
package import LatchkeySeams
package import LatchkeySystem

/// Starts the real `SensorHost` with sensors of the test, on a thread of the test instead of a process.
package final class HostedSensors: SensorProgram {
    private let user: UInt32
    private let reader: any BiometricReader
    private let sessions: any SessionMonitor

    /// Creates a program whose process speaks to these sensors.
    package init(user: UInt32, _ reader: any BiometricReader, _ sessions: any SessionMonitor) {
        self.user = user
        self.reader = reader
        self.sessions = sessions
    }

    package func start() throws(SystemError) -> SensorProcess {
        let (near, far) = try Sockets.pair()
        let host = try SensorHost(far, user: user)
        let ended = ReplyBox<Void>()
        Processes.detachThread { [reader, sessions] in
            host.observe(reader, sessions)
            host.serve(reader, sessions)
            ended.put(())
        }
        return SensorProcess(socket: near) {
            _ = ended.take(seconds: 10)
            return 0
        }
    }
}
