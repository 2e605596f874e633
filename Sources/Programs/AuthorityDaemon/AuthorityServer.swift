// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import Synchronization

/// Serves the connections of `latchkeyd` for one user: one at a time, and only of the user of that service.
final class AuthorityServer: FrameHandler {
    private let storeUser: UInt32
    private let parts: AuthorityConnection.Parts
    private let mayEnd: @Sendable () -> Bool
    private struct WeakPeer: Sendable { weak var peer: Peer? }
    private let current = Mutex(WeakPeer())

    /// - Parameter mayEnd: whether the process may end when `latchkeyd` has not been connected for some time.
    init(storeUser: UInt32, parts: AuthorityConnection.Parts, mayEnd: @escaping @Sendable () -> Bool) {
        self.storeUser = storeUser
        self.mayEnd = mayEnd
        self.parts = parts
        parts.sessions.observeSession { [weak self] event, done in
            // Without a connection no evaluation is under way; latchkeyd learns the state with the next one.
            guard let peer = self?.current.withLock({ $0.peer }) else { return done() }
            peer.authorities.apply(event, done)
        }
    }

    func serves(_ peer: PeerCredentials) -> Bool { peer.userID == storeUser }

    func connected(_ connection: FrameConnection) -> (any FrameReceiver)? {
        if let peer = current.withLock({ $0.peer }) {
            // When both services restart, latchkeyd's last connection can still wait here for its end, before that of the
            // process that replaces it.
            guard peer.hasLeft else { return nil }
            peer.disconnected()
        }
        do throws(Failure) {
            let peer = Peer(connection, try AuthorityConnection(parts) { [weak connection] in connection?.send($0) })
            current.withLock { $0.peer = peer }
            return peer
        } catch {
            parts.log.record(.authorityLost, error)
            return nil
        }
    }

    /// A peer beyond the limits of the server is disconnected; `latchkeyd` connects again later.
    func payload(of refusal: Failure) -> SecretBytes { SecretBytes([]) }

    func mayStop() -> Bool { mayEnd() }

    /// The connection of `latchkeyd`. The server releases it when the connection ends.
    private final class Peer: FrameReceiver {
        private weak let connection: FrameConnection?
        let authorities: AuthorityConnection

        init(_ connection: FrameConnection, _ authorities: AuthorityConnection) {
            (self.connection, self.authorities) = (connection, authorities)
        }

        var hasLeft: Bool { connection?.hasPeerLeft ?? true }

        func received(_ payload: SecretBytes, holding held: HeldBytes) {
            if !authorities.received(payload) { connection?.end() }
        }

        /// The peer gets no answer: both services have the same version, or the connection cannot be used.
        func refused(_ error: FrameError) {}

        func disconnected() { authorities.disconnected() }
    }
}
