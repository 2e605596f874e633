// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import Glibc
import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SystemDriver

/// The process that speaks to fprintd and logind for the processes of all users. It has no key and no passcode.
///
/// Each user's process has a connection of its own and a thread here. One that does not read is disconnected.
enum SystemSensors {
    /// The descriptor on which the accepting process passes the connections.
    private static let descriptor: CInt = 3

    static func serve(
        _ options: AuthorityOptions, _ configuration: AuthorityConfiguration, _ events: FileAndJournalLog,
        _ makeDrivers: AuthorityProcess.MakeDrivers
    ) throws(Failure) {
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw Failure(.invalidParameter, "This process is started by the service, and not by hand.")
        }
        DaemonProcess.takeName()
        let control = MessageSocket(Descriptor(owning: descriptor))
        try DaemonProcess.protect()
        try AuthorityPrivileges.drop()
        let clock = SystemClock()
        let hosts = SensorHosts(clock: clock, log: events)
        let virtual = AuthorityProcess.VirtualHardware(
            isAllowed: configuration.allowsVirtualHardware, configuration: options.configuration)
        let drivers = try makeDrivers(options, virtual, clock, hosts.log).get()
        hosts.observe(drivers.reader, drivers.sessions)
        do throws(SystemError) {
            while let message = try control.wait(until: nil) {
                guard let connection = message.descriptor, let user = UInt32(exactly: message.number) else { continue }
                // Without a thread the connection is closed, and the process of the user asks again later: serving it here would
                // hold up the other users.
                _ = Processes.startThread { hosts.serve(connection, user: user, drivers.reader, drivers.sessions) }
            }
        } catch {
            throw Failure(error, "The connections of the users' processes cannot be received")
        }
    }
}

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

    func record(_ event: DaemonEvent, _ failure: Failure?) { notices.count(event) }
}
