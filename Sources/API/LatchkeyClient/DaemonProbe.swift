// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem

/// Asks a daemon for its status without starting one, within a time limit.
///
/// Where a service manager listens on the system's socket, it starts the service for this connection, as for every other.
package enum DaemonProbe {
    /// The result of a question.
    package enum Answer: Equatable, Sendable {
        case notRunning
        case answered(StatusReport)
        /// A daemon runs, but gives no usable answer.
        ///
        /// - Parameter process: the daemon's process id, where it is known.
        case failed(Failure, process: Int32?)
    }

    /// Asks the system's daemon, which runs as `user`.
    package static func ask(_ sockets: SystemSockets, servedBy user: UInt32, seconds: Int64) -> Answer {
        do throws(Failure) {
            let path = sockets.keychain
            return .answered(try status(SystemSockets.connect(path, servedBy: user, seconds: seconds), seconds))
        } catch {
            return .failed(error, process: nil)
        }
    }

    /// Asks the daemon of the store in `folder`. Creates neither the folder nor the lock file.
    package static func ask(storeIn folder: String, seconds: Int64) -> Answer {
        let address: DaemonLock.Address
        do throws(Failure) {
            guard let found = try self.address(in: folder, seconds) else {
                return DaemonLog.failure(in: folder).map { .failed($0, process: nil) } ?? .notRunning
            }
            address = found
        } catch {
            return .failed(error, process: nil)
        }
        do throws(Failure) {
            return .answered(try status(connect(address, seconds), seconds))
        } catch {
            return .failed(error, process: address.processID)
        }
    }

    /// The process that listens for the store in `folder`, as the kernel names it; nil if none does. What a daemon says of
    /// itself could name a process that it wants to be ended.
    ///
    /// - Throws: `daemonUnavailable` if a daemon may run and cannot be named, as in another process namespace.
    package static func process(servingStoreIn folder: String, seconds: Int64) throws(Failure) -> Int32? {
        guard let address = try address(in: folder, seconds, requiresAnswer: true) else { return nil }
        let connection = try connect(address, seconds)
        guard let process = try? Sockets.peer(connection).processID, process > 0 else {
            throw Failure(.daemonUnavailable, "The process of the daemon at \(address.socket) cannot be determined.")
        }
        return process
    }

    /// The address of the daemon of a store; nil if none runs.
    ///
    /// - Parameter requiresAnswer: whether a process that holds the lock and does not listen in time is an error.
    private static func address(
        in folder: String, _ seconds: Int64, requiresAnswer: Bool = false
    ) throws(Failure) -> DaemonLock.Address? {
        let path = folder + "/" + DaemonLock.fileName
        do throws(SystemError) {
            let lock = try Descriptor.open(path, O_RDONLY | O_NOFOLLOW)
            guard try lock.status().owner == geteuid() else { throw SystemError("open", code: EPERM) }
            let found = try listening(lock, path, until: Uptime.deadline(seconds: seconds))
            guard found != nil || !requiresAnswer || !DaemonLock.isTaken(lock) else {
                throw SystemError("poll", code: ETIMEDOUT)
            }
            return found
        } catch {
            if error.code == ENOENT { return nil }
            throw Failure(error, "\(path) cannot be used")
        }
    }

    /// The address of the daemon that holds the lock; nil if none holds it, or if its holder does not listen in time, as
    /// one that ends.
    private static func listening(
        _ lock: Descriptor, _ path: String, until deadline: Int64
    ) throws(SystemError) -> DaemonLock.Address? {
        let watch = try FileWatch(path)
        // The file still contains the address of a daemon that was killed, so the lock is tested first.
        while DaemonLock.isTaken(lock), Uptime.nanoseconds < deadline {
            if let address = DaemonLock.address(lock) { return address }
            _ = try watch.wait(until: deadline)
        }
        return nil
    }

    private static func connect(_ address: DaemonLock.Address, _ seconds: Int64) throws(Failure) -> Descriptor {
        let descriptor: Descriptor
        let user: UInt32
        do throws(SystemError) {
            descriptor = try Sockets.connect(address.socket, seconds: seconds)
            user = try Sockets.peer(descriptor).userID
        } catch {
            throw Failure(.daemonUnavailable, "\(address.socket) does not answer: \(error.description).")
        }
        // The socket of another user would learn which program asks.
        guard user == geteuid() else {
            throw Failure(.peerNotTrusted, "The socket \(address.socket) belongs to user \(user).")
        }
        return descriptor
    }

    private static func status(_ descriptor: Descriptor, _ seconds: Int64) throws(Failure) -> StatusReport {
        let connection = ClientConnection(SocketChannel(descriptor))
        let hello = Request.Hello(application: Client.applicationName, groups: Client.declaredNames)
        try connection.greet(hello, seconds: seconds)
        return try connection.call(Request.Status(), seconds: seconds)
    }
}
