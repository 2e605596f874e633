// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Receives that a program is ready (sd_notify(3)), on a socket with an abstract name that the kernel chooses (unix(7)).
///
/// Every program of the machine can send to it: what it says is when to go on, and proves nothing.
package struct ReadySocket {
    /// The value of `NOTIFY_SOCKET` for the program.
    package let name: String
    private let socket: Descriptor

    package init() throws(SystemError) {
        socket = try Sockets.datagrams()
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let family = MemoryLayout<sa_family_t>.size
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let number = socket.number
        let isNamed = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                // An address that ends behind the family asks the kernel for a name.
                bind(number, $0, socklen_t(family)) == 0 && getsockname(number, $0, &length) == 0
            }
        }
        guard isNamed, Int(length) > family + 1 else { throw SystemError("bind") }
        // Five hexadecimal digits behind a zero byte, for which NOTIFY_SOCKET has an @.
        let bytes = withUnsafeBytes(of: address.sun_path) { Array($0.prefix(Int(length) - family).dropFirst()) }
        guard let digits = String(validating: bytes, as: UTF8.self) else { throw SystemError("bind", code: EINVAL) }
        name = "@" + digits
    }

    /// Waits until the program is ready.
    ///
    /// - Returns: false if it is not after `seconds`.
    package func wait(seconds: Int64) throws(SystemError) -> Bool {
        try socket.wait(for: POLLIN, until: Uptime.nanoseconds + seconds * 1_000_000_000)
    }
}
