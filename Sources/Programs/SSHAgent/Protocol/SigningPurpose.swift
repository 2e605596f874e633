// SPDX-License-Identifier: Apache-2.0

/// A signature that the agent may ask the person for.
package enum SigningPurpose: Equatable, Sendable {
    /// A login to a host; nil if no session is bound, so that the host is unknown.
    case login(user: String, host: HostKey?, through: [HostKey])
    case message(namespace: String, through: [HostKey])

    /// Decides whether the content may be signed on a connection; throws if not.
    ///
    /// A login needs the session that the connection bound, and no other: otherwise a server to which the person logs
    /// in, or to which the agent is forwarded, could have a login to another server signed.
    ///
    /// Over a forwarded connection the binding alone proves nothing: the server on the way can sign the identifier of its
    /// own session with a third server, with its own key, and so bind it under its own name. The login must contain the
    /// host key, which the third server compares with its own (OpenSSH: `publickey-hostbound-v00@openssh.com`).
    ///
    /// - Parameter allowsUnbound: whether a login is signed on a connection that bound no session that logs in.
    package init(_ content: SignedContent, _ bindings: SessionBindings, allowsUnbound: Bool) throws(SSHFormatError) {
        guard !bindings.hasFailed else { throw SSHFormatError() }
        switch content {
        case .message(let namespace):
            // A connection that logs in has nothing else to sign.
            guard bindings.login == nil else { throw SSHFormatError() }
            self = .message(namespace: namespace, through: bindings.forwarders)
        case .login(let login):
            let host = try Self.provenHost(login, bindings)
            guard host != nil || allowsUnbound else { throw SSHFormatError() }
            self = .login(user: login.user, host: host, through: bindings.forwarders)
        }
    }

    /// The host that a login certainly goes to; nil if none is bound. Throws if it contradicts the bound session.
    private static func provenHost(
        _ login: SignedContent.Login, _ bindings: SessionBindings
    ) throws(SSHFormatError) -> HostKey? {
        guard let session = bindings.login else { return nil }
        guard session.sessionID == login.sessionID, login.hostKey ?? session.host.blob == session.host.blob else {
            throw SSHFormatError()
        }
        let isProven = login.hostKey != nil || bindings.forwarders.isEmpty
        return isProven ? session.host : nil
    }

    /// The servers over which the request was forwarded, the nearest first.
    package var forwarders: [HostKey] {
        switch self {
        case .login(_, _, let through), .message(_, let through): through
        }
    }
}
