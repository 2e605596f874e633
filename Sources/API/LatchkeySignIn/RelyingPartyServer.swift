// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
