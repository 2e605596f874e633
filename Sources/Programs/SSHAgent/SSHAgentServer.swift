// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
package import LatchkeySystem
import Synchronization

/// Accepts the connections of one user's programs and serves each on a thread of its own.
package final class SSHAgentServer: Sendable {
    /// Back-off before accepting again after descriptors ran out, in milliseconds.
    private static let acceptPause: CInt = 50
    private let listener: Descriptor
    private let agent: SSHAgent
    private let user: UInt32
    private let caps: Mutex<ConnectionCaps>

    /// Serves `listener`, a non-blocking socket, to processes of `user`.
    package init(_ listener: Descriptor, _ agent: SSHAgent, user: UInt32 = geteuid()) {
        self.listener = listener
        self.agent = agent
        self.user = user
        var bounds = ConnectionCaps.Bounds()
        bounds.total = SSHAgentLimits.connections
        bounds.process = SSHAgentLimits.connectionsOfProcess
        bounds.program = SSHAgentLimits.connectionsOfProgram
        bounds.reserved = SSHAgentLimits.reservedConnections
        bounds.few = SSHAgentLimits.fewConnections
        caps = Mutex(ConnectionCaps(bounds))
    }

    /// Serves until the listener fails. Blocks the thread.
    package func run() throws(SystemError) {
        while true {
            _ = try listener.wait(for: POLLIN, until: nil)
            do throws(SystemError) {
                while let socket = try Sockets.accept(listener) { serve(socket) }
            } catch {
                // Out of descriptors or memory: the peer stays in the listen queue.
                guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.code) else { throw error }
                poll(nil, 0, Self.acceptPause)
            }
        }
    }

    /// Starts a thread for a connection; one of another user, or beyond a limit, is closed without an answer.
    private func serve(_ socket: Descriptor) {
        guard let peer = try? Sockets.peer(socket), peer.userID == user else { return }
        let process = PeerProcess(socket, peer)
        if let refusal = caps.withLock({ $0.admit(process: peer.processID, program: process.program) }) {
            return agent.log(agent.words("a connection was refused: \(agent.text(of: refusal))"))
        }
        Processes.detachThread { [self] in
            var connection = SSHConnection(socket, process, agent)
            connection.serve()
            caps.withLock { $0.leave(process: peer.processID, program: process.program) }
            Sockets.shutDown(socket)
        }
    }
}
