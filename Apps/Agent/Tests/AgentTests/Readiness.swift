// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The socket on which a service manager waits for the notification of a service (sd_notify(3)).
final class Readiness {
    let path: String
    private let socket: CInt

    init(_ folder: URL, name: String = "ready") throws {
        path = folder.appending(path: name).path
        socket = Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw POSIXError(.EIO) }
    }

    deinit { close(socket) }

    /// Waits until the service reports that it is ready; false after 20 seconds.
    func comes() -> Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 20_000) == 1 else { return false }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = recv(socket, &buffer, buffer.count, 0)
        return count > 0 && String(decoding: buffer[..<count], as: UTF8.self) == "READY=1"
    }
}
