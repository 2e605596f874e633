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

    private static func make(nonblocking: Bool) throws(SystemError) -> Descriptor {
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | (nonblocking ? SOCK_NONBLOCK.rawValue : 0)
        let number = socket(AF_UNIX, CInt(type), 0)
        guard number >= 0 else { throw SystemError("socket") }
        return Descriptor(owning: number)
    }

    /// Listens at `path`, replacing a file there. The socket file never has more permissions than `mode`, and has them
    /// when this function returns; the descriptor is non-blocking.
    package static func listen(_ path: String, mode: mode_t = 0o600) throws(SystemError) -> Descriptor {
        let descriptor = try make(nonblocking: true)
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
    /// - Parameter seconds: time limit of this call and of each later send, which then fail with EAGAIN; nil for none.
    ///   Without it the call blocks while the listener's queue is full.
    package static func connect(_ path: String, seconds: Int64? = nil) throws(SystemError) -> Descriptor {
        let descriptor = try make(nonblocking: false)
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

    /// Limits the time that each later send waits for the peer (SO_SNDTIMEO, socket(7)); it then fails with EAGAIN.
    package static func limitSending(_ descriptor: Descriptor, seconds: Int64) throws(SystemError) {
        try limit(SO_SNDTIMEO, descriptor, seconds)
    }

    /// Limits the time that each later read waits for the peer (SO_RCVTIMEO, socket(7)); it then fails with EAGAIN.
    package static func limitReading(_ descriptor: Descriptor, seconds: Int64) throws(SystemError) {
        try limit(SO_RCVTIMEO, descriptor, seconds)
    }

    private static func limit(_ option: CInt, _ descriptor: Descriptor, _ seconds: Int64) throws(SystemError) {
        var limit = timeval(tv_sec: Int(seconds), tv_usec: 0)
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

    /// Ends both directions of a connection; a thread that reads from it gets its end.
    package static func shutDown(_ descriptor: Descriptor) { shutdown(descriptor.number, CInt(SHUT_RDWR)) }

    /// A connected pair of sockets.
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
        var failure: SystemError?
        let count: Int? = bytes.withUnsafeBytes {
            do throws(SystemError) {
                return try send(descriptor, $0)
            } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
        return count
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
