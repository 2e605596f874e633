// SPDX-License-Identifier: Apache-2.0

import AuthorityHost
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyTransport
import Synchronization

/// The socket on which `latchkeyd` connects: one peer at a time, and only the user of that service.
final class AuthorityServer: FrameHandler {
    private let storeUser: UInt32
    private let parts: AuthorityConnection.Parts
    private let isConnected = Mutex(false)
    private struct WeakConnection: Sendable { weak var authorities: AuthorityConnection? }
    private let current = Mutex(WeakConnection())

    init(storeUser: UInt32, parts: AuthorityConnection.Parts) {
        self.storeUser = storeUser
        self.parts = parts
        parts.sessions.observeSession { [weak self] event, done in
            // Without a connection no evaluation is under way; latchkeyd learns the state with the next one.
            guard let authorities = self?.current.withLock({ $0.authorities }) else { return done() }
            authorities.follow(event, done)
        }
    }

    func serves(_ peer: PeerCredentials) -> Bool { peer.userID == storeUser }

    func connected(_ connection: FrameConnection) -> (any FrameReceiver)? {
        let isFirst = isConnected.withLock { isConnected in
            defer { isConnected = true }
            return !isConnected
        }
        guard isFirst else { return nil }
        do throws(Failure) {
            let authorities = try AuthorityConnection(parts) { [weak connection] in connection?.send($0) }
            current.withLock { $0.authorities = authorities }
            return Peer(connection, authorities) { [self] in isConnected.withLock { $0 = false } }
        } catch {
            isConnected.withLock { $0 = false }
            parts.log.note(.authorityLost, error)
            return nil
        }
    }

    /// A peer beyond the limits of the server is disconnected; `latchkeyd` connects again later.
    func payload(of refusal: Failure) -> SecretBytes { SecretBytes([]) }

    func mayStop() -> Bool { true }

    /// The connection of `latchkeyd`.
    private final class Peer: FrameReceiver {
        private weak let connection: FrameConnection?
        private let authorities: AuthorityConnection
        private let ended: @Sendable () -> Void

        init(
            _ connection: FrameConnection, _ authorities: AuthorityConnection, ended: @escaping @Sendable () -> Void
        ) {
            self.connection = connection
            self.authorities = authorities
            self.ended = ended
        }

        func received(_ payload: SecretBytes, holding held: HeldBytes) {
            if !authorities.received(payload) { connection?.end() }
        }

        /// The peer gets no answer: both services have the same version, or the connection cannot be used.
        func refused(_ error: FrameError) {}

        func disconnected() {
            authorities.disconnected()
            ended()
        }
    }
}
