// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingPartyHTTP

/// An address of IPv4 (4 bytes) or IPv6 (16 bytes).
package struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Where a proxy on this machine connects from.
    package static let loopback = ClientAddress(bytes: [127, 0, 0, 1])

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The address of a connection: 4 or 16 bytes; nil for another number.
    package init?(peer: [UInt8]) {
        guard peer.count == 4 || peer.count == 16 else { return nil }
        bytes = Self.short(peer)
    }

    /// An address of IPv4 within IPv6 is one of IPv4.
    private static func short(_ bytes: [UInt8]) -> [UInt8] {
        let prefix = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]
        return bytes.count == 16 && bytes.starts(with: prefix) ? Array(bytes[12...]) : bytes
    }

    /// Reads an address without a port; nil for any other text. An address of IPv4 within IPv6 is read as one of IPv4.
    package init?(_ text: some StringProtocol) {
        // inet_pton reads up to a zero, which no address contains.
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        var short = [UInt8](repeating: 0, count: 4)
        var long = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, String(text), &short) == 1 {
            bytes = short
        } else if inet_pton(AF_INET6, String(text), &long) == 1 {
            bytes = Self.short(long)
        } else {
            return nil
        }
    }

    /// What the limits of one client hold for: the address of IPv4, or the first 64 bits of one of IPv6, since a client
    /// chooses the others.
    package var network: [UInt8] { bytes.count == 4 ? bytes : Array(bytes[..<8]) }
}

/// Who the clients are: the addresses of connections, or those that trusted proxies name in `X-Forwarded-For`.
package struct TrustedProxies: Sendable {
    private let addresses: Set<ClientAddress>
    private let connectsClients: Bool

    /// - Parameters:
    ///   - addresses: the addresses of the proxies, whose header is believed.
    ///   - connectsClients: whether clients connect without a proxy, too. False for a server on 127.0.0.1: what connects
    ///     there is a proxy, and if it is not trusted, clients cannot be told apart.
    package init(_ addresses: Set<ClientAddress>, connectsClients: Bool = false) {
        self.addresses = addresses
        self.connectsClients = connectsClients
    }

    /// Whether limits for each client can hold.
    package var tellsClientsApart: Bool { connectsClients || !addresses.isEmpty }

    /// The client of a connection, nil if that is a proxy or cannot be told.
    package func client(connecting peer: [UInt8]) -> ClientAddress? {
        guard connectsClients, let address = ClientAddress(peer: peer), !addresses.contains(address) else { return nil }
        return address
    }

    /// The client of a request: that of the connection, or of a proxy's the last address in the header that is not a
    /// proxy's, because each proxy appends the address from which it received the request, and a client can write what
    /// it wants before it. Nil if clients cannot be told apart.
    func client(of request: HTTPRequest) -> ClientAddress? {
        guard tellsClientsApart else { return nil }
        // A connection without an address is limited like one of this machine.
        guard let peer = ClientAddress(peer: request.peer) else { return .loopback }
        guard addresses.contains(peer) else { return peer }
        let entries = request.forwardedFor.flatMap {
            $0.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        }
        for entry in entries.reversed() {
            let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") }
            let text = entry.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
            // Something else than an address was not written by a trusted proxy.
            guard let address = ClientAddress(String(decoding: text, as: UTF8.self)) else { return peer }
            if !addresses.contains(address) { return address }
        }
        return peer
    }
}
