// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
public import SignInVerification

/// How an administrator proves the key of the session again, before an act that creates a right: the browser may have been
/// left open.
public enum AdministratorProof: Sendable {
    /// The passkey of the session signs a challenge for `stepUp`, whose context names the act.
    case passkey(PasskeyAssertionResponse)
    /// A code that a program made by a step-up with the key of the session, as for the opening of a browser. It is spent.
    case code([UInt8])
}

// What administrators do. Each act is a transaction that makes sure that the session is open, that its user is an
// administrator, and that the audit log names who acted.

extension RelyingPartyService {
    /// Makes a user an administrator, because the operator asks for it, with an enrolment code for a key.
    ///
    /// - Returns: the code, as of ``makeCode(for:)``.
    /// - Throws: `malformed` and `unavailable`.
    public func addAdministrator(_ user: String) throws(RelyingPartyError) -> String {
        try working {
            try check(user: user, key: [UInt8](repeating: 0, count: 32))
            let (made, now) = (try newCode(), now)
            try storage.transaction(of: user) { database in
                _ = try database.run(Statements.addAdministrator, [.text(user)])
                if database.changedRowCount == 1 { try database.audit("administrator", user, [], "added", at: now) }
                try database.replaceCode(of: user, made.stored, at: now)
            }
            return made.code
        }
    }

    /// Removes a user from the administrators, and ends the sessions of the user's browsers. Keys stay as they are.
    ///
    /// - Returns: whether the user was an administrator, or the list of revocations lacked the removal, which it has now.
    /// - Throws: `malformed` and `unavailable`.
    public func removeAdministrator(_ user: String) throws(RelyingPartyError) -> Bool {
        try working {
            try check(user: user, key: [UInt8](repeating: 0, count: 32))
            let now = now
            typealias Removal = (pseudonym: String, time: Int64, isNew: Bool)
            let removal = try storage.transaction(of: user) { database -> Removal? in
                if let pseudonym = try database.removeAdministrator(user, at: now) { return (pseudonym, now, true) }
                // The process that removed the user may have ended before it wrote its line. A line that no row of the log
                // explains would count as missing in the database as soon as the user is added.
                guard let pseudonym = try database.knownPseudonym(of: user),
                    let time = try database.lastRemoval(ofAdministrator: pseudonym)
                else { return nil }
                return (pseudonym, time, false)
            }
            guard let removal, try removal.isNew || lacksRemoval(removal.pseudonym, removal.time) else { return false }
            try record([.demoted(removal.pseudonym, removal.time)])
            return true
        }
    }

    /// Whether there is a list of revocations that has neither the removal of an administrator at a time nor a later one.
    private func lacksRemoval(_ pseudonym: String, _ time: Int64) throws -> Bool {
        guard let revocations else { return false }
        return try !revocations.entries().contains { entry in
            if case .demoted(pseudonym, let listed) = entry { listed >= time } else { false }
        }
    }

    /// Revokes keys, and ends their sessions, because an administrator asks for it.
    ///
    /// - Returns: the number of revoked keys.
    /// - Throws: `refused` for a session that is over, or whose user is no administrator any more; `malformed` and
    ///   `unavailable`. The same holds for the other acts.
    public func revoke(
        _ target: RevocationTarget, of user: String, by administrator: AdministratorSession
    ) throws(RelyingPartyError) -> Int {
        try working {
            let revoked = try act(administrator, on: user) { database, actor, now in
                try database.revoke(target, of: user, by: administrator.key, actor, at: now)
            }
            try record(revoked.map { .revoked($0) })
            return revoked.count
        }
    }

    /// What a passkey signs before an administrator makes an enrolment code.
    public static func codeContext(_ user: String) -> String { "make an enrolment code for " + user }

    /// What a passkey signs before an administrator lets a frozen key be used again.
    public static func unfreezeContext(_ key: [UInt8]) -> String { "unfreeze the key " + StrictBase64.url.encode(key) }

