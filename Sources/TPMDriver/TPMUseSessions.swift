// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// The policy sessions of uses of keys, on one connection.
struct TPMUseSessions: Sendable {
    /// A session of a begun use. All but the latest are saved outside the TPM.
    private struct Held: Sendable {
        var session: TPMSession
        /// What loads the session again; nil while it is loaded.
        var context: [UInt8]?
        /// Whether the use has not ended.
        let isBegun: @Sendable () -> Bool
    }
    /// The session of the last use, which the next one may have.
    private var idle: TPMSession?
    private var begun: [KeyChallenge.Identifier: Held] = [:]

    /// Seconds after which a nonce is not used for another approval, which is valid for 60 seconds from the nonce.
    private static let nonceSeconds: Int64 = 20

    /// Removes the sessions of uses that have ended without being finished, and saves those of the others.
    mutating func makeRoom(_ client: inout TPMClient) throws(TPMError) {
        try endSessions(&client)
        for (use, held) in begun where held.context == nil {
            do throws(TPMError) {
                begun[use]?.context = try client.saveContext(held.session.handle)
            } catch {
                // Its use fails when it is finished. Without this a flushed session would refuse all other uses until then.
                guard case .refused(let code, _) = error, code.isGone else { throw error }
                begun[use] = nil
            }
        }
    }

    /// Returns the session that was kept, unless there is none or its nonce is too old.
    mutating func takeIdle(_ client: inout TPMClient) throws(TPMError) -> TPMSession? {
        guard let session = idle else { return nil }
        idle = nil
        if client.clock.uptime - session.nonceTime < Self.nonceSeconds * 1_000_000_000 { return session }
        try client.flush(session.handle)
        return nil
    }

    /// Adds the session of a begun use.
    ///
    /// - Parameter isBegun: whether the use has not ended; the session of one that has is removed.
    mutating func add(
        _ session: TPMSession, for use: KeyChallenge.Identifier, _ isBegun: @escaping @Sendable () -> Bool
    ) {
        begun[use] = Held(session: session, isBegun: isBegun)
    }

    /// Loads the session of a begun use; does nothing for any other handle.
    mutating func load(_ handle: TPMHandle, _ client: inout TPMClient) throws(TPMError) {
        guard let (use, held) = begun.first(where: { $0.value.session.handle == handle }),
            let context = held.context
        else { return }
        do throws(TPMError) {
            try client.loadContext(context, of: handle)
            begun[use]?.context = nil
        } catch {
            // The session is gone: its use fails when it is finished, and must not stop this one.
            guard case .refused(let code, _) = error, code.isGone else { throw error }
            begun[use] = nil
        }
    }

    /// Returns the session of a use, loaded; it belongs to the caller.
    mutating func take(_ use: KeyChallenge.Identifier, _ client: inout TPMClient) throws(TPMError) -> TPMSession {
        guard let held = begun.removeValue(forKey: use) else {
            throw Self.ended(nil)
        }
        guard let context = held.context else { return held.session }
        do throws(TPMError) {
            try client.loadContext(context, of: held.session.handle)
        } catch {
            guard case .refused(let code, _) = error, code.isGone else { throw error }
            throw Self.ended(error)
        }
        return held.session
    }

    private static func ended(_ cause: TPMError?) -> TPMError {
        .failed(
            Failure(
                .timedOut, "The session or the connection to the TPM ended before the key was used.",
                hint: "Try again.", cause: cause))
    }

    /// Keeps a session for the next use.
    mutating func keep(_ session: TPMSession, _ client: inout TPMClient) {
        guard idle == nil else { return forget(session, &client) }
        idle = session
        idle?.password = nil
    }

    /// Removes a session.
    func forget(_ session: TPMSession, _ client: inout TPMClient) {
        // A session that cannot be removed now is removed with the connection.
        try? client.flush(session.handle)
    }

    /// Removes all sessions but those of begun uses. What cannot be removed now is removed with the connection.
    mutating func releaseIdle(_ client: inout TPMClient) {
        // A session that remains is removed when the next use begins.
        try? endSessions(&client)
        if let session = idle { forget(session, &client) }
        idle = nil
    }

    /// Removes the sessions of begun uses, which end with the process. What cannot be removed now is removed with the
    /// connection.
    mutating func endAll(_ client: inout TPMClient) {
        for held in begun.values { forget(held.session, &client) }
        begun = [:]
    }

    /// Removes the sessions of uses that have ended without being finished.
    private mutating func endSessions(_ client: inout TPMClient) throws(TPMError) {
        for (use, held) in begun where !held.isBegun() {
            begun[use] = nil
            // A saved session has its handle until it is removed.
            try client.flush(held.session.handle)
        }
    }
}
