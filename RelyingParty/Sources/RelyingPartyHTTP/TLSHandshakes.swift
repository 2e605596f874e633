// SPDX-License-Identifier: Apache-2.0

internal import CServerHTTP
internal import Synchronization

/// The handshakes of the process, by socket. GnuTLS' functions are called with a session only, which has the number of
/// its socket. The process has one server with TLS.
enum TLSHandshakes {
    private struct Handshake {
        /// Kept until the connection ends, because GnuTLS copies neither the chain nor the key.
        let certificate: TLSCertificate
        var isComplete = false
    }

    private struct State {
        var current: TLSCertificate?
        var bySocket: [CInt: Handshake] = [:]
    }

    private static let state = Mutex(State())

    /// Handshakes that begin from now on use this certificate; the others keep theirs.
    static func use(_ certificate: TLSCertificate) { state.withLock { $0.current = certificate } }

    static func began(_ socket: CInt) {
        state.withLock { state in
            guard let certificate = state.current else { return }
            state.bySocket[socket] = Handshake(certificate: certificate)
        }
    }

    /// Returns whether the handshake was complete.
    static func ended(_ socket: CInt) -> Bool {
        // The certificate is released outside the lock.
        let handshake = state.withLock { $0.bySocket.removeValue(forKey: socket) }
        return handshake?.isComplete ?? false
    }

    /// Has the end of the handshake of a session noted.
    static func observe(_ session: gnutls_session_t) {
        gnutls_handshake_set_hook_function(
            session, UInt32(GNUTLS_HANDSHAKE_FINISHED.rawValue), GNUTLS_HOOK_POST
        ) { session, _, _, incoming, _ in
            // The client's message, which is the proof that it has the keys.
            guard incoming != 0, let session else { return 0 }
            let socket = gnutls_transport_get_int(session)
            TLSHandshakes.state.withLock { $0.bySocket[socket]?.isComplete = true }
            return 0
        }
    }

    /// What GnuTLS calls for the certificate of a handshake. A negative result ends the handshake.
    static let certificate:
        @convention(c) (
            gnutls_session_t?, UnsafePointer<gnutls_datum_t>?, CInt, UnsafePointer<gnutls_pk_algorithm_t>?, CInt,
            UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?, UnsafeMutablePointer<UInt32>?,
            UnsafeMutablePointer<gnutls_privkey_t?>?
        ) -> CInt = { session, _, _, _, _, chain, count, privateKey in
            guard let session, let chain, let count, let privateKey else { return -1 }
            let socket = gnutls_transport_get_int(session)
            guard let certificate = TLSHandshakes.state.withLock({ $0.bySocket[socket]?.certificate }) else {
                return -1
            }
            (chain.pointee, count.pointee, privateKey.pointee) = (
                certificate.chain, certificate.count, certificate.privateKey
            )
            return 0
        }
}
