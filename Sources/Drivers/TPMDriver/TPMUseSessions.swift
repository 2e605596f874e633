// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

// The policy sessions of uses of keys.

extension TPMClient {
    /// Seconds after which a nonce is not used for another approval, which is valid for 60 seconds from the nonce.
    private static let nonceSeconds: Int64 = 20

    var hasBegunUses: Bool { held.begun.values.contains { $0.isBegun() } }

    /// Removes the sessions of uses that have ended without being finished, and saves those of the others.
    mutating func saveSessions() throws(TPMError) {
        try endSessions()
        for (use, begun) in held.begun where begun.context == nil {
            do throws(TPMError) {
                let context = try saveContext(begun.session.handle)
                held.begun[use]?.context = context
            } catch {
                // Its use fails when it is finished. Without this a flushed session would refuse all other uses until then.
                guard case .refused(let code, _) = error, code.isGone else { throw error }
                held.begun[use] = nil
            }
        }
    }

    /// Returns the cached session, unless there is none, its nonce is too old, or it is salted for another storage root key
    /// than that of the key it is for: a device on the bus could have shown one of its own for an earlier use.
    mutating func takeIdleSession(below parent: [UInt8]) throws(TPMError) -> TPMSession? {
        guard let session = held.idle else { return nil }
        held.idle = nil
        let isFresh = clock.uptime - session.nonceTime < Self.nonceSeconds * 1_000_000_000
        if isFresh, session.root == parent { return session }
        try flush(session.handle)
        return nil
    }

    /// Renews the nonce of the cached session, from which approvals are counted, unless it is younger than that many
    /// seconds. The TPM makes a new nonce with each command that a session takes part in (`TPM2_GetRandom`).
    mutating func renewIdleSession(olderThan seconds: Int64) {
        guard var session = held.idle, clock.uptime - session.nonceTime >= seconds * 1_000_000_000 else { return }
        held.idle = nil
        do throws(TPMError) {
            _ = try send(.getRandom, [], [0, 8], in: &session, encryptsResponse: true)
        } catch {
            // The use begins another one.
            return forgetSession(session)
        }
        held.idle = session
    }

    /// Adds the session of a begun use.
    ///
    /// - Parameter isBegun: whether the use has not ended; the session of one that has is removed.
    mutating func addSession(
        _ session: TPMSession, for use: KeyChallenge.Identifier, _ isBegun: @escaping @Sendable () -> Bool
    ) {
        held.begun[use] = TPMHeld.Begun(session: session, isBegun: isBegun)
    }

    /// Loads the session of a begun use; does nothing for any other handle.
    mutating func loadSession(_ handle: TPMHandle) throws(TPMError) {
        guard let (use, begun) = held.begun.first(where: { $0.value.session.handle == handle }),
            let context = begun.context
        else { return }
        do throws(TPMError) {
            try loadContext(context, of: handle)
            held.begun[use]?.context = nil
        } catch {
            // The session is gone: its use fails when it is finished, and must not stop this one.
            guard case .refused(let code, _) = error, code.isGone else { throw error }
            held.begun[use] = nil
        }
    }

    /// Returns the session of a use, loaded; it belongs to the caller.
    mutating func takeSession(_ use: KeyChallenge.Identifier) throws(TPMError) -> TPMSession {
        guard let begun = held.begun.removeValue(forKey: use) else { throw Self.ended(nil) }
        guard let context = begun.context else { return begun.session }
        do throws(TPMError) {
            try loadContext(context, of: begun.session.handle)
        } catch {
            guard case .refused(let code, _) = error, code.isGone else { throw error }
            throw Self.ended(error)
        }
        return begun.session
    }

    private static func ended(_ cause: TPMError?) -> TPMError {
        .failed(
            Failure(
                .timedOut, "The session or the connection to the TPM ended before the key was used.",
                hint: "Try again.", cause: cause))
    }

    mutating func storeSession(_ session: TPMSession) {
        guard held.idle == nil else { return forgetSession(session) }
        held.idle = session
        held.idle?.password = nil
    }

    mutating func forgetSession(_ session: TPMSession) {
        // A session that cannot be removed now is removed with the connection.
        try? flush(session.handle)
    }

    /// Removes all sessions but those of begun uses. What cannot be removed now is removed with the connection.
    mutating func releaseIdleSessions() {
        // A session that remains is removed when the next use begins.
        try? endSessions()
        if let session = held.idle { forgetSession(session) }
        held.idle = nil
    }

    /// Removes the sessions of begun uses, which end with the process. What cannot be removed now is removed with the
    /// connection.
    mutating func endAllSessions() {
        for begun in held.begun.values { forgetSession(begun.session) }
        held.begun = [:]
    }

    /// Removes the sessions of uses that have ended without being finished.
    private mutating func endSessions() throws(TPMError) {
        for (use, begun) in held.begun where !begun.isBegun() {
            held.begun[use] = nil
            // A saved session has its handle until it is removed.
            try flush(begun.session.handle)
        }
    }
}
