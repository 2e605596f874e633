// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
import KeyFileDriver
import LatchkeyModel
import LatchkeySystem
import LatchkeyTransport

@main
enum Main {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        // Whatever this process makes, SQLite's files included, is for its user alone.
        umask(0o077)
        let options: Options
        do throws(Options.Question) {
            options = try Options(arguments: Array(CommandLine.arguments.dropFirst()))
        } catch {
            switch error {
            case .help: print(Options.help, terminator: "")
            case .version: print(Options.version)
            case .wrong(let argument):
                log(Failure(.invalidParameter, "unknown option \(argument)", hint: "See: latchkeyd --help"))
                exit(64)
            }
            exit(0)
        }
        do throws(Failure) {
            if options.isDetached { try detach(options) } else { try serve(options) }
        } catch {
            log(error)
            exit(1)
        }
    }

    /// Starts the same program in a session of its own and leaves it alone.
    private static func detach(_ options: Options) throws(Failure) {
        guard let program = Environment.executable else {
            throw Failure(.daemonUnavailable, "The path of latchkeyd cannot be read from /proc.")
        }
        if options.isSimulated {
            // Before this ends: a client that comes next may start the daemon itself.
            let folder = StoreFolder(try StoreLocation.folder())
            try Files.makePrivateFolder(folder.path)
            try keepTier(folder)
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
        let events = FileAndJournalLog(folder.path)
        do throws(Failure) {
            try serve(options, folder, events)
        } catch {
            // Programs start it without a terminal: what is said on standard error is read by nobody.
            events.note(.failed, error)
            throw error
        }
    }

    private static func serve(
        _ wanted: Options, _ folder: StoreFolder, _ events: FileAndJournalLog
    ) throws(Failure) {
        let lock = try DaemonLock.open(folder.path)
        guard try becomeOnly(lock, folder) else { return }
        var options = wanted
        if options.isSimulated { try keepTier(folder) }
        try options.read(folder.configuration)
        // Before there is any secret.
        let unlockedMemory = try protectMemory()
        if let reason = unlockedMemory() { events.note(.memoryNotLocked, Failure(.internalFailure, reason)) }
        // Before there is any other thread: one that does not block a signal would die of it, and the process too.
        let signals = blockEndingSignals()
        let path = try SocketPlace.choose(store: folder.path)
        do throws(SystemError) {
            let listener = try Sockets.listen(path)
            let daemon = Daemon(options, folder: folder, log: events, unlockedMemory: unlockedMemory)
            let server = try FrameServer(listener, handler: daemon, idleSeconds: options.idleSeconds)
            stop(server, on: signals)
            try DaemonLock.announce(DaemonLock.Address(socket: path, processID: getpid()), in: lock)
            events.note(.started, nil)
            daemon.begin()
            try server.run()
            daemon.stop()
            events.note(.stopped, nil)
            DaemonLock.withdraw(lock)
            Files.remove(path)
        } catch {
            DaemonLock.withdraw(lock)
            throw Failure(error, "The daemon cannot serve \(path)")
        }
    }

    /// Keeps secrets in memory from other programs and from the disk.
    ///
    /// - Returns: what tells why secrets may be swapped out; nil while none may.
    private static func protectMemory() throws(Failure) -> @Sendable () -> String? {
        ProcessProtection.returnLargeBlocks()
        do throws(SystemError) {
            try ProcessProtection.enable()
        } catch {
            throw Failure(
                .internalFailure, "The daemon's memory cannot be kept from other programs: \(error.description).")
        }
        // A store without a keychain that opens is worse than one whose keys could be swapped out: `status` says it.
        let reason = SecretMemory.lock().map { "The kernel refuses to lock it: \($0)." }
        return {
            if let reason { return reason }
            let missed = SecretMemory.missedCount
            return missed == 0 ? nil : "The locked memory was too small for \(missed) secrets."
        }
    }

    /// Writes down that this store is a simulated one, so that whoever starts its daemon again starts the right one.
    /// A store that is there already keeps the tier it has.
    private static func keepTier(_ folder: StoreFolder) throws(Failure) {
        guard !Files.exists(folder.configuration), !Files.exists(folder.database) else { return }
        do throws(SystemError) {
            try Files.replace(folder.configuration, with: SecretBytes("tier = simulated\n".utf8))
        } catch {
            throw Failure(error, "\(folder.configuration) cannot be written")
        }
    }

    /// Waits until this process is the store's daemon; false when another one serves already.
    private static func becomeOnly(_ lock: Descriptor, _ folder: StoreFolder) throws(Failure) -> Bool {
        if DaemonLock.take(lock) { return true }
        let deadline = Uptime.deadline(seconds: Limits.startSeconds)
        do throws(SystemError) {
            let watch = try FileWatch(folder.lock)
            while Uptime.nanoseconds < deadline {
                if DaemonLock.take(lock) { return true }
                // A socket that takes no connection is not yet, or no more, served: the lock decides.
                if let address = DaemonLock.address(lock), (try? Sockets.connect(address.socket)) != nil {
                    return false
                }
                // The holder is about to listen, or about to end: both touch the file.
                _ = try watch.wait(until: min(deadline, Uptime.deadline(seconds: 1)))
            }
        } catch {
            throw Failure(error, "\(folder.lock) cannot be watched")
        }
        throw Failure(.daemonUnavailable, "Another process holds \(folder.lock) and does not listen.")
    }

    /// Keeps the signals that end the daemon from ending it at once.
    private static func blockEndingSignals() -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        return signals
    }

    /// SIGTERM and SIGINT end the daemon after the request under way; a thread of its own waits for them.
    private static func stop(_ server: FrameServer, on signals: sigset_t) {
        Processes.detachThread {
            var waited = signals
            var number: CInt = 0
            sigwait(&waited, &number)
            server.stop()
        }
    }
}
