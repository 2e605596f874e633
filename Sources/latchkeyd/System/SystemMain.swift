// SPDX-License-Identifier: Apache-2.0

import AuthorityDriver
import DaemonProcess
import Glibc
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyTransport
import SystemDriver
import TPMDriver

/// Runs the daemon of a system tier.
enum SystemMain {
    /// The name of the socket in the unit of the service manager.
    private static let socketName = "keychain"

    static func run(_ wanted: SystemOptions) throws(Failure) {
        var options = wanted
        try options.read()
        try Files.makePrivateFolder(options.state)
        let lock = try DaemonProcess.shareFolder(options.state)
        defer { withExtendedLifetime(lock) {} }
        let events = FileAndJournalLog(options.state)
        do throws(Failure) {
            try serve(options, events)
        } catch {
            events.note(.failed, error)
            throw error
        }
    }

    private static func serve(_ options: SystemOptions, _ events: FileAndJournalLog) throws(Failure) {
        // Must precede the first secret in memory.
        let unlockedMemory = try DaemonProcess.protectMemory()
        if let reason = unlockedMemory() { events.note(.memoryNotLocked, Failure(.internalFailure, reason)) }
        // Must precede the creation of threads, which inherit the signal mask.
        let signals = DaemonProcess.blockEndingSignals()
        let activated = ActivatedSockets.take()[socketName]
        let listener = try serving(options) { () throws(SystemError) in
            // Every user may connect; the kernel reports who does.
            if let activated { return activated }
            return try Sockets.listen(options.sockets.keychain, mode: 0o666)
        }
        let count = SessionCount()
        let (clock, random) = (SystemClock(), SystemRandomSource())
        let chip =
            options.enclave == .tpm
            ? TPMChip(TPMPlace(options.tpm), clock: clock, random: random, ownerPassword: options.ownerPassword) : nil
        let link = AuthorityLink(
            clock: clock, work: SerialWorkQueue { false }, log: events, carrier: options.tier == .tpm ? chip : nil,
            connect: AuthoritySocket.connect(options.sockets.authority, servedBy: options.authority))
        let keychains = SystemKeychains(
            SystemKeychains.Shared(
                tier: options.tier, folder: options.state, vaults: try vaults(options, chip),
                modules: KeyModules(
                    options.enclave, chip: chip, allowsVirtual: options.allowsVirtualHardware,
                    configuration: options.configuration, clock: clock,
                    random: random),
                acceptsVirtual: options.allowsVirtualHardware, link: link, clock: clock,
                random: random, log: events, unlockedMemory: unlockedMemory,
                groups: InstalledGroups()
            ) { count.isOneAtMost })
        let daemon = SystemDaemon(keychains, link, count)
        link.start()
        if let chip, options.ownerPassword != nil { checkOwner(chip, events) }
        try serving(options) { () throws(SystemError) in
            // Without a service manager nothing would start the daemon again, so it does not exit on idle.
            let server = try FrameServer(
                listener, handler: daemon, idleSeconds: activated == nil ? Int64(Int32.max) : Limits.idleSeconds)
            DaemonProcess.stop(server, on: signals)
            events.note(.started, nil)
            try server.run()
        }
        daemon.stop()
        chip?.close()
        events.note(.stopped, nil)
        if activated == nil { Files.remove(options.sockets.keychain) }
    }

    /// Checks the password of the owner hierarchy, beside serving: without this, a wrong one would show with the first new
    /// user.
    private static func checkOwner(_ chip: TPMChip, _ events: FileAndJournalLog) {
        Processes.detachThread {
            do throws(Failure) { try chip.checkOwner() } catch { events.note(.ownerPasswordRefused, error) }
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

    private static func serving<R>(
        _ options: SystemOptions, _ body: () throws(SystemError) -> R
    ) throws(Failure) -> R {
        do throws(SystemError) {
            return try body()
        } catch {
            throw Failure(error, "The daemon cannot serve \(options.sockets.keychain)")
        }
    }
}
