// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A message that a program sends to an agent (RFC 9987; OpenSSH: `PROTOCOL.agent`).
package enum SSHAgentRequest: Equatable, Sendable {
    /// `SSH_AGENTC_REQUEST_IDENTITIES`.
    case identities
    /// `SSH_AGENTC_SIGN_REQUEST`.
    case sign(key: [UInt8], data: [UInt8])
    /// `SSH_AGENTC_LOCK` with a passphrase.
    case lock(SecretBytes)
    /// `SSH_AGENTC_UNLOCK` with a passphrase.
    case unlock(SecretBytes)
    /// The extension `session-bind@openssh.com`.
    case bind(SessionBind)
    /// The same extension, malformed. The connection must not count as unbound afterwards.
    case malformedBind
    /// The extension `query`, which asks for the names of the others.
    case query
    /// The same extension, with bytes after its name.
    case malformedQuery
    /// A message that this agent never grants: to add or remove a key, to use a token, an unknown one, or an unknown
    /// extension.
    case unsupported(UInt8)

    /// The name of the extension `query`.
    package static let queryName = Array("query".utf8)

    private static let signFlags: UInt32 = 2 | 4

    /// Reads the body of a message, without its length.
    ///
    /// A passphrase is copied from `body` into a `SecretBytes` of its own and nowhere else.
    package init(decoding body: SecretBytes) throws(SSHFormatError) {
        guard let type = body.withBytes({ $0.first }) else { throw SSHFormatError() }
        switch type {
        case 22: self = .lock(try Self.passphrase(body))
        case 23: self = .unlock(try Self.passphrase(body))
        case 11, 13, 27:
            var reader = SSHReader(body.withBytes { Array($0.dropFirst()) })
            self = try Self.read(type, &reader)
        default: self = .unsupported(type)
        }
    }

    private static func read(_ type: UInt8, _ reader: inout SSHReader) throws(SSHFormatError) -> SSHAgentRequest {
        switch type {
        case 11:
            try reader.end()
            return .identities
        case 13:
            let (key, data, flags) = (try reader.string(), try reader.string(), try reader.uint32())
            try reader.end()
            // The known flags choose a digest for RSA, and the keys here have only one.
            guard flags & ~signFlags == 0 else { throw SSHFormatError() }
            return .sign(key: key, data: data)
        default:
            switch try reader.string() {
            case queryName:
                return (try? reader.end()) == nil ? .malformedQuery : .query
            case Array(SessionBind.name.utf8):
                return (try? SessionBind(&reader)).map(SSHAgentRequest.bind) ?? .malformedBind
            default: return .unsupported(type)
            }
        }
    }

    /// The `string` after the type, which must fill the message.
    private static func passphrase(_ body: SecretBytes) throws(SSHFormatError) -> SecretBytes {
        try body.withBytes { (bytes) throws(SSHFormatError) in
            guard bytes.count >= 5 else { throw SSHFormatError() }
            let length = bytes[1..<5].reduce(0) { $0 << 8 | Int($1) }
            guard length == bytes.count - 5, length <= SSHAgentLimits.passphraseBytes else { throw SSHFormatError() }
            return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[5...]))
        }
    }
}

/// The limit of everything that a program can make the agent hold; listed in `docs/use/ssh.md`.
package enum SSHAgentLimits {
    /// Maximum bytes of a message, without its length (`AGENT_MAX_LEN` of OpenSSH).
    package static let messageBytes = 256 << 10
    /// Maximum bytes of a session identifier (`AGENT_MAX_SID_LEN` of OpenSSH).
    package static let sessionIDBytes = 128
    /// Maximum sessions that are bound to one connection (`AGENT_MAX_SESSION_IDS` of OpenSSH).
    package static let bindings = 16
    /// Maximum bytes of a passphrase that locks the agent.
    package static let passphraseBytes = 1024
    /// Maximum size of a known hosts file in bytes; a larger one is refused.
    package static let knownHostsBytes = 1 << 20
    /// Maximum connections.
    package static let connections = 64
    /// Maximum connections of one process.
    package static let connectionsOfProcess = 16
    /// Maximum connections of all processes that execute the same program.
    package static let connectionsOfProgram = 32
    /// Connections reserved for programs that have at most `fewConnections`.
    package static let reservedConnections = 16
    /// Maximum connections of a program that may use a reserved connection.
    package static let fewConnections = 4
    /// Seconds for which a connection may be silent between two messages.
    package static let idleSeconds: Int64 = 600
    /// Maximum seconds between the first and the last byte of a message, and for a peer to read a reply.
    package static let messageSeconds: Int64 = 10
    /// Maximum seconds of `--reuse`.
    package static let reuseSeconds: Int64 = 300
    /// Maximum proofs that are stored for `--reuse`.
    package static let reusedProofs = 64
    /// Maximum seconds between two attempts to unlock.
    package static let unlockSeconds: Int64 = 10
}
