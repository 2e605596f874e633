// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Tells the service manager what the server does: the protocol of sd_notify(3), a datagram to a socket that the
/// environment names. Without the variable nothing is sent.
enum ServiceManager {
    /// Sends assignments such as `READY=1`.
    ///
    /// - Returns: whether the datagram was sent, or none was to be sent.
    @discardableResult
    static func notify(_ state: String) -> Bool {
        guard let path = getenv("NOTIFY_SOCKET") else { return true }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = UnsafeBufferPointer(start: path, count: strlen(path)).map { UInt8(bitPattern: $0) }
        let isAbstract = name.first == 0x40
        guard isAbstract || name.first == 0x2f else { return false }
        if isAbstract { name[0] = 0 }
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let sending = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard sending >= 0 else { return false }
        defer { close(sending) }
        let bytes = Array(state.utf8)
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                // Not waiting: a manager that does not read must not stop the server.
                sendto(sending, bytes, bytes.count, CInt(MSG_DONTWAIT), address, socklen_t(offset + name.count))
                    == bytes.count
            }
        }
    }
}
