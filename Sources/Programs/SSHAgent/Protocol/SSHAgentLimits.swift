// SPDX-License-Identifier: Apache-2.0

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
    /// Maximum proofs that are kept for `--reuse`.
    package static let reusedProofs = 64
    /// Maximum seconds between two attempts to unlock.
    package static let unlockSeconds: Int64 = 10
}
