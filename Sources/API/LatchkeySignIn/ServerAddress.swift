// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An address to which requests may be sent, in one form: scheme, host in lower case, and the port if it is not the
/// scheme's own.
struct ServerAddress: Equatable, Sendable {
    let url: URL
    let host: ServerHost

    /// Nil for an address that is not allowed.
    ///
    /// - Parameters:
    ///   - url: the address that the caller names.
    ///   - ignoringPath: whether path, query and fragment may have any value; they are not part of the result.
    ///   - environment: the variables that name a proxy.
    init?(
        _ url: URL, ignoringPath: Bool = false,
        environment: @autoclosure () -> [String: String] = ProcessInfo.processInfo.environment
    ) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), let name = parts.encodedHost, let host = ServerHost(name),
            parts.user == nil, parts.password == nil
        else { return nil }
        // Without TLS an attacker on the network could read the token. A proxy receives even requests to this machine.
        guard
            scheme == "https"
                || scheme == "http" && host.isLoopback
                    && !HTTPProxy.reads(requestsFor: host.bare, in: environment())
        else { return nil }
        guard ignoringPath || (parts.path.isEmpty || parts.path == "/") && parts.query == nil && parts.fragment == nil
        else { return nil }
        var canonical = URLComponents()
        canonical.scheme = scheme
        canonical.encodedHost = host.text
        if let port = parts.port {
            guard (1...65_535).contains(port) else { return nil }
            if port != (scheme == "https" ? 443 : 80) { canonical.port = port }
        }
        guard let address = canonical.url else { return nil }
        self.url = address
        self.host = host
    }
}

/// A host in an address: a name of DNS, or an address of IP.
struct ServerHost: Equatable, Sendable {
    private enum Form: Equatable {
        case name
        case version4
        case version6
    }

    /// In lower case; an address of IPv6 is in brackets.
    let text: String
    private let form: Form

    /// Nil for characters that are not allowed in names, and for numbers that some programs read as an address and others
    /// as a name, such as `127.1`.
    init?(_ text: String) {
        let text = text.lowercased()
        if text.hasPrefix("["), text.hasSuffix("]") {
            let inner = text.dropFirst().dropLast()
            guard inner.contains(":"), inner.utf8.allSatisfy({ Self.isHexadecimal($0) || $0 == UInt8(ascii: ":") })
            else {
                return nil
            }
            form = .version6
        } else {
            let labels = text.split(separator: ".", omittingEmptySubsequences: false)
            guard text.utf8.count <= 253, labels.allSatisfy(Self.isLabel), let last = labels.last else { return nil }
            if labels.count == 4, labels.allSatisfy(Self.isOctet) {
                form = .version4
            } else if last.utf8.allSatisfy(Self.isDigit) || last.hasPrefix("0x") {
                return nil
            } else {
                form = .name
            }
        }
        self.text = text
    }

    /// An address of IPv6 without its brackets; else `text`.
    var bare: String { form == .version6 ? String(text.dropFirst().dropLast()) : text }

    /// Whether this machine is meant.
    var isLoopback: Bool {
        switch form {
        case .name: text == "localhost"
        case .version4: text.hasPrefix("127.")
        case .version6: text == "[::1]"
        }
    }

    /// Whether the host is in the domain of a relying party: is it, or is below it.
    func belongs(to relyingPartyID: String) -> Bool {
        // The prompt shows the name together with an act; a longer one would hide the act.
        guard relyingPartyID.utf8.count <= Self.longestRelyingParty, let party = ServerHost(relyingPartyID),
            party.text.utf8.elementsEqual(relyingPartyID.utf8)
        else { return false }
        guard party.form == .name else { return party == self }
        // A name without a dot is one of a whole domain, such as `com`, or one that each network gives to another host.
        guard relyingPartyID.contains(".") || relyingPartyID == "localhost" else { return false }
        return self == party || form == .name && relyingPartyID.contains(".") && text.hasSuffix("." + relyingPartyID)
    }

    private static let longestRelyingParty = 100

    /// RFC 1123, section 2.1. A name of other alphabets is in its ASCII form.
    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy {
                isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-")
            }
    }

    /// A decimal number of one byte without leading zeros, which could be read as octal.
    private static func isOctet(_ label: Substring) -> Bool {
        label.utf8.allSatisfy(isDigit) && (label == "0" || label.first != "0") && UInt8(label) != nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}

/// A server that accepts keys of devices, and the name under which it does.
///
/// The name is what the user reads in the prompt and what a key signs, so it has to belong to the host: a server
/// cannot ask for signatures for a name of somebody else. The server is one that speaks
/// `docs/reference/relying-party.md`, such as `latchkey-server`.
public struct RelyingPartyServer: Hashable, Sendable {
    /// The address of the server, without a path. Requests go to paths below `/v1` of it.
    public let url: URL
    /// The name of the relying party, as the server is configured with it: a host name in lower case.
    public let relyingPartyID: String
    /// How long the server may take for one reply, from the connection to the last byte.
    public let timeout: Duration

    /// Creates a value from an address and the name of the relying party; does not connect, and neither blocks
    /// nor prompts.
    ///
    /// - Parameters:
    ///   - url: `https` with a host and, if needed, a port. `http` is accepted only for `localhost`, `127.0.0.0/8` and
    ///     `::1`, and not when the variable `http_proxy` or `all_proxy` names a proxy, which would read the requests, unless
    ///     `no_proxy` names the host. A path other than `/`, a user, a password, a query and a fragment are refused.
    ///   - relyingPartyID: the host of `url` or a domain above it, such as `example.com` for `login.example.com`. Has at
    ///     least two labels, unless it is `localhost` and the host is `localhost` too; an address of IP is accepted if it
    ///     is the host. The list of public suffixes is not consulted: `co.uk` would be accepted for `example.co.uk`, so use
    ///     a name that you own.
    ///   - timeout: how long the server may take for one reply: 1 ms to 5 minutes; values outside are clamped.
    /// - Throws: `SignInError` with the kind `invalidServer`.
    public init(url: URL, relyingPartyID: String, timeout: Duration = .seconds(15)) throws(SignInError) {
        guard let address = ServerAddress(url) else { throw SignInError(.invalidServer(.address)) }
        guard address.host.belongs(to: relyingPartyID) else { throw SignInError(.invalidServer(.relyingPartyID)) }
        self.url = address.url
        self.relyingPartyID = relyingPartyID
        self.timeout = min(max(timeout, .milliseconds(1)), .seconds(300))
    }
}
