// SPDX-License-Identifier: Apache-2.0

package import CLatchkeyLinux
import Glibc

/// The peer of a socket, as the kernel recorded it when the connection was made.
package struct PeerCredentials: Equatable, Sendable {
    package let processID: pid_t
    package let userID: uid_t
    package let groupID: gid_t
}

/// Sockets of the family AF_UNIX.
package enum Sockets {
    /// Maximum length of a socket's path in bytes, without the terminating zero.
    package static let pathBytes = 107

    private static func address(_ path: String) throws(SystemError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= pathBytes, !bytes.contains(0) else {
            throw SystemError("bind", code: ENAMETOOLONG)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    /// A socket for single messages, without an address.
    static func datagrams() throws(SystemError) -> Descriptor { try make(SOCK_DGRAM) }

    private static func make(_ type: __socket_type, nonblocking: Bool = false) throws(SystemError) -> Descriptor {
        let flags = SOCK_CLOEXEC.rawValue | (nonblocking ? SOCK_NONBLOCK.rawValue : 0)
        let number = socket(AF_UNIX, CInt(type.rawValue | flags), 0)
        guard number >= 0 else { throw SystemError("socket") }
        return Descriptor(owning: number)
    }

    /// Listens at `path`, replacing a file there. The socket file never has more permissions than `mode`, and has them
    /// when this function returns; the descriptor is non-blocking.
    package static func listen(_ path: String, mode: UInt32 = 0o600) throws(SystemError) -> Descriptor {
        let descriptor = try make(SOCK_STREAM, nonblocking: true)
        var address = try address(path)
        unlink(path)
        // Linux creates the file with the mode of the socket, less the bits of the umask, which all threads share.
        fchmod(descriptor.number, mode)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw SystemError("bind") }
        // Adds the permissions that the umask removed, before any client can connect.
        guard chmod(path, mode) == 0 else { throw SystemError("chmod") }
        guard Glibc.listen(descriptor.number, 128) == 0 else { throw SystemError("listen") }
        return descriptor
    }

    /// Connects to the socket at `path`; the descriptor is blocking.
    ///
    /// - Parameters:
    ///   - name: the abstract name of this end (unix(7)), at most `pathBytes` bytes; nil for none.
    ///   - seconds: time limit of this call and of each later send, which then fail with EAGAIN; nil for none. Without it
    ///     the call blocks while the listener's queue is full.
    package static func connect(
        _ path: String, name: [UInt8]? = nil, seconds: Int64? = nil
    ) throws(SystemError) -> Descriptor {
        let descriptor = try make(SOCK_STREAM)
        if let name { try setName(descriptor, name) }
        if let seconds { try limitSending(descriptor, seconds: seconds) }
        var address = try address(path)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw SystemError("connect") }
        return descriptor
    }

    /// Gives a socket an abstract name: a zero byte and `name`.
    private static func setName(_ descriptor: Descriptor, _ name: [UInt8]) throws(SystemError) {
        guard name.count <= pathBytes else { throw SystemError("bind", code: ENAMETOOLONG) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) {
            UnsafeMutableRawBufferPointer(rebasing: $0[1...]).copyBytes(from: name)
        }
        let length = socklen_t(nameOffset + name.count)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor.number, $0, length) }
        }
        guard code == 0 else { throw SystemError("bind") }
    }

    /// Bytes of an address before its abstract name: the family, and the zero byte.
    private static let nameOffset = MemoryLayout<sa_family_t>.size + 1

    /// The abstract name of the other end; empty if it has none.
    package static func peerName(_ descriptor: Descriptor) throws(SystemError) -> [UInt8] {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor.number, $0, &length) }
        }
        guard code == 0 else { throw SystemError("getpeername") }
        let count = Int(length) - nameOffset
        return withUnsafeBytes(of: &address.sun_path) { path in
            guard count > 0, count < path.count, path[0] == 0 else { return [] }
            return Array(path[1...count])
        }
    }

    /// Limits the time that each later send waits for the peer (SO_SNDTIMEO, socket(7)); it then fails with EAGAIN.
    package static func limitSending(_ descriptor: Descriptor, seconds: Int64) throws(SystemError) {
        try limit(SO_SNDTIMEO, descriptor, timeval(tv_sec: Int(seconds), tv_usec: 0))
    }

    /// The same in milliseconds, less than a second.
    package static func limitSending(_ descriptor: Descriptor, milliseconds: Int64) throws(SystemError) {
        try limit(SO_SNDTIMEO, descriptor, timeval(tv_sec: 0, tv_usec: Int(milliseconds) * 1000))
    }

    /// Limits the time that each later read waits for the peer (SO_RCVTIMEO, socket(7)); it then fails with EAGAIN.
    package static func limitReading(_ descriptor: Descriptor, seconds: Int64) throws(SystemError) {
        try limit(SO_RCVTIMEO, descriptor, timeval(tv_sec: Int(seconds), tv_usec: 0))
    }

    private static func limit(_ option: CInt, _ descriptor: Descriptor, _ limit: timeval) throws(SystemError) {
        var limit = limit
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard setsockopt(descriptor.number, SOL_SOCKET, option, &limit, size) == 0 else {
            throw SystemError("setsockopt")
        }
    }

    /// Accepts the next connection as a non-blocking descriptor; nil when none is pending.
    package static func accept(_ listener: Descriptor) throws(SystemError) -> Descriptor? {
        let number = latchkey_accept(listener.number)
        if number >= 0 { return Descriptor(owning: number) }
        if [EAGAIN, EINTR, ECONNABORTED].contains(errno) { return nil }
        throw SystemError("accept4")
    }

    /// Has the kernel refuse descriptors that programs send to connections of a listening socket (SO_PASSRIGHTS), also before
    /// they are accepted; false before Linux 6.16.
    package static func refuseDescriptors(_ listener: Descriptor) -> Bool {
        latchkey_refuse_descriptors(listener.number) == 0
    }

    /// Has the kernel record which process sent what a socket receives (SO_PASSCRED, unix(7)). The connections of a listening
    /// socket inherit it, also for what is sent before they are accepted.
    package static func recordSenders(_ descriptor: Descriptor) throws(SystemError) {
        guard latchkey_record_senders(descriptor.number) == 0 else { throw SystemError("setsockopt") }
    }

    /// Reads from a socket that records senders. What one call returns was sent by one process.
    ///
    /// - Returns: the number of bytes, and the sender; nil if the kernel names none.
    package static func read(
        _ descriptor: Descriptor, into memory: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> (count: Int, sender: pid_t?) {
        var process: pid_t = 0
        let count = latchkey_read_from_sender(descriptor.number, memory.baseAddress, memory.count, &process)
        guard count >= 0 else { throw SystemError("recvmsg") }
        return (count, process > 0 ? process : nil)
    }

    /// Ends both directions of a connection; a thread that reads from it gets its end.
    package static func shutDown(_ descriptor: Descriptor) { shutdown(descriptor.number, CInt(SHUT_RDWR)) }

    package static func pair() throws(SystemError) -> (Descriptor, Descriptor) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SystemError("socketpair")
        }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }

    /// The peer's credentials (SO_PEERCRED).
    package static func peer(_ descriptor: Descriptor) throws(SystemError) -> PeerCredentials {
        var process: pid_t = 0
        var user: uid_t = 0
        var group: gid_t = 0
        let code = latchkey_peer_credentials(descriptor.number, &process, &user, &group)
        guard code == 0 else { throw SystemError("getsockopt", code: code) }
        return PeerCredentials(processID: process, userID: user, groupID: group)
    }

    /// A pidfd of the process that connected: it never refers to another process that reuses the id. nil where the
    /// kernel does not support it.
    package static func peerProcess(_ descriptor: Descriptor) -> Descriptor? {
        let number = latchkey_peer_pidfd(descriptor.number)
        return number >= 0 ? Descriptor(owning: number) : nil
    }

    /// Sends as many bytes as fit into the socket's buffer and returns their number; nil when a non-blocking socket
    /// is full.
    package static func send(_ descriptor: Descriptor, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int? {
        while true {
            let count = Glibc.send(descriptor.number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
            if count >= 0 { return count }
            if errno == EAGAIN { return nil }
            guard errno == EINTR else { throw SystemError("send") }
        }
    }

    /// The same for an array, which is not overwritten when it is released; not for secrets.
    package static func send(_ descriptor: Descriptor, _ bytes: [UInt8]) throws(SystemError) -> Int? {
        try bytes.withUnsafeBufferPointer { (bytes) throws(SystemError) in
            try send(descriptor, UnsafeRawBufferPointer(bytes))
        }
    }

    /// Sends all bytes, however slowly the peer reads them, until the deadline.
    ///
    /// - Throws: `SystemError` with ETIMEDOUT after a part of the bytes, so that nothing else can be sent.
    package static func send(
        _ descriptor: Descriptor, all bytes: UnsafeRawBufferPointer, until deadline: Int64
    ) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.send(descriptor.number, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                // A peer that reads a byte now and then must not prolong this either.
                guard rest.isEmpty || Uptime.nanoseconds < deadline else { throw SystemError("send", code: ETIMEDOUT) }
            } else if errno == EAGAIN {
                guard try descriptor.wait(for: POLLOUT, until: deadline) else {
                    throw SystemError("send", code: ETIMEDOUT)
                }
            } else if errno != EINTR {
                throw SystemError("send")
            }
        }
    }
}

/// The sockets that a service manager opened for this process (sd_listen_fds(3)).
package enum ActivatedSockets {
    /// Returns the listening sockets by the names in their units, and removes the variables that describe them, so that
    /// no child process takes them for its own. Called once, before any thread exists.
    package static func take() -> [String: Descriptor] {
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        guard Environment.value("LISTEN_PID").flatMap({ Int32($0) }) == getpid(),
            let count = Environment.value("LISTEN_FDS").flatMap({ Int32($0) }), (1...16).contains(count)
        else { return [:] }
        let names = (Environment.value("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
        var sockets: [String: Descriptor] = [:]
        for number in 0..<count {
            // The first descriptor is 3 (SD_LISTEN_FDS_START).
            let descriptor = Descriptor(owning: 3 + number)
            _ = fcntl(descriptor.number, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor.number, F_SETFL, fcntl(descriptor.number, F_GETFL) | O_NONBLOCK)
            if Int(number) < names.count { sockets[String(names[Int(number)])] = descriptor }
        }
        return sockets
    }
}
