// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem

/// Runs `latchkey-authd`. The sensor and the login sessions come from the program, so that a program for tests can have
/// scripted ones.
package enum AuthorityProcess {
    /// The drivers that the program chooses.
    package struct Drivers: Sendable {
        package var reader: any BiometricReader
        package var sessions: any SessionMonitor

        package init(reader: any BiometricReader, sessions: any SessionMonitor) {
            (self.reader, self.sessions) = (reader, sessions)
        }
    }
    /// Whether root allows readers that are programs.
    package struct VirtualHardware: Sendable {
        package let isAllowed: Bool
        /// The file in which root can allow it.
        package let configuration: String
    }
    package typealias MakeDrivers = (AuthorityOptions, VirtualHardware, any Clock, any EventLog) -> Result<
        Drivers, Failure
    >

    /// Reads the command line and serves until a signal ends the process, or with `--user` until latchkeyd ends the
    /// connection.
    ///
    /// - Parameters:
    ///   - isVirtual: whether all hardware is simulated, as in the program for tests, so that every token says so.
    ///   - drivers: makes the drivers, after privileges were given up.
    package static func main(isVirtual: Bool = false, drivers: MakeDrivers) -> Never {
        let arguments = ProgramStart.begin()
        umask(0o077)
        do throws(AuthorityOptions.Question) {
            let options = try AuthorityOptions(arguments: arguments)
            do throws(Failure) {
                if options.isForUser {
                    try UserSensors.serve(options, drivers)
                } else {
                    try run(options, isVirtual, drivers)
                }
                ProgramEnd.now()
            } catch {
                StandardError.write(error)
                ProgramEnd.now(1)
            }
        } catch {
            switch error {
            case .help: StandardOutput.write(AuthorityOptions.help)
            case .version: StandardOutput.write(AuthorityOptions.version + "\n")
            case .wrong(let argument):
                StandardError.write(
                    Failure(
                        .invalidParameter, "unknown option \(argument), or an option without its value",
                        hint: "See: latchkey-authd --help"))
                ProgramEnd.now(64)
            }
            ProgramEnd.now()
        }
    }

    private static func run(_ options: AuthorityOptions, _ isVirtual: Bool, _ drivers: MakeDrivers) throws(Failure) {
        // The other processes have none.
        let activated = ActivatedSockets.take()
        do throws(Failure) {
            try run(options, activated, isVirtual, drivers)
        } catch {
            for socket in activated.values { listener(socket).refuseWaiting(error) }
            throw error
        }
    }

    private static func run(
        _ options: AuthorityOptions, _ activated: [String: Descriptor], _ isVirtual: Bool, _ drivers: MakeDrivers
    ) throws(Failure) {
        guard let storeUser = Accounts.user(named: options.storeUser) else {
            throw Failure(
                .invalidParameter, "There is no user \(options.storeUser).",
                hint: "The package creates it; or run: useradd --system \(options.storeUser)")
        }
        try Files.makePrivateFolder(options.state)
        let events = FileAndJournalLog(options.state)
        do throws(Failure) {
            let configuration = try AuthorityConfiguration(options.configuration, group: storeUser.groupID)
            if let user = options.worker {
                let process = UserProcess(
                    options: options, configuration: configuration, storeUser: storeUser, events: events,
                    isVirtual: isVirtual)
                try process.serve(user)
            } else if options.isForSensors {
                try SystemSensors.serve(options, configuration, events, drivers)
            } else {
                try accept(options, activated, storeUser, events)
            }
        } catch {
            events.record(.failed, error)
            throw error
        }
    }

    /// A socket whose refused connections only end: a connection to it is made again.
    private static func listener(_ socket: Descriptor) -> UserAcceptor.Listener {
        .ofPrograms(socket) { _ in SecretBytes([]) }
    }

    /// Accepts connections, and hands each to the process of its user.
    private static func accept(
        _ options: AuthorityOptions, _ activated: [String: Descriptor], _ storeUser: UserIdentity,
        _ events: FileAndJournalLog
    ) throws(Failure) {
        let lock = try DaemonProcess.shareFolder(options.state)
        defer { withExtendedLifetime(lock) {} }
        try DaemonProcess.protect()
        // Must precede the creation of threads, which inherit the signal mask.
        let signals = DaemonProcess.blockEndingSignals()
        let listeners = try AuthoritySockets(options.sockets, storeUser, activated)
        // After the sockets exist, no privilege is needed but those of the processes that it starts.
        try AuthorityPrivileges.drop()
        let (user, state) = (storeUser.userID, options.state)
        do throws(SystemError) {
            let acceptor = try UserAcceptor(
                [
                    UserAcceptor.Listener(listeners.authority) { connection in
                        // Other peers, and connections that do not say for whom they are, get no answer.
                        guard let peer = try? Sockets.peer(connection), peer.userID == user,
                            let user = ServiceChannelName.user(of: connection), !UnmappedUser.includes(user)
                        else { return .close }
                        return .user(user)
                    } payload: { _ in
                        SecretBytes([])
                    },
                    listener(listeners.agents),
                ], WorkerProgram(Array(CommandLine.arguments.dropFirst())), log: events, endsWhenIdle: false
            ) { Files.exists("\(state)/\($0)") }
            DaemonProcess.stop(on: signals) { acceptor.stop() }
            events.record(.started, nil)
            try acceptor.run()
        } catch {
            throw Failure(error, "latchkey-authd cannot serve \(options.sockets.folder)")
        }
        events.record(.stopped, nil)
    }
}