    /// Lets a frozen key be used again, as ``unfreeze(_:of:)``.
    ///
    /// - Parameter proof: of the key of the session, for ``unfreezeContext(_:)``.
    /// - Returns: whether the key was frozen.
    public func unfreeze(
        _ key: [UInt8], of user: String, by administrator: AdministratorSession, _ proof: AdministratorProof
    ) throws(RelyingPartyError) -> Bool {
        try working {
            let context = Self.unfreezeContext(key)
            let isFrozen = try act(administrator, on: user, proof, context) { database, actor, now in
                try database.unfreeze(key, of: user, actor, at: now)
            }
            if isFrozen { try record([.unfrozen(key)]) }
            return isFrozen
        }
    }

    /// Makes an enrolment code for a user, as ``makeCode(for:)``.
    ///
    /// - Parameter proof: of the key of the session, for ``codeContext(_:)``.
    public func makeCode(
        for user: String, by administrator: AdministratorSession, _ proof: AdministratorProof
    ) throws(RelyingPartyError) -> (code: String, expiry: Int64) {
        try working {
            try check(user: user, key: [UInt8](repeating: 0, count: 32))
            let made = try newCode()
            let context = Self.codeContext(user)
            let expiry = try act(administrator, on: user, proof, context) { database, actor, now in
                try database.replaceCode(of: user, made.stored, by: administrator.key, actor, at: now)
                return now + Limits.codeSeconds
            }
            return (made.code, expiry)
        }
    }

    /// Ends one session of a user, or all of them.
    ///
    /// - Parameter session: the identifier of the session, 32 bytes; nil for all.
    /// - Returns: the number of ended sessions.
    public func endSessions(
        of user: String, _ session: [UInt8]?, by administrator: AdministratorSession
    ) throws(RelyingPartyError) -> Int {
        try working {
            try act(administrator, on: user) { database, actor, now in
                if let session {
                    _ = try database.run(Statements.endSessionOfUser, [.blob(session), .text(user)])
                } else {
                    _ = try database.run(Statements.endSessionsOfUser, [.text(user)])
                }
                let count = database.changedRowCount
                guard count > 0 else { return 0 }
                let detail = database.detail(actor, "\(count) sessions")
                try database.audit("end-sessions", user, administrator.key, detail, at: now)
                return count
            }
        }
    }

    /// Runs an act that creates a right, in the transaction that spends the proof of the administrator's key.
    private func act<Result>(
        _ administrator: AdministratorSession, on user: String, _ proof: AdministratorProof, _ context: String,
        _ body: (any SQLConnection, _ actor: String, _ now: Int64) throws -> Result
    ) throws -> Result {
        let verified: VerifiedProof? =
            switch proof {
            case .passkey(let assertion):
                try verify(
                    SignedProof(user: administrator.user, key: administrator.key, assertion: assertion), .stepUp,
                    context, at: now)
            case .code: nil
            }
        let result: Result? = try act(administrator, on: user) { database, actor, now in
            if let verified {
                let record = try database.requireActive(verified.key)
                try database.spend(verified.challenge)
                guard try database.advance(record, verified.counter, policy.counters, at: now) else { return nil }
            } else if case .code(let code) = proof {
                try database.spendBrowserCode(code, of: administrator.key, at: now)
            }
            return try body(database, actor, now)
        }
        guard let result else { throw try frozen(administrator.key, at: now) }
        return result
    }

    /// Runs an act in a transaction that has the locks of both users, in the same order everywhere.
    private func act<Result>(
        _ administrator: AdministratorSession, on user: String,
        _ body: (any SQLConnection, _ actor: String, _ now: Int64) throws -> Result
    ) throws -> Result {
        try check(user: user, key: [UInt8](repeating: 0, count: 32))
        let now = now
        return try storage.transaction { database in
            let users = [administrator.user, user].sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            for user in users { try database.lock(.user(user)) }
            _ = try database.administrator(administrator.token, policy, at: now)
            // The row of the user is written before the act, because it may be the administrator who is revoked.
            return try body(database, "administrator " + database.pseudonym(of: administrator.user), now)
        }
    }
}
