// SPDX-License-Identifier: Apache-2.0

import AuthorityHost
import DaemonProcess
import Glibc
import LatchkeyAuthority
import LatchkeyIdentity
package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem
import LatchkeyTransport
import PAMDriver
import PromptDriver
import SystemDriver
import TPMDriver

/// Runs `latchkey-authd`. The sensor and the login sessions come from the program, so that a program for tests can have
/// scripted ones.
package enum AuthorityProcess {
    /// The drivers that the program chooses.
    package struct Drivers: Sendable {
        /// The sensor of all users.
        package var reader: any BiometricReader
        package var sessions: any SessionMonitor

        /// Creates a value from its fields.
        package init(reader: any BiometricReader, sessions: any SessionMonitor) {
            self.reader = reader
            self.sessions = sessions
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
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        do throws(AuthorityOptions.Question) {
            let options = try AuthorityOptions(arguments: Array(CommandLine.arguments.dropFirst()))
            do throws(Failure) {
                if options.isForUser {
                    try UserSensors.serve(options, drivers)
                } else {
                    try run(options, isVirtual, drivers)
                }
                exit(0)
            } catch {
                StandardError.write(error)
                exit(1)
            }
        } catch {
            switch error {
            case .help: print(AuthorityOptions.help, terminator: "")
            case .version: print(AuthorityOptions.version)
            case .wrong(let argument):
                StandardError.write(
                    Failure(
                        .invalidParameter, "unknown option \(argument), or an option without its value",
                        hint: "See: latchkey-authd --help"))
                exit(64)
            }
            exit(0)
        }
    }

    private static func run(
        _ options: AuthorityOptions, _ isVirtual: Bool, _ drivers: MakeDrivers
    ) throws(Failure) {
        guard let storeUser = Accounts.user(named: options.storeUser) else {
            throw Failure(
                .invalidParameter, "There is no user \(options.storeUser).",
                hint: "The package creates it; or run: useradd --system \(options.storeUser)")
        }
        try Files.makePrivateFolder(options.state)
        let lock = try DaemonProcess.shareFolder(options.state)
        defer { withExtendedLifetime(lock) {} }
        let events = FileAndJournalLog(options.state)
        do throws(Failure) {
            try serve(
                options, try AuthorityConfiguration(options.configuration, group: storeUser.groupID), storeUser, events,
                isVirtual, drivers)
        } catch {
            events.note(.failed, error)
            throw error
        }
    }

    private static func serve(
        _ options: AuthorityOptions, _ configuration: AuthorityConfiguration, _ storeUser: UserIdentity,
        _ events: FileAndJournalLog, _ isVirtual: Bool, _ makeDrivers: MakeDrivers
    ) throws(Failure) {
        // Must precede the first secret in memory, and the creation of threads, which inherit the signal mask.
        let unlocked = try DaemonProcess.protectMemory()
        if let reason = unlocked() { events.note(.memoryNotLocked, Failure(.internalFailure, reason)) }
        let signals = DaemonProcess.blockEndingSignals()
        let activated = ActivatedSockets.take()
        let listeners = try AuthoritySockets(options.sockets, storeUser, activated)
        // After the sockets exist, no privilege is needed but those of prompts and of the identification of programs.
        try AuthorityPrivileges.drop()
        let clock = SystemClock()
        let identifier = ProgramIdentifier()
        let agents = AgentPrompter { prompt in
            sessionOfProcess(prompt.processID, prompt.userID, identifier)
        }
        let prompter = ChoosingPrompter([
            TerminalPrompter(program: options.prompt) { Accounts.user(numbered: $0) }, agents,
        ])
        let tier = configuration.tier
        let refusals = RefusalNotices(events, clock: clock)
        let virtual = VirtualHardware(
            isAllowed: configuration.allowsVirtualHardware, configuration: options.configuration)
        let drivers = try makeDrivers(options, virtual, clock, refusals).get()
        let sensor = Self.sensor(drivers.reader, options, configuration, refusals)
        let passwords = PAMPasswords(PAMPasswords.Places(program: options.accounts))
        var parts = AuthorityConnection.Parts(
            random: SystemRandomSource(), log: refusals, sessions: drivers.sessions, stretching: StretchThreads(),
            passcodeCost: 16
        ) { (process) throws(Failure) in
            try identifier.identify(process)
        } isRunning: { process in
            TerminalJob(process.processID)?.startTime == process.startTime
        } user: { (userID) throws(Failure) in
            let account = try Accounts.name(of: userID)
            let files = try AuthorityFolder(
                "\(options.state)/\(userID)", userID: userID, account: account, clock: clock,
                random: SystemRandomSource())
            return UserParts(
                tier: tier, isVirtual: isVirtual, reader: sensor, prompter: prompter, clock: clock,
                work: SerialWorkQueue { false },
                counters: files, permissions: files, passcodes: files, approvalKeys: files, enrolments: files,
                account: UserAccount(
                    name: account, passwords: passwords, firstPasscode: options.firstPasscode(configuration)))
        }
        parts.refusals = refusals
        if tier == .tpm { parts.passcodeChip = { carrier in chip(carrier, clock, configuration.ownerPassword) } }
        let authority = AuthorityServer(storeUser: storeUser.userID, parts: parts)
        let agentServer = AgentServer(agents, clock: clock, log: events) { (process) throws(Failure) in
            try identifier.identify(process)
        }
        do throws(SystemError) {
            let serving = try FrameServer(listeners.agents, handler: agentServer, idleSeconds: Int64(Int32.max))
            let server = try FrameServer(listeners.authority, handler: authority, idleSeconds: Int64(Int32.max))
            Processes.detachThread {
                do throws(SystemError) {
                    try serving.run()
                } catch {
                    events.note(.failed, Failure(error, "Prompts in windows are not served any more"))
                }
                // Keeps the handler, which the server does not own.
                withExtendedLifetime(agentServer) {}
            }
            DaemonProcess.stop(server, on: signals)
            events.note(.started, nil)
            try server.run()
            serving.stop()
        } catch {
            throw Failure(error, "latchkey-authd cannot serve \(options.sockets.folder)")
        }
        events.note(.stopped, nil)
        withExtendedLifetime(authority) {}
    }

    /// The sensor of all users: with a camera, if the administrator has allowed one.
    private static func sensor(
        _ finger: any BiometricReader, _ options: AuthorityOptions, _ configuration: AuthorityConfiguration,
        _ events: any EventLog
    ) -> any BiometricReader {
        guard configuration.usesFace else { return finger }
        let face = PAMFace(PAMFace.Places(program: options.accounts), log: events) { user in
            // A user whose account cannot be determined is not scanned for: the scan fails.
            try? Accounts.name(of: user)
        }
        return FingerOrFace(finger: finger, face: face)
    }

    /// The TPM that judges passcodes; latchkeyd passes its commands on.
    private static func chip(
        _ carrier: any CommandCarrier, _ clock: any Clock, _ ownerPassword: SecretBytes?
    ) -> any PasscodeChip {
        let random = SystemRandomSource()
        return TPMPasscodeChip(
            TPMChip(CarriedTPM(carrier), clock: clock, random: random, ownerPassword: ownerPassword), random: random)
    }

    private static func sessionOfProcess(
        _ process: Int32, _ user: UInt32, _ identifier: ProgramIdentifier
    ) -> String {
        guard let job = TerminalJob(process),
            let identity = try? identifier.identify(
                ProcessName(processID: process, startTime: job.startTime, userID: user))
        else { return "" }
        return identity.session
    }
}
