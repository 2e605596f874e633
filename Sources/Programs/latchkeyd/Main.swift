// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import SystemDriver

@main
enum Main {
    static func main() {
        let arguments = ProgramStart.begin()
        // All files that this process creates, including SQLite's, are accessible to its user only.
        umask(0o077)
        let options: Options
        do throws(Options.Question) {
            options = try Options(arguments: arguments)
        } catch {
            switch error {
            case .help: StandardOutput.write(Options.help)
            case .version: StandardOutput.write(Options.version + "\n")
            case .wrong(let argument):
                StandardError.write(
                    Failure(.invalidParameter, "unknown option \(argument)", hint: "See: latchkeyd --help"))
                ProgramEnd.now(64)
            }
            ProgramEnd.now()
        }
        do throws(Failure) {
            if let system = options.system {
                try SystemMain.run(system)
            } else if options.isDetached {
                try detach(options)
            } else {
                try serve(options)
            }
        } catch {
            StandardError.write(error)
            ProgramEnd.now(1)
        }
        ProgramEnd.now()
    }

    /// Starts the same program in a new session and does not wait for it.
    private static func detach(_ options: Options) throws(Failure) {
        guard let program = Environment.executable else {
            throw Failure(.daemonUnavailable, "The path of latchkeyd cannot be read from /proc.")
        }
        if options.isSimulated {
            // Must be stored before this process exits: the next client may start the daemon without the option.
            let folder = StoreFolder(try StoreLocation.folder())
            try Files.makePrivateFolder(folder.path)
            try persistTier(folder)
        }
        do throws(SystemError) {
            let arguments = options.isSimulated ? ["--simulated"] : []
            _ = try Processes.spawn(program, arguments, descriptors: [nil, nil, nil], newSession: true)
        } catch {
            throw Failure(.daemonUnavailable, "latchkeyd cannot be started: \(error.description).")
        }
    }

    private static func serve(_ options: Options) throws(Failure) {
        let folder = StoreFolder(try StoreLocation.folder())
        try Files.makePrivateFolder(folder.path)
        // What the first client had, and the daemon of all its programs must not retain: a folder that could not be
        // unmounted, and limits below what the system permits.
        _ = chdir("/")
        ProgramStart.raiseLimits()
        let events = FileAndJournalLog(folder.path)
        do throws(Failure) {
            try serve(options, folder, events)
        } catch {
            // Client programs start the daemon without a terminal, so standard error is usually not seen.
            events.record(.failed, error)
            throw error
        }
    }

    private static func serve(_ wanted: Options, _ folder: StoreFolder, _ events: FileAndJournalLog) throws(Failure) {
        let lock = try DaemonLock.open(folder.path)
        guard try becomeOnly(lock, folder) else { return }
        var options = wanted
        if options.isSimulated { try persistTier(folder) }
        try options.read(folder.configuration)
        // Must precede the first secret in memory.
        let unlockedMemory = try DaemonProcess.protectMemory()
        if let reason = unlockedMemory() { events.record(.memoryNotLocked, Failure(.internalFailure, "\(reason)")) }
        // Must precede the creation of threads, which inherit the signal mask: a thread that does not block these
        // signals would receive them, and they would end the process.
        let signals = DaemonProcess.blockEndingSignals()
        let path = try SocketPlace.choose(store: folder.path)
        defer { DaemonLock.withdraw(lock) }
        let listener = try serving(path) { () throws(SystemError) in try Sockets.listen(path) }
        let daemon = try Daemon(options, folder: folder, log: events, unlockedMemory: unlockedMemory)
        try serving(path) { () throws(SystemError) in
            let server = try FrameServer(listener, handler: daemon, idleSeconds: options.idleSeconds)
            DaemonProcess.stop(on: signals) { server.stop() }
            try DaemonLock.announce(DaemonLock.Address(socket: path, processID: getpid()), in: lock)
            events.record(.started, nil)
            daemon.begin()
            try server.run()
        }
        daemon.stop()
        events.record(.stopped, nil)
        Files.remove(path)
    }

    /// Runs `body`; a system error becomes a failure that names the socket.
    private static func serving<R>(_ path: String, _ body: () throws(SystemError) -> R) throws(Failure) -> R {
        do throws(SystemError) {
            return try body()
        } catch {
            throw Failure(error, "The daemon cannot serve \(path)")
        }
    }

    /// Stores in the configuration that this store is simulated, so that a daemon started later without the option
    /// uses the right tier. The tier of an existing store does not change.
    private static func persistTier(_ folder: StoreFolder) throws(Failure) {
        guard !Files.exists(folder.configuration), !Files.exists(folder.database) else { return }
        do throws(SystemError) {
            try Files.replace(folder.configuration, with: SecretBytes("tier = simulated\n".utf8))
        } catch {
            throw Failure(error, "\(folder.configuration) cannot be written")
        }
    }

    /// Waits until this process holds the store's lock; false when another daemon already serves the store.
    private static func becomeOnly(_ lock: Descriptor, _ folder: StoreFolder) throws(Failure) -> Bool {
        if DaemonLock.take(lock) { return true }
        let deadline = Uptime.deadline(seconds: Limits.startSeconds)
        do throws(SystemError) {
            let watch = try FileWatch(folder.lock)
            while Uptime.nanoseconds < deadline {
                if DaemonLock.take(lock) { return true }
                // A socket that refuses connections belongs to a daemon that is starting or ending: the lock decides.
                if let address = DaemonLock.address(lock), (try? Sockets.connect(address.socket)) != nil {
                    return false
                }
                // The holder changes the file when it starts to listen and when it ends.
                _ = try watch.wait(until: min(deadline, Uptime.deadline(seconds: 1)))
            }
        } catch {
            throw Failure(error, "\(folder.lock) cannot be watched")
        }
        throw Failure(.daemonUnavailable, "Another process holds \(folder.lock) and does not listen.")
    }
}
