// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

/// A session of a browser whose user is an administrator: the right to what the administration shows. Only the service makes
/// one, and acts are permitted by another look at the database.
public struct AdministratorSession: Sendable {
    /// The name of the administrator.
    public let user: String
    /// The identifier of the key that opened the session.
    public let key: [UInt8]
    /// When the session ends, in seconds since 1970, if it is used until then.
    public let expiry: Int64
    /// A session that is not used for so long ends.
    public let idleSeconds: Int64
    /// The SHA-256 of the token, by which lists name a session.
    public let identifier: [UInt8]
    /// The form of the key, which says how it can prove itself again.
    public let form: KeyForm
    let token: [UInt8]
}

extension RelyingPartyService {
    /// What a key signs to open the administration in a browser.
    public static let administrationContext = "open the administration"

    /// Approves by a step-up that a browser opens the administration.
    ///
    /// - Parameters:
    ///   - token: the token of a session of a program.
    ///   - proof: the signature of a challenge for `stepUp` with ``administrationContext``.
    /// - Returns: a code of 32 random bytes that is valid once, and when it expires, in seconds since 1970.
    /// - Throws: `refused`, also for a user who is no administrator; `malformed` and `unavailable`.
    public func makeBrowserCode(
        _ token: [UInt8], _ proof: SignedProof
    ) throws(RelyingPartyError) -> (code: [UInt8], expiry: Int64) {
        try working {
            guard policy.permitsAdministration else { throw RelyingPartyError.refused(.administrationOff) }
            let (code, now) = (try randomBytes(32), now)
            let expiry = now + Limits.browserCodeSeconds
            try approve(token, Self.administrationContext, proof, in: .program, at: now) { database, session, _ in
                try database.requireAdministrator(session.user)
                _ = try database.run(Statements.endBrowserCodesOfKey, [.blob(session.key), .integer(now)])
                let stored = try LibCrypto.sha256(code)
                _ = try database.run(
                    Statements.insertBrowserCode, [.blob(stored), .blob(session.key), .integer(expiry)])
            }
            return (code, expiry)
        }
    }

    /// The user whose session a code would open, so that a page can ask before it does. Spends nothing.
    ///
    /// - Throws: `refused` and `unavailable`.
    public func userOfBrowserCode(_ code: [UInt8]) throws(RelyingPartyError) -> String {
        try working {
            let now = now
            return try storage.reading { try $0.keyOfBrowserCode(code, at: now).user }
        }
    }

    /// Opens a session of a browser with a code, which is spent.
    ///
    /// - Returns: a new token, 32 random bytes, and when the session ends, in seconds since 1970.
    /// - Throws: `refused`, also for a user who is no administrator any more; `unavailable`.
    public func openBrowserSession(code: [UInt8]) throws(RelyingPartyError) -> (token: [UInt8], expiry: Int64) {
        try working {
            let (token, now) = (try randomBytes(32), now)
            let user = try storage.reading { try $0.keyOfBrowserCode(code, at: now).user }
            let expiry = try storage.transaction(of: user) { database in
                let record = try database.spendBrowserCode(code, at: now)
                try record.requireActive()
                try database.requireAdministrator(record.user)
                guard policy.admits(record.form, record.tier, record.attestation.device) else {
                    throw RelyingPartyError.refused(.tierTooLow)
                }
                return try database.openSession(token, of: record, .browser, policy, at: now)
            }
            return (token, expiry)
        }
    }

    /// Finds the open session of a browser whose user is an administrator now, and notes that it is used.
    ///
    /// - Parameters:
    ///   - token: the token, which the browser has in its cookie.
    ///   - isUse: whether a person uses the session. What a page does by itself must not prolong it.
    /// - Throws: `refused` with `unknownSession` for no open session and `notAdministrator` for another user; `unavailable`.
    public func administrator(
        _ token: [UInt8], isUse: Bool = true
    ) throws(RelyingPartyError) -> AdministratorSession {
        try working {
            try found(token, .browser, at: now, isUse: isUse) { database, session in
                try database.administrator(session, token, policy)
            }
        }
    }
}

extension SQLConnection {
    func keyOfBrowserCode(_ code: [UInt8], at now: Int64) throws -> KeyRecord {
        let values: [SQLValue] = [
            .blob(try LibCrypto.sha256(code)), .integer(now), .integer(now + Limits.browserCodeSeconds),
        ]
        guard case .blob(let key)? = try run(Statements.browserCode, values).first?.first,
            let record = try self.key(key)
        else { throw RelyingPartyError.refused(.browserCode) }
        return record
    }

    /// Spends a code, once.
    ///
    /// - Parameter key: the key that must have made it; nil for any.
    /// - Returns: that key.
    @discardableResult func spendBrowserCode(
        _ code: [UInt8], of key: [UInt8]? = nil, at now: Int64
    ) throws -> KeyRecord {
        let record = try keyOfBrowserCode(code, at: now)
        guard key == nil || key == record.identifier else { throw RelyingPartyError.refused(.browserCode) }
        _ = try run(Statements.spendBrowserCode, [.blob(try LibCrypto.sha256(code))])
        // Another process may have used the code after this one read it.
        guard changedRowCount == 1 else { throw RelyingPartyError.refused(.browserCode) }
        return record
    }

    func requireAdministrator(_ user: String) throws {
        guard try !run(Statements.administrator, [.text(user)]).isEmpty else {
            throw RelyingPartyError.refused(.notAdministrator)
        }
    }

    func administrator(
        _ token: [UInt8], _ policy: RelyingPartyPolicy, at now: Int64
    ) throws -> AdministratorSession {
        try administrator(session(token, .browser, policy, at: now), token, policy)
    }

    fileprivate func administrator(
        _ session: OpenSession, _ token: [UInt8], _ policy: RelyingPartyPolicy
    ) throws -> AdministratorSession {
        try requireAdministrator(session.user)
        return AdministratorSession(
            user: session.user, key: session.key, expiry: session.expiry,
            idleSeconds: SessionKind.browser.idleSeconds(policy), identifier: try LibCrypto.sha256(token),
            form: session.form, token: token)
    }

    /// What the audit log has about an act of an administrator: the actor comes first, and a pseudonym has one length, so that
    /// no name that a user chose can pass for one.
    func detail(_ actor: String, _ detail: String) -> String {
        actor.isEmpty ? detail : "\(actor): \(detail)"
    }
}
