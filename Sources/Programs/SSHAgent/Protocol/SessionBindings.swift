// SPDX-License-Identifier: Apache-2.0

/// The extension `session-bind@openssh.com` (OpenSSH: `PROTOCOL.agent`, section 1): a program says over which SSH
/// session its next requests come, and proves it with the server's signature of the session identifier.
package struct SessionBind: Equatable, Sendable {
    /// The name of the extension.
    package static let name = "session-bind@openssh.com"

    /// The server's key, as a blob.
    package var hostKey: [UInt8]
    /// The hash of the first key exchange (RFC 4253, section 7.2).
    package var sessionID: [UInt8]
    /// The server's signature of the session identifier, as a blob.
    package var signature: [UInt8]
    /// Whether the connection is forwarded to the server, and does not log in to it.
    package var isForwarding: Bool
}

extension SessionBind {
    init(_ reader: inout SSHReader) throws(SSHFormatError) {
        hostKey = try reader.string()
        sessionID = try reader.string()
        signature = try reader.string()
        isForwarding = try reader.byte() != 0
        try reader.end()
        guard (1...SSHAgentLimits.sessionIDBytes).contains(sessionID.count) else { throw SSHFormatError() }
    }
}

/// The sessions that are bound to one connection, in the order of the hops: every session but the last is one over
/// which the agent is forwarded.
package struct SessionBindings: Sendable {
    /// A session whose server signed its identifier.
    package struct Binding: Equatable, Sendable {
        package let host: HostKey
        package let sessionID: [UInt8]
        package let isForwarding: Bool
    }

    package private(set) var bindings: [Binding] = []
    /// Whether an attempt to bind was refused. Nothing is signed on such a connection: it claimed what it could not
    /// prove, and must not count as one that never tried.
    package private(set) var hasFailed = false

    package init() {}

    /// Verifies a binding and adds it; returns false, and refuses every signature from then on, if it is not valid.
    package mutating func add(_ bind: SessionBind) -> Bool {
        do throws(SSHFormatError) {
            let host = try HostKey(bind.hostKey)
            guard !hasFailed, host.verifies(bind.sessionID, signature: bind.signature) else { throw SSHFormatError() }
            if let known = bindings.first(where: { $0.sessionID == bind.sessionID }) {
                guard known.host == host, known.isForwarding == bind.isForwarding else { throw SSHFormatError() }
                return true
            }
            // After a session that logs in there is no further hop: a program that got hold of the connection could
            // otherwise have another session take its place.
            guard bindings.allSatisfy(\.isForwarding) else { throw SSHFormatError() }
            guard bindings.count < SSHAgentLimits.bindings else { throw SSHFormatError() }
            bindings.append(Binding(host: host, sessionID: bind.sessionID, isForwarding: bind.isForwarding))
            return true
        } catch {
            hasFailed = true
            return false
        }
    }

    /// Records an attempt to bind that could not be read.
    package mutating func fail() { hasFailed = true }

    /// The servers over which the agent is forwarded, the nearest first.
    package var forwarders: [HostKey] { bindings.filter(\.isForwarding).map(\.host) }

    /// The session that logs in; nil if none is bound.
    package var login: Binding? { bindings.last.flatMap { $0.isForwarding ? nil : $0 } }
}
