// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RelyingPartyHTTP

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

    /// Reads an address as proxies write it into `X-Forwarded-For`: also with a port, and one of IPv6 in brackets then.
    init?(forwarded text: Substring) {
        guard text.utf8.first == UInt8(ascii: "[") else {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                self.init(text)
                return
            }
            guard Self.isPort(parts[1]), let address = Self(parts[0]), address.bytes.count == 4 else { return nil }
            self = address
            return
        }
        guard let end = text.firstIndex(of: "]"), let address = Self(text[..<end].dropFirst()),
            text[..<end].contains(":")
        else { return nil }
        let rest = text[end...].dropFirst()
        guard rest.isEmpty || rest.hasPrefix(":") && Self.isPort(rest.dropFirst()) else { return nil }
        self = address
    }

    private static func isPort(_ text: Substring) -> Bool {
        (1...5).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            && UInt16(text) != nil
    }

    /// A network as text: an address of IPv4, or `PREFIX/64`.
    package static func text(of network: [UInt8]) -> String {
        let isShort = network.count == 4
        let bytes = network + [UInt8](repeating: 0, count: max(0, (isShort ? 4 : 16) - network.count))
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(isShort ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        let digits = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: digits, as: UTF8.self) + (isShort ? "" : "/64")
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
    ///   - connectsClients: whether clients connect without a proxy, too. False for a server on 127.0.0.1, where only a proxy
    ///     connects, although it may not be a trusted one.
    package init(_ addresses: Set<ClientAddress>, connectsClients: Bool = false) {
        self.addresses = addresses
        self.connectsClients = connectsClients
    }

    /// Whether all clients have the address of one proxy, which the configuration does not name.
    package var confusesClients: Bool { !connectsClients && addresses.isEmpty }

    /// The client of a connection, nil if that is a proxy or cannot be told.
    package func client(connecting peer: [UInt8]) -> ClientAddress? {
        guard connectsClients, let address = ClientAddress(peer: peer), !addresses.contains(address) else { return nil }
        return address
    }

    /// The client of a request: that of the connection, or of a proxy's the last address in the header that is not a
    /// proxy's, because each proxy appends the address from which it received the request, and a client can write what
    /// it wants before it. If all are proxies, it is the first one. Nil if a proxy names no client: taking the proxy for the
    /// client would make all clients one.
    package func client(of request: HTTPRequest) -> ClientAddress? {
        // A connection without an address is limited like one of this machine.
        guard let peer = ClientAddress(peer: request.peer) else { return .loopback }
        guard addresses.contains(peer) else { return peer }
        let entries = request.forwardedFor.flatMap {
            $0.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        }
        var first: ClientAddress?
        for entry in entries.reversed() {
            let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
            let text = entry.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
            // Something else than an address was not written by a trusted proxy.
            guard let address = ClientAddress(forwarded: Substring(decoding: text, as: UTF8.self)) else { return nil }
            if !addresses.contains(address) { return address }
            first = address
        }
        return first
    }
}
