// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Notifies the service manager that started the agent (sd_notify(3)); does nothing when `NOTIFY_SOCKET` is not set.
enum ServiceManager {
    /// Reports that the agent is registered.
    static func tellReady() {
        guard let path = getenv("NOTIFY_SOCKET") else { return }
        var bytes = UnsafeBufferPointer(start: path, count: strlen(path)).map { UInt8(bitPattern: $0) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A leading @ replaces the zero byte of an abstract socket name.
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        let length = MemoryLayout<sa_family_t>.size + bytes.count
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let socket = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        let words = Array("READY=1".utf8)
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(socket, words, words.count, CInt(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
    }
}
