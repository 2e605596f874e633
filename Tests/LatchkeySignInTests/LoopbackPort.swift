// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

/// A loopback port that the kernel chose. While it exists no other test gets the port, and until something listens on it
/// the kernel refuses connections.
final class LoopbackPort: Sendable {
    let socket: Int32
    let number: UInt16

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(socket >= 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        number = UInt16(bigEndian: address.sin_port)
        try #require(isBound)
    }

    deinit { close(socket) }

    var url: URL? { URL(string: "http://localhost:\(number)") }
}
