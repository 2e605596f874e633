// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyTransport
import PromptDriver
import Synchronization

/// The socket on which the programs that show prompts connect: one for each login session of a user.
final class AgentServer: FrameHandler {
    private let agents: AgentPrompter
    private let refusals: AgentRefusals
    private let identify: @Sendable (ProcessName) throws(Failure) -> ProgramIdentity

    init(
        _ agents: AgentPrompter, clock: any Clock, log: any EventLog,
        identify: @escaping @Sendable (ProcessName) throws(Failure) -> ProgramIdentity
    ) {
        self.agents = agents
        refusals = AgentRefusals(clock, log)
        self.identify = identify
    }

    /// A user without an ID here cannot have an agent.
    func serves(_ peer: PeerCredentials) -> Bool { !UnmappedUser.includes(peer.userID) }

    func connected(_ connection: FrameConnection) -> (any FrameReceiver)? {
        // A process that has ended meanwhile has no session, and a prompt for it could not be answered.
        guard let startTime = connection.process.knownStartTime else { return nil }
        let name = ProcessName(
            processID: connection.peer.processID, startTime: startTime, userID: connection.peer.userID)
        do throws(Failure) {
            return Program(connection, agents, refusals, session: try identify(name).session)
        } catch {
            refusals.note(connection.peer, "it cannot be identified: \(error.message)")
            return nil
        }
    }

    func payload(of refusal: Failure) -> SecretBytes { SecretBytes([]) }

    func mayStop() -> Bool { true }

    /// The connection of a program that shows prompts.
    private final class Program: FrameReceiver {
        private enum Role: Sendable {
            case unknown
            case agent(RegisteredAgent)
            case refused
        }
        private weak let connection: FrameConnection?
        private let agents: AgentPrompter
        private let refusals: AgentRefusals
        private let session: String
        private let role = Mutex(Role.unknown)

        init(
            _ connection: FrameConnection, _ agents: AgentPrompter, _ refusals: AgentRefusals, session: String
        ) {
            self.connection = connection
            self.agents = agents
            self.refusals = refusals
            self.session = session
        }

        func received(_ payload: SecretBytes, holding held: HeldBytes) {
            switch role.withLock({ $0 }) {
            case .unknown: register(payload)
            case .agent(let agent): if !agent.received(payload) { connection?.end() }
            case .refused: connection?.end()
            }
        }

        private func register(_ payload: SecretBytes) {
            guard let connection, AgentPrompter.isRegistration(payload) else {
                role.withLock { $0 = .refused }
                if let connection { refusals.note(connection.peer, "its first message is no registration") }
                connection?.end()
                return
            }
            let agent = agents.register(user: connection.peer.userID, session: session) { [weak connection] in
                connection?.send($0)
            }
            role.withLock { $0 = agent.map { .agent($0) } ?? .refused }
            // The refusal is sent first.
            if agent == nil {
                refusals.note(connection.peer, "another program shows the prompts of its login session")
                connection.end()
            }
        }

        func refused(_ error: FrameError) {}

        func disconnected() {
            if case .agent(let agent) = role.withLock({ $0 }) { agent.disconnected() }
        }
    }
}
