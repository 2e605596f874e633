// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem

/// Finds the daemon of the user's store and starts it when it is not running.
package enum DaemonFinder {
    /// Back-off after the first start, in nanoseconds. Longer than a daemon needs on a loaded machine until it has the
    /// lock, so that a client does not start a second one beside it.
    private static let shortestPause: Int64 = 250_000_000

    /// Connects to the system's daemon if this user has one and has no store of their own, else to the user's daemon,
    /// starting it if necessary. Blocks until it listens, at most `Limits.startSeconds`.
    package static func connect() throws(Failure) -> Descriptor {
        if let system = try connectToSystem() { return system }
        return try connectToOwn()
    }

    /// As `connect`, but starts no daemon: nil if the user's own does not run.
    package static func connectToRunning() throws(Failure) -> Descriptor? {
        if let system = try connectToSystem() { return system }
        let folder = try StoreLocation.folder()
        guard Files.exists(folder + "/" + DaemonLock.fileName) else { return nil }
        return try connect(DaemonLock.open(folder))
    }

    private static func connectToSystem() throws(Failure) -> Descriptor? {
        // Without it the app would get the items of another group.
        try Environment.requireText("LATCHKEY_APP_ID")
        guard let user = try systemUser() else { return nil }
        return try SystemSockets.connect(SystemSockets.installed.keychain, servedBy: user)
    }

    /// The user as which the system's daemon runs, if this process uses that daemon; nil if it uses the user's own.
    ///
    /// A store that exists is used until it was moved (`latchkey migrate`): with the system's keychain its items would
    /// seem to be lost. `LATCHKEY_HOME` names a store and thereby the user's own daemon.
    ///
    /// Where an administrator chose a tier, no store of the weaker tier `user` is created while the sockets are missing,
    /// for example before the services have started: it would be used from then on.
    ///
    /// - Parameters:
    ///   - sockets: the sockets of the system's daemon.
    ///   - ownStore: the folder of the user's own store; nil for a user without a home folder, who has no store.
    /// - Throws: `daemonUnavailable` if the system's keychain is configured and its socket is missing; the failures of
    ///   `SystemSockets.storeUser`.
    package static func systemUser(
        _ sockets: SystemSockets = .installed, ownStore: String? = try? StoreLocation.folder()
    ) throws(Failure) -> UInt32? {
        guard Environment.value("LATCHKEY_HOME") == nil else { return nil }
        let user = try sockets.storeUser()
        if let ownStore, Files.exists(ownStore + "/root.key") { return nil }
        if user == nil, Files.exists(sockets.configuration) {
            throw Failure(
                .daemonUnavailable,
                "The system's keychain is configured in \(sockets.configuration), but \(sockets.keychain) is missing.",
                hint: "Ask an administrator to run: systemctl enable --now latchkeyd.socket")
        }
        return user
    }

    /// Connects to the service that shows prompts: `latchkey-authd` of the system, or the user's own daemon.
    package static func connectAsAgent() throws(Failure) -> Descriptor {
        guard try systemUser() != nil else { return try connectToOwn() }
        return try SystemSockets.connect(SystemSockets.installed.agents, servedBy: 0)
    }

    /// Connects to the daemon of the user's own store, starting it if necessary.
    static func connectToOwn() throws(Failure) -> Descriptor {
        let folder = try StoreLocation.folder()
        try Files.makePrivateFolder(folder)
        let lock = try DaemonLock.open(folder)
        // The usual case: the daemon is running.
        if let connection = try connect(lock) { return connection }
        let deadline = Uptime.deadline(seconds: Limits.startSeconds)
        let watch: FileWatch
        do throws(SystemError) {
            watch = try FileWatch(folder + "/" + DaemonLock.fileName)
        } catch {
            throw Failure(.daemonUnavailable, "The daemon's lock cannot be watched: \(error.description).")
        }
        // Back-off for a daemon that ends as soon as it was started.
        var (nextStart, pause) = (Uptime.nanoseconds, shortestPause)
        let begin = wallTimeMicroseconds()
        while Uptime.nanoseconds < deadline {
            if let connection = try connect(lock) { return connection }
            var until = min(deadline, Uptime.deadline(seconds: 1))
            if !DaemonLock.isTaken(lock) {
                if nextStart <= Uptime.nanoseconds {
                    if let failure = DaemonLog.failure(in: folder, since: begin) { throw failure }
                    try start()
                    nextStart = Uptime.nanoseconds + pause
                    pause *= 2
                }
                until = min(until, nextStart)
            }
            // A daemon that starts, ends or is killed changes or closes the lock file.
            _ = try? watch.wait(until: until)
        }
        throw Failure(
            .daemonUnavailable, "latchkeyd did not start within \(Limits.startSeconds) seconds.",
            hint: "See why: latchkey log --daemon")
    }

    /// Waits until a daemon other than `process` listens, or the deadline (`Uptime` nanoseconds) passes. Starts no
    /// daemon.
    ///
    /// - Parameter process: a process id; nil excludes the daemon that is running now.
    package static func waitForOther(than process: Int32?, until deadline: Int64) {
        guard Uptime.nanoseconds < deadline else { return }
        // With socket activation the socket remains, so there is no event to wait for.
        if (try? systemUser()) != nil { return waitForNothing(until: deadline) }
        guard let folder = try? StoreLocation.folder(), (try? Files.makePrivateFolder(folder)) != nil,
            let lock = try? DaemonLock.open(folder), let watch = try? FileWatch(folder + "/" + DaemonLock.fileName)
        else { return waitForNothing(until: deadline) }
        let process = process ?? DaemonLock.address(lock)?.processID
        while Uptime.nanoseconds < deadline {
            // The file still contains the address of a daemon that was killed.
            if DaemonLock.isTaken(lock), let address = DaemonLock.address(lock), address.processID != process { return }
            guard (try? watch.wait(until: deadline)) != nil else { return waitForNothing(until: deadline) }
        }
    }

    /// Sleeps until the deadline: without a store folder or a watch there is no event to wait for.
    private static func waitForNothing(until deadline: Int64) {
        while case let left = deadline - Uptime.nanoseconds, left > 0 {
            poll(nil, 0, CInt(clamping: left / 1_000_000 + 1))
        }
    }

    private static func connect(_ lock: Descriptor) throws(Failure) -> Descriptor? {
        guard let address = DaemonLock.address(lock), let descriptor = try? Sockets.connect(address.socket),
            let peer = try? Sockets.peer(descriptor)
        else { return nil }
        // The socket of another user would receive this user's secrets.
        guard peer.userID == geteuid() else {
            throw Failure(
                .peerNotTrusted, "The socket \(address.socket) belongs to user \(peer.userID).",
                hint: "Remove \(DaemonLock.fileName) in the store's folder and try again.")
        }
        return descriptor
    }

    // MARK: - Starting

    private static func start() throws(Failure) {
        let program = try DaemonProgram.find()
        do throws(SystemError) {
            // This process starts the daemon in a session of its own and exits, so that the caller has no child
            // process to wait for.
            let process = try Processes.spawn(program, ["--detach"], descriptors: [nil, nil, nil], newSession: true)
            Processes.wait(process)
        } catch {
            throw Failure(
                .daemonUnavailable, "\(program) cannot be started: \(error.description).",
                hint: "Install it again with: make install PREFIX=~/.local")
        }
    }
}
