// SPDX-License-Identifier: Apache-2.0

import AuthorityDriver
import Glibc
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import LatchkeySystem
import SystemDriver
import TPMDriver

/// Runs the daemon of a system tier: one process that accepts connections, and one for each user that it starts.
enum SystemMain {
    /// The name of the socket in the unit of the service manager.
    private static let socketName = "keychain"

    static func run(_ wanted: SystemOptions) throws(Failure) {
        // The process of a user has none.
        let activated = ActivatedSockets.take()[socketName]
        do throws(Failure) {
            var options = wanted
            try options.read()
            try run(options, activated)
        } catch {
            activated.map(listener)?.refuseWaiting(error)
            throw error
        }
    }

    private static func run(_ options: SystemOptions, _ activated: Descriptor?) throws(Failure) {
        let events = FileAndJournalLog(options.state)
        do throws(Failure) {
            if options.worker == nil {
                try Files.makePrivateFolder(options.state)
                try accept(options, activated, events)
            } else {
                try serve(options, events)
            }
        } catch {
            events.record(.failed, error)
            throw error
        }
    }

    private static func listener(_ socket: Descriptor) -> UserAcceptor.Listener {
        .ofPrograms(socket, payload: HostSession.payload(of:))
    }

    /// Accepts connections, and hands each to the process of its user.
    private static func accept(
        _ options: SystemOptions, _ activated: Descriptor?, _ events: FileAndJournalLog
    ) throws(Failure) {
        let lock = try DaemonProcess.shareFolder(options.state)
        defer { withExtendedLifetime(lock) {} }
        try DaemonProcess.protect()
        // Must precede the creation of threads, which inherit the signal mask.
        let signals = DaemonProcess.blockEndingSignals()
        let state = options.state
        try serving(options) { () throws(SystemError) in
            // Every user may connect; the kernel reports who does.
            let socket: Descriptor
            if let activated {
                socket = activated
            } else {
                socket = try Sockets.listen(options.sockets.keychain, mode: 0o666)
            }
            let acceptor = try UserAcceptor(
                [listener(socket)], WorkerProgram(Array(CommandLine.arguments.dropFirst())), log: events,
                // Without a service manager nothing would start the daemon again, so it does not exit on idle.
                endsWhenIdle: activated != nil
            ) { Files.exists("\(state)/\($0)") }
            DaemonProcess.stop(on: signals) { acceptor.stop() }
            events.record(.started, nil)
            try acceptor.run()
        }
        events.record(.stopped, nil)
        if activated == nil { Files.remove(options.sockets.keychain) }
    }

    private static func serve(_ options: SystemOptions, _ events: FileAndJournalLog) throws(Failure) {
        let channel = try WorkerChannel(user: options.worker ?? .max, listeners: 1)
        // Must precede the first secret in memory.
        let unlockedMemory = try DaemonProcess.protectMemory()
        if let reason = unlockedMemory() { events.record(.memoryNotLocked, Failure(.internalFailure, "\(reason)")) }
        // Must precede the creation of threads, which inherit the signal mask.
        let signals = DaemonProcess.blockEndingSignals()
        DaemonProcess.checkAccount(of: channel)
        let folder = StoreFolder("\(options.state)/\(channel.user)")
        let count = SessionCount()
        let (clock, random) = (SystemClock(), SystemRandomSource())
        let chip = options.enclave == .tpm ? chip(options) : nil
        let link = AuthorityLink(
            clock: clock, work: SerialWorkQueue { false }, log: events, carrier: options.tier == .tpm ? chip : nil,
            connect: AuthoritySocket.connect(
                options.sockets.authority, servedBy: options.authority, for: channel.user))
        let keychain = UserKeychain(
            UserKeychain.Parts(
                userID: channel.user, tier: options.tier, folder: folder,
                lock: UserFolder(folder.path), vaults: try vaults(options, chip),
                modules: KeyModules(
                    options.enclave, chip: chip, allowsVirtual: options.allowsVirtualHardware,
                    configuration: options.configuration, clock: clock,
                    random: random),
                acceptsVirtual: options.allowsVirtualHardware, link: link, clock: clock,
                random: random, log: events, unlockedMemory: unlockedMemory,
                groups: InstalledGroups()
            ) { count.isOneAtMost })
        let daemon = UserDaemon(keychain, channel, link, count, random)
        link.start()
        if let chip, options.ownerPassword != nil { checkOwner(chip, events) }
        try serving(options) { () throws(SystemError) in
            let server = try FrameServer(
                channel.listener(0), handler: daemon, idleSeconds: Limits.idleSeconds, bindsToSender: true,
                accept: channel.accept(0))
            // Weak: at the end the server is released with its connections, which hold the store open.
            channel.whenEnded { [weak server] in server?.stop() }
            DaemonProcess.stop(on: signals) { [weak server] in server?.stop() }
            do throws(Failure) { try channel.ready() } catch { return }
            try server.run()
        }
        daemon.stop()
        chip?.close()
    }

    private static func chip(_ options: SystemOptions) -> TPMChip {
        TPMChip(
            TPMPlace(options.tpm), clock: SystemClock(), random: SystemRandomSource(),
            ownerPassword: options.ownerPassword)
    }

    /// Checks the password of the owner hierarchy, beside serving: without this, a wrong one would show with the first new
    /// user.
    private static func checkOwner(_ chip: TPMChip, _ events: FileAndJournalLog) {
        Processes.detachThread {
            do throws(Failure) { try chip.checkOwner() } catch { events.record(.ownerPasswordRefused, error) }
        }
    }

    private static func vaults(_ options: SystemOptions, _ chip: TPMChip?) throws(Failure) -> StoreVaults {
        switch (options.tier, chip) {
        case (.file, _): return .files
        case (.tpm, let chip?):
            return .tpm(
                SealedVaults(
                    chip: chip, binding: options.seal, allowsVirtual: options.allowsVirtualHardware,
                    configuration: options.configuration))
        case (.tpm, nil), (.user, _), (.simulated, _):
            throw Failure(.internalFailure, "The services cannot serve tier \(options.tier.name).")
        }
    }

    private static func serving<R>(_ options: SystemOptions, _ body: () throws(SystemError) -> R) throws(Failure) -> R {
        do throws(SystemError) {
            return try body()
        } catch {
            throw Failure(error, "The daemon cannot serve \(options.sockets.keychain)")
        }
    }
}
