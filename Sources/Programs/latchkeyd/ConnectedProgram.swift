// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import LatchkeyModel
import LatchkeyService
import LatchkeySystem
import Synchronization

/// Passes the frames of a connection to its session, or to the prompter once the program has registered as the agent.
final class ConnectedProgram: FrameReceiver {
    private enum Role: Sendable {
        /// No frame has arrived.
        case unknown
        case client
        case agent(RegisteredAgent)
        /// Registration was refused; further frames end the connection.
        case refused
    }

    private let role = Mutex(Role.unknown)
    private let session: HostSession
    private let count: SessionCount
    private let agents: AgentPrompter
    private weak let connection: FrameConnection?

    init(_ connection: FrameConnection, _ session: HostSession, _ count: SessionCount, _ agents: AgentPrompter) {
        self.connection = connection
        self.session = session
        self.count = count
        self.agents = agents
        count.add(1)
    }

    func received(_ payload: SecretBytes, holding held: HeldBytes) {
        let (role, isFirst) = role.withLock { role in
            guard case .unknown = role else { return (role, false) }
            role = firstRole(payload)
            return (role, true)
        }
        switch role {
        case .client, .unknown: session.receive(payload, holding: held)
        case .agent(let agent): if !isFirst, !agent.received(payload) { connection?.end() }
        case .refused: connection?.end()
        }
    }

    /// Determines the role from the first frame. An agent is not a client: its session is closed and no longer counted.
    private func firstRole(_ payload: SecretBytes) -> Role {
        guard let connection, AgentPrompter.isRegistration(payload) else { return .client }
        session.close()
        count.add(-1)
        // The daemon of a user serves one agent for all sessions of the user.
        let agent = agents.register(user: connection.peer.userID, session: "") { [weak connection] in
            connection?.send($0)
        }
        return agent.map { .agent($0) } ?? .refused
    }

    func refused(_ error: FrameError) {
        // An agent gets no answer; its connection ends.
        switch role.withLock({ $0 }) {
        case .unknown, .client: break
        case .agent, .refused: return
        }
        // The user's own daemon compares no senders.
        if error != .otherSender, let failure = error.answer { session.refuse(failure) }
    }

    func disconnected() {
        switch role.withLock({ $0 }) {
        case .unknown, .client:
            count.add(-1)
            session.close()
        case .agent(let agent): agent.disconnected()
        case .refused: break
        }
    }
}

extension FrameError {
    /// What is sent to a client before its connection ends; nil for nothing.
    var answer: Failure? {
        switch self {
        case .version(let version):
            Failure(
                .unsupportedVersion,
                "This daemon speaks version \(Limits.wireVersion) of the protocol, not \(version).",
                hint: "Install the same version of library and daemon.")
        case .tooLong(let count):
            Failure(.limitExceeded, "A frame has at most \(Limits.frameBytes) bytes, not \(count).")
        case .timedOut: Failure(.timedOut, "A frame did not arrive in time.")
        case .otherSender:
            Failure(
                .peerNotTrusted, "Another process than the one that connected has sent a request.",
                hint: "A connection does not pass to a child process; connect in the child.")
        case .closed, .system: nil
        }
    }
}

/// The number of connected clients.
final class SessionCount: Sendable {
    private let count = Atomic(0)

    /// Whether no other client waits while one is served.
    var isOneAtMost: Bool { count.load(ordering: .relaxed) <= 1 }

    var isNone: Bool { count.load(ordering: .relaxed) == 0 }

    func add(_ more: Int) { count.add(more, ordering: .relaxed) }
}
