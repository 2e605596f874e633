// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import Glibc
import LatchkeyAuthority
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SystemDriver
import TPMDriver

/// The process that authenticates one user: their prompts, tries, passcode records, and who their programs are.
struct UserProcess {
    /// The numbers of the listening sockets, in the order in which the accepting process has them.
    private enum Listener {
        static let authority = 0
        static let agents = 1
    }

    let options: AuthorityOptions
    let configuration: AuthorityConfiguration
    let storeUser: UserIdentity
    let events: FileAndJournalLog
    let isVirtual: Bool

    /// Serves until the accepting process ends this one.
    func serve(_ user: UInt32) throws(Failure) {
        let channel = try WorkerChannel(user: user, listeners: 2)
        // Must precede the first secret in memory, and the creation of threads, which inherit the signal mask.
        let unlocked = try DaemonProcess.protectMemory()
        if let reason = unlocked() { events.record(.memoryNotLocked, Failure(.internalFailure, "\(reason)")) }
        let signals = DaemonProcess.blockEndingSignals()
        try AuthorityPrivileges.drop()
        DaemonProcess.checkAccount(of: channel)
        let clock = SystemClock()
        let identifier = ProgramIdentifier()
        let agents = AgentPrompter { prompt in
            Self.sessionOfProcess(prompt.processID, prompt.userID, identifier)
        }
        let refusals = RefusalNotices(events, clock: clock)
        let sensors = ProcessSensors(
            ServiceSensors(channel), user: user, isTrusted: true, clock: clock, log: CountedRefusals(refusals))
        var parts = parts(user, sensors, agents, identifier, refusals, clock)
        parts.refusals = refusals
        if configuration.tier == .tpm {
            parts.passcodeChip = { [configuration] carrier in Self.chip(carrier, clock, configuration.ownerPassword) }
        }
        let agentServer = AgentServer(agents, of: user, clock: clock, log: events) { (process) throws(Failure) in
            try identifier.identify(process)
        }
        let authority = AuthorityServer(storeUser: storeUser.userID, parts: parts) {
            // The programs that show prompts are idle most of the time.
            guard agentServer.isUnused else { return false }
            do throws(Failure) { try channel.offerToLeave() } catch { return true }
            return false
        }
        do throws(SystemError) {
            let serving = try FrameServer(
                channel.listener(Listener.agents), handler: agentServer, idleSeconds: Int64(Int32.max),
                deadlines: AgentServer.deadlines, bindsToSender: true, accept: channel.accept(Listener.agents))
            let server = try FrameServer(
                channel.listener(Listener.authority), handler: authority, idleSeconds: Limits.idleSeconds,
                bindsToSender: true, accept: channel.accept(Listener.authority))
            // Weak: at the end the server is released with its connections, which hold the store open.
            channel.whenEnded { [weak server, weak serving] in
                server?.stop()
                serving?.stop()
            }
            Processes.detachThread { [events] in
                do throws(SystemError) {
                    try serving.run()
                } catch {
                    events.record(.failed, Failure(error, "Prompts in windows are not served any more"))
                }
                // Retains the handler, which the server does not own.
                withExtendedLifetime(agentServer) {}
            }
            DaemonProcess.stop(on: signals) { [weak server] in server?.stop() }
            // The accepting process has ended, and this one ends with it.
            do throws(Failure) { try channel.ready() } catch { return }
            try server.run()
            serving.stop()
        } catch {
            throw Failure(error, "latchkey-authd cannot serve user \(user)")
        }
        withExtendedLifetime((authority, sensors)) {}
    }

    private func parts(
        _ user: UInt32, _ sensors: ProcessSensors, _ agents: AgentPrompter, _ identifier: ProgramIdentifier,
        _ refusals: RefusalNotices, _ clock: SystemClock
    ) -> AuthorityConnection.Parts {
        let prompter = ChoosingPrompter([
            TerminalPrompter(program: options.prompt) { Accounts.user(numbered: $0) }, agents,
        ])
        let sensor = sensor(sensors, refusals)
        let passwords = PAMPasswords(PAMPasswords.Places(program: options.accounts))
        let lock = UserFolder("\(options.state)/\(user)")
        return AuthorityConnection.Parts(
            random: SystemRandomSource(), log: refusals, sessions: sensors, stretching: StretchThreads(threads: 1),
            passcodeCost: 16
        ) { (process) throws(Failure) in
            guard process.userID == user else { throw Self.otherUser(process.userID) }
            return try identifier.identify(process)
        } isRunning: { process in
            TerminalJob(process.processID)?.startTime == process.startTime
        } user: { [options, configuration, isVirtual] (userID) throws(Failure) in
            guard userID == user else { throw Self.otherUser(userID) }
            let account = try Accounts.name(of: userID)
            try lock.take()
            let files = try AuthorityFolder(
                lock.path, userID: userID, account: account, clock: clock, random: SystemRandomSource())
            return UserParts(
                tier: configuration.tier, isVirtual: isVirtual, reader: sensor, prompter: prompter, clock: clock,
                work: SerialWorkQueue { false },
                files: files,
                account: UserAccount(
                    name: account, passwords: passwords, firstPasscode: options.firstPasscode(configuration)))
        }
    }

    private static func otherUser(_ user: UInt32) -> Failure {
        Failure(.notPermitted, "This process of latchkey-authd does not serve user \(user).")
    }

    /// The sensor: with a camera, if the administrator has allowed one.
    private func sensor(_ finger: any BiometricReader, _ events: any EventLog) -> any BiometricReader {
        guard configuration.usesFace else { return finger }
        let face = PAMFace(PAMFace.Places(program: options.accounts), log: events) { user in
            // A user whose account cannot be determined is not scanned for: the scan fails.
            try? Accounts.name(of: user)
        }
        return FingerOrFace(finger: finger, face: face)
    }

    /// The TPM that verifies passcodes; latchkeyd passes its commands on.
    private static func chip(
        _ carrier: any CommandCarrier, _ clock: any Clock, _ ownerPassword: SecretBytes?
    ) -> any PasscodeChip {
        TPMPasscodeChip(carriedBy: carrier, clock: clock, random: SystemRandomSource(), ownerPassword: ownerPassword)
    }

    private static func sessionOfProcess(_ process: Int32, _ user: UInt32, _ identifier: ProgramIdentifier) -> String {
        guard let job = TerminalJob(process),
            let identity = try? identifier.identify(
                ProcessName(processID: process, startTime: job.startTime, userID: user))
        else { return "" }
        return identity.session
    }
}
