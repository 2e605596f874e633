// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem

/// The process of the sensors as the process of a user reaches it: through the accepting process, which starts it.
struct ServiceSensors: SensorProgram {
    private let channel: WorkerChannel

    init(_ channel: WorkerChannel) { self.channel = channel }

    func start() throws(SystemError) -> SensorProcess {
        // It is not a child of this process, and serves other users too.
        SensorProcess(socket: try channel.sensors()) { nil }
    }
}

/// Counts what the process of the sensors has refused, for the audit log of the user. That process has logged it.
final class CountedRefusals: EventLog {
    private let notices: RefusalNotices

    init(_ notices: RefusalNotices) { self.notices = notices }

    func note(_ event: DaemonEvent, _ failure: Failure?) { notices.count(event) }
}
