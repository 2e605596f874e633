// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import Synchronization

/// Serves the programs of one user that show prompts: one for each login session.
final class AgentServer: FrameHandler {
    /// A connection that does not register would take the place of one that does.
    static let deadlines: FrameServer.Deadlines = {
        var deadlines = FrameServer.Deadlines()
        deadlines.firstFrameSeconds = Limits.frameSeconds
        return deadlines
    }()

    private let programs = Atomic(0)
    private let user: UInt32
    private let agents: AgentPrompter
    private let refusals: AgentRefusals
    private let identify: @Sendable (ProcessName) throws(Failure) -> ProgramIdentity

    init(
        _ agents: AgentPrompter, of user: UInt32, clock: any Clock, log: any EventLog,
        identify: @escaping @Sendable (ProcessName) throws(Failure) -> ProgramIdentity
    ) {
        self.agents = agents
        self.user = user
        refusals = AgentRefusals(clock, log)
        self.identify = identify
    }

    /// The accepting process has chosen by the same credentials.
    func serves(_ peer: PeerCredentials) -> Bool { peer.userID == user }

    /// Whether no program is connected.
    var isUnused: Bool { programs.load(ordering: .relaxed) == 0 }

    func connected(_ connection: FrameConnection) -> (any FrameReceiver)? {
        // A process that has ended meanwhile has no session, and a prompt for it could not be answered.
        guard let startTime = connection.process.knownStartTime else { return nil }
        let name = ProcessName(
            processID: connection.peer.processID, startTime: startTime, userID: connection.peer.userID)
        // Counted first: the process must not leave meanwhile.
        programs.add(1, ordering: .relaxed)
        do throws(Failure) {
            return Program(self, connection, session: try identify(name).session)
        } catch {
            programs.subtract(1, ordering: .relaxed)
            refusals.record(connection.peer, "it cannot be identified: \(error.message)")
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
        private let server: AgentServer
        private weak let connection: FrameConnection?
        private let session: String
        private let role = Mutex(Role.unknown)
        private var agents: AgentPrompter { server.agents }
        private var refusals: AgentRefusals { server.refusals }

        init(_ server: AgentServer, _ connection: FrameConnection, session: String) {
            (self.server, self.connection, self.session) = (server, connection, session)
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
                if let connection { refusals.record(connection.peer, "its first message is no registration") }
                connection?.end()
                return
            }
            let agent = agents.register(user: connection.peer.userID, session: session) { [weak connection] in
                connection?.send($0)
            }
            role.withLock { $0 = agent.map { .agent($0) } ?? .refused }
            // The refusal is sent first.
            if agent == nil {
                refusals.record(connection.peer, "another program shows the prompts of its login session")
                connection.end()
            }
        }

        func refused(_ error: FrameError) {}

        func disconnected() {
            server.programs.subtract(1, ordering: .relaxed)
            if case .agent(let agent) = role.withLock({ $0 }) { agent.disconnected() }
        }
    }
}
