// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem
import LatchkeyTransport

/// Finds the daemon of the user's store and starts it when it is not running.
package enum DaemonFinder {
    /// Nanoseconds between the first two starts.
    private static let shortestPause: Int64 = 8_000_000

    /// A connection to the daemon; waits for one that is starting.
    package static func connect() throws(Failure) -> Descriptor {
        let folder = try StoreLocation.folder()
        try Files.makePrivateFolder(folder)
        let lock = try DaemonLock.open(folder)
        // The usual case, in which nothing has to be waited for.
        if let connection = try connect(lock) { return connection }
        let deadline = Uptime.deadline(seconds: Limits.startSeconds)
        let watch: FileWatch
        do throws(SystemError) {
            watch = try FileWatch(folder + "/" + DaemonLock.fileName)
        } catch {
            throw Failure(.daemonUnavailable, "The daemon's lock cannot be watched: \(error.description).")
        }
        // A daemon that ends as soon as it is started is started less and less often.
        var (nextStart, pause) = (Uptime.nanoseconds, shortestPause)
        while Uptime.nanoseconds < deadline {
            if let connection = try connect(lock) { return connection }
            var until = min(deadline, Uptime.deadline(seconds: 1))
            if !DaemonLock.isTaken(lock) {
                if nextStart <= Uptime.nanoseconds {
                    try start()
                    nextStart = Uptime.nanoseconds + pause
                    pause *= 2
                }
                until = min(until, nextStart)
            }
            // Whoever starts, ends or is killed changes or closes the lock.
            _ = try? watch.wait(until: until)
        }
        throw Failure(
            .daemonUnavailable, "latchkeyd did not come up within \(Limits.startSeconds) seconds.",
            hint: "Run latchkeyd in a terminal to see why.")
    }

    /// Waits, starting none, until the deadline or until a daemon listens that is not of that process.
    ///
    /// - Parameter process: nil for the daemon that is there now.
    package static func waitForOther(than process: Int32?, until deadline: Int64) {
        guard Uptime.nanoseconds < deadline else { return }
        guard let folder = try? StoreLocation.folder(), (try? Files.makePrivateFolder(folder)) != nil,
            let lock = try? DaemonLock.open(folder), let watch = try? FileWatch(folder + "/" + DaemonLock.fileName)
        else { return waitForNothing(until: deadline) }
        let process = process ?? DaemonLock.address(lock)?.processID
        while Uptime.nanoseconds < deadline {
            // The address of a daemon that was killed is there still.
            if DaemonLock.isTaken(lock), let address = DaemonLock.address(lock), address.processID != process { return }
            guard (try? watch.wait(until: deadline)) != nil else { return waitForNothing(until: deadline) }
        }
    }

    /// Where no daemon can be, or none can be watched, there is no event to wait for.
    private static func waitForNothing(until deadline: Int64) {
        while case let left = deadline - Uptime.nanoseconds, left > 0 {
            poll(nil, 0, CInt(clamping: left / 1_000_000 + 1))
        }
    }

    private static func connect(_ lock: Descriptor) throws(Failure) -> Descriptor? {
        guard let address = DaemonLock.address(lock), let descriptor = try? Sockets.connect(address.socket),
            let peer = try? Sockets.peer(descriptor)
        else { return nil }
        // A socket of someone else would be given the secrets of this user.
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
            // The first process starts the daemon in a session of its own and ends, so that no child is left to us.
            let process = try Processes.spawn(
                program, ["--detach"], descriptors: [nil, nil, nil], newSession: true)
            Processes.wait(process)
        } catch {
            throw Failure(
                .daemonUnavailable, "\(program) cannot be started: \(error.description).",
                hint: "Install it again with: make install PREFIX=~/.local")
        }
    }
}
