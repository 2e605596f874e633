// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The socket of the user's agent, and the process that serves it.
///
/// An agent holds the lock of the socket's folder as long as it runs, which prevents a second one from taking its place
/// unnoticed. A service manager that listens there has no lock.
struct SSHAgentPlace {
    private static let connectSeconds: Int64 = 5
    /// How long another process may hold the lock without serving the socket: it starts or ends.
    private static let changeSeconds: Int64 = 5
    /// Interval at which such a process is looked at, in milliseconds: nothing reports that it listens.
    private static let lookInterval: CInt = 20

    /// A process that listens at the socket.
    struct Server {
        /// 0 in another process namespace.
        var processID: pid_t
        /// Whether it is an agent that `latchkey ssh-agent` started.
        var isAgent: Bool
    }

    private let folder: String
    var socket: String { folder + "/ssh-agent.sock" }

    /// The place of this user: in the runtime folder, or in the store where there is none, as without a login manager.
    init() throws(Failure) {
        if let runtime = StoreLocation.runtimeFolder {
            folder = runtime
        } else {
            folder = try StoreLocation.folder() + "/ssh-agent"
        }
        // A shell evaluates the path.
        guard folder.utf8.allSatisfy({ Self.isPlain($0) }), socket.utf8.count <= Sockets.pathBytes else {
            throw Failure(
                .noHome, "A socket cannot be in \(folder): the path is too long, or has characters for the shell.",
                hint: "Set XDG_RUNTIME_DIR to a folder of yours with a plain path.")
        }
        try Files.makePrivateFolder(folder)
    }

    /// Whether a byte of a path has no meaning for a shell.
    private static func isPlain(_ byte: UInt8) -> Bool {
        let character = Unicode.Scalar(byte)
        return character.isASCII && (character.properties.isAlphabetic || character.properties.numericType != nil)
            || "/._-+:@".unicodeScalars.contains(character)
    }

    /// The process that serves the socket now; nil if there is none.
    func server() throws(Failure) -> Server? {
        guard let connection = try? Sockets.connect(socket, seconds: Self.connectSeconds) else { return nil }
        do throws(SystemError) {
            // The folder belongs to this user, and so does what listens in it.
            let peer = try Sockets.peer(connection)
            return Server(processID: peer.processID, isAgent: try FolderLock.takeAlone(folder) == nil)
        } catch {
            throw unusable(error)
        }
    }

    /// Takes the lock and listens; nil if another process serves the socket.
    ///
    /// The lock has to be held while the socket is served. Throws if the name is that of a file that is no socket.
    func listen() throws(Failure) -> (Descriptor, FolderLock)? {
        // Listening replaces what has the name.
        if let old = try? FileRecord(at: socket), !old.isType(S_IFSOCK) {
            throw Failure(
                .invalidParameter, "\(socket) is no socket.", hint: "Move it away, and start the agent again.")
        }
        let deadline = Uptime.deadline(seconds: Self.changeSeconds)
        do throws(SystemError) {
            while true {
                let lock = try FolderLock.takeAlone(folder)
                // A new socket would take the place of one that a service manager serves.
                if (try? Sockets.connect(socket, seconds: Self.connectSeconds)) != nil { return nil }
                if let lock { return (try Sockets.listen(socket), lock) }
                guard Uptime.nanoseconds < deadline else { return nil }
                poll(nil, 0, Self.lookInterval)
            }
        } catch {
            throw unusable(error)
        }
    }

    private func unusable(_ error: SystemError) -> Failure { Failure(error, "\(socket) cannot be used") }
}
