// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The abstract name (unix(7)) of a connection of `latchkeyd` to `latchkey-authd`, which says for which user it is: the process
/// that accepts it has to read nothing and to wait for nothing. The name is trusted as the peer is: only the user of
/// `latchkeyd` is accepted there.
package enum ServiceChannelName {
    private static let prefix = Array("latchkey/".utf8)

    package static func make(for user: UInt32) -> [UInt8] {
        prefix + Array("\(user)/\(String(UInt64.random(in: 0 ... .max), radix: 16))".utf8)
    }

    /// The user for whom a connection is; nil if its other end has no such name.
    package static func user(of connection: Descriptor) -> UInt32? {
        // A name that cannot be read names no user, and the connection is closed.
        guard let name = try? Sockets.peerName(connection), name.starts(with: prefix) else { return nil }
        let digits = name.dropFirst(prefix.count).prefix { $0 != UInt8(ascii: "/") }
        guard !digits.isEmpty, digits.count <= 10, let number = UInt32(String(decoding: digits, as: UTF8.self)) else {
            return nil
        }
        return number
    }
}
