// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingPartyHTTP

/// An address of IPv4 (4 bytes) or IPv6 (16 bytes).
package struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Where a proxy on this machine connects from.
    package static let loopback = ClientAddress(bytes: [127, 0, 0, 1])

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Reads an address without a port; nil for any other text. An address of IPv4 within IPv6 is read as one of IPv4.
    package init?(_ text: some StringProtocol) {
        // inet_pton reads up to a zero, which no address contains.
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        var short = [UInt8](repeating: 0, count: 4)
        var long = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, String(text), &short) == 1 {
            bytes = short
        } else if inet_pton(AF_INET6, String(text), &long) == 1 {
            let isMapped = long[..<10].allSatisfy { $0 == 0 } && long[10] == 0xff && long[11] == 0xff
            bytes = isMapped ? Array(long[12...]) : long
        } else {
            return nil
        }
    }

    /// What the limits of one client hold for: the address of IPv4, or the first 64 bits of one of IPv6, since a client
    /// chooses the others.
    var network: [UInt8] { bytes.count == 4 ? bytes : Array(bytes[..<8]) }
}

/// The proxies whose header `X-Forwarded-For` is believed.
package struct TrustedProxies: Sendable {
    private let addresses: Set<ClientAddress>

    /// - Parameter addresses: the addresses of the proxies; empty if clients cannot be told apart.
    package init(_ addresses: Set<ClientAddress>) { self.addresses = addresses }

    /// The client of a request: the last address in the header that is not a proxy's, because each proxy appends the
    /// address from which it received the request, and a client can write what it wants before it. Nil without proxies.
    func client(of request: HTTPRequest) -> ClientAddress? {
        // The server listens on 127.0.0.1, so every connection comes from this machine.
        guard addresses.contains(.loopback) else { return nil }
        let entries = request.forwardedFor.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        for entry in entries.reversed() {
            let text = entry.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            // Something else than an address was not written by a trusted proxy.
            guard let address = ClientAddress(String(text)) else { return .loopback }
            if !addresses.contains(address) { return address }
        }
        return .loopback
    }
}
