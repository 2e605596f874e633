// SPDX-License-Identifier: Apache-2.0

public import RelyingPartyAttestation
internal import RelyingPartyCrypto
internal import SignInVerification

/// A session, as long as it is open.
public struct OpenSession: Equatable, Sendable {
    /// The name of the user.
    public let user: String
    /// The identifier of the key that opened the session.
    public let key: [UInt8]
    /// When the session ends, in seconds since 1970, if it is used until then.
    public let expiry: Int64
    /// The form of that key.
    public let form: KeyForm
    /// The tier that was declared for that key.
    public let declaredTier: DeclaredTier
    /// The evidence about that key, and what its device claims.
    public let attestation: Attestation

    var isRaw: Bool { form == .raw }
}

extension RelyingPartyService {
    /// Opens a session: verifies the proof, spends the challenge and stores the hash of the token.
    ///
    /// - Parameter proof: the signature of a challenge for `login`.
    /// - Returns: the token, 32 random bytes, and when the session ends at the latest, in seconds since 1970.
    /// - Throws: `refused`, `malformed` and `unavailable`.
    public func signIn(_ proof: SignedProof) throws(RelyingPartyError) -> (token: [UInt8], expiry: Int64) {
        try working {
            let now = now
            let verified = try verify(proof, .login, "", at: now)
            return try open(.program, verified, at: now)
        }
    }

    /// Opens a session of a key whose proof was verified.
    ///
    /// - Parameter require: throws for a user who may have no such session. Called in the transaction, before anything is
    ///   written.
    func open(
        _ kind: SessionKind, _ verified: VerifiedProof, at now: Int64,
        _ require: (any SQLConnection, _ user: String) throws -> Void = { _, _ in }
    ) throws -> (token: [UInt8], expiry: Int64) {
        let token = try randomBytes(32)
        let expiry: Int64? = try storage.transaction(of: verified.key.user) { database in
            let record = try database.requireActive(verified.key)
            try require(database, record.user)
            try database.spend(verified.challenge)
            guard try database.advance(record, verified.counter, policy.counters, at: now) else { return nil }
            return try database.openSession(token, of: record, kind, policy, at: now)
        }
        guard let expiry else { throw try frozen(verified.key.identifier, at: now) }
        return (token, expiry)
    }

    /// Finds an open session of a program, and notes that it is used.
    ///
    /// - Parameter token: the token.
    /// - Returns: the session.
    /// - Throws: `refused` for a session that is unknown, over, or one of a browser, and `unavailable`.
    public func session(_ token: [UInt8]) throws(RelyingPartyError) -> OpenSession {
        try session(token, of: .program)
    }

    /// Finds an open session of a browser, and notes that it is used.
    ///
    /// - Parameter token: the token, from the cookie.
    /// - Returns: the session.
    /// - Throws: `refused` for a session that is unknown, over, or one of a program, and `unavailable`.
    public func browserSession(_ token: [UInt8]) throws(RelyingPartyError) -> OpenSession {
        try session(token, of: .browser)
    }

    private func session(_ token: [UInt8], of kind: SessionKind) throws(RelyingPartyError) -> OpenSession {
        try working { try found(token, kind, at: now) { _, session in session } }
    }

    /// Finds an open session, and notes that it is used if that is due. An invented token is refused outside the
    /// transactions that write, of which a failing one makes others run again.
    ///
    /// - Parameters:
    ///   - isUse: whether the request is a use of the session, which prolongs it.
    ///   - body: what else is read.
    func found<Result>(
        _ token: [UInt8], _ kind: SessionKind, at now: Int64, isUse: Bool = true,
        _ body: (any SQLConnection, OpenSession) throws -> Result
    ) throws -> Result {
        let (result, isUseDue) = try storage.reading { database in
            let found = try database.findSession(token, kind, policy, at: now)
            return (try body(database, found.session), found.isUseDue)
        }
        guard isUse, isUseDue else { return result }
        return try storage.transaction { database in
            try body(database, database.session(token, kind, policy, at: now))
        }
    }

    /// Approves one act within a session: the key of the session has signed what the act is.
    ///
    /// - Parameters:
    ///   - token: the token of the session.
    ///   - context: the act, such as "pay 20 EUR to Bob", as the challenge and the signed message have it. It is stored
    ///     in the audit log.
    ///   - proof: the signature of a challenge for `stepUp` with this context.
    ///   - kind: the kind of the session.
    /// - Returns: the session, and an approval, 32 random bytes, which a service can redeem once until it expires.
    /// - Throws: `refused`, also for a key that is not the session's; `malformed` for an empty context; `unavailable`.
    public func stepUp(
        _ token: [UInt8], context: String, _ proof: SignedProof, in kind: SessionKind = .program
    ) throws(RelyingPartyError) -> (session: OpenSession, approval: (code: [UInt8], expiry: Int64)) {
        try working {
            guard !context.isEmpty else { throw RelyingPartyError.malformed("context") }
            let (code, now) = (try randomBytes(32), now)
            let expiry = now + Limits.approvalSeconds
            let session = try approve(token, context, proof, in: kind, at: now) { database, session, issued in
                _ = try database.run(
                    Statements.insertApproval,
                    [
                        .blob(try LibCrypto.sha256(code)), .blob(try LibCrypto.sha256(token)), .text(context),
                        // The time of a challenge can be a moment ahead after another server of databases took over.
                        .integer(max(now, issued)), .integer(expiry),
                    ])
                return session
            }
            return (session, (code, expiry))
        }
    }

    /// Verifies a step-up, and has its effect in the transaction that spends the challenge.
    func approve<Result>(
        _ token: [UInt8], _ context: String, _ proof: SignedProof, in kind: SessionKind, at now: Int64,
        _ effect: (any SQLConnection, OpenSession, _ issued: Int64) throws -> Result
    ) throws -> Result {
        let verified = try verify(proof, .stepUp, context, at: now)
        let result: Result? = try storage.transaction(of: proof.user) { database in
            let session = try database.session(token, kind, policy, at: now)
            guard session.key == proof.key else { throw RelyingPartyError.refused(.otherBinding) }
            try database.spend(verified.challenge)
            let record = try database.requireActive(verified.key)
            guard try database.advance(record, verified.counter, policy.counters, at: now) else { return nil }
            _ = try database.run(Statements.stepSession, [.integer(now), .blob(try LibCrypto.sha256(token))])
            try database.audit("step-up", proof.user, proof.key, context, at: now)
            return try effect(database, session, verified.challenge.issued)
        }
        guard let result else { throw try frozen(proof.key, at: now) }
        return result
    }

    /// Ends a session, if it is open. An invented token begins no transaction, as in ``session(_:)``.
    ///
    /// - Parameters:
    ///   - token: the token.
    ///   - kind: the kind of the session; one of the other kind stays open.
    /// - Throws: `unavailable`.
    public func endSession(_ token: [UInt8], of kind: SessionKind = .program) throws(RelyingPartyError) {
        try working {
            let values: [SQLValue] = [.blob(try LibCrypto.sha256(token)), .integer(kind.rawValue)]
            guard try storage.reading({ try !$0.run(Statements.hasSession, values).isEmpty }) else { return }
            _ = try storage.transaction { try $0.run(Statements.endSession, values) }
        }
    }
}

extension SQLConnection {
    /// Ends the oldest sessions of a key, so that it can have another one.
    fileprivate func limitSessions(of key: [UInt8]) throws {
        guard case .integer(let count)? = try run(Statements.sessionsOfKey, [.blob(key)]).first?.first else {
            throw StorageFailure("The sessions of a key cannot be counted.")
        }
        // Almost always none or one.
        for _ in 0..<max(0, count - Limits.sessionsOfKey + 1) {
            _ = try run(Statements.endOldestSession, [.blob(key)])
        }
    }

    /// Opens a session of a key whose right to it was verified in this transaction: stores the hash of a new token.
    ///
    /// - Returns: when the session ends, in seconds since 1970.
    func openSession(
        _ token: [UInt8], of record: KeyRecord, _ kind: SessionKind, _ policy: RelyingPartyPolicy, at now: Int64
    ) throws -> Int64 {
        let expiry = now + kind.seconds(policy)
        // Before the insertion: several sessions of one second have no order, and the new one must stay.
        try limitSessions(of: record.identifier)
        _ = try run(
            Statements.insertSession,
            [
                .blob(try LibCrypto.sha256(token)), .blob(record.identifier), .integer(now), .integer(expiry),
                .integer(kind.rawValue),
            ])
        try audit("login", record.user, record.identifier, kind == .browser ? "browser" : "", at: now)
        return expiry
    }

    /// Finds an open session, and notes that it is used if that is due.
    func session(
        _ token: [UInt8], _ kind: SessionKind, _ policy: RelyingPartyPolicy, at now: Int64
    ) throws -> OpenSession {
        let found = try findSession(token, kind, policy, at: now)
        if found.isUseDue {
            _ = try run(Statements.useSession, [.integer(now), .blob(try LibCrypto.sha256(token))])
        }
        return found.session
    }

    /// Finds an open session, and writes nothing.
    func findSession(
        _ token: [UInt8], _ kind: SessionKind, _ policy: RelyingPartyPolicy, at now: Int64
    ) throws -> FoundSession {
        let hash = try LibCrypto.sha256(token)
        let idle = kind.idleSeconds(policy)
        guard let row = try run(Statements.session, [.blob(hash), .integer(kind.rawValue)]).first, row.count == 6,
            case .blob(let key) = row[0], case .integer(let used) = row[1], case .integer(let expiry) = row[2],
            case .integer(let created) = row[3], let record = try self.key(key)
        else { throw RelyingPartyError.refused(.unknownSession) }
        // A service that checks a session after its last use, and does not say that this is one, knows how it is used.
        var (isChecked, stepped): (Bool, Int64?) = (false, nil)
        if case .integer(let checked) = row[4] { isChecked = checked >= used }
        if case .integer(let time) = row[5] { stepped = time }
        guard now < expiry, isChecked || now - idle < used else { throw RelyingPartyError.refused(.unknownSession) }
        // A last use in the future is one of a clock that was set back: the session would live longer than permitted.
        guard used <= now + Limits.clockSeconds else { throw RelyingPartyError.refused(.unknownSession) }
        // The minimum may have been raised since the session was opened.
        guard policy.admits(record.form, record.tier, record.attestation.device) else {
            throw RelyingPartyError.refused(.tierTooLow)
        }
        let session = OpenSession(
            user: record.user, key: key, expiry: expiry, form: record.form, declaredTier: record.tier,
            attestation: record.attestation)
        return FoundSession(
            session: session, created: created, stepped: stepped, isChecked: isChecked, isUseDue: now - used > idle / 10
        )
    }
}

/// An open session as it is stored.
struct FoundSession {
    let session: OpenSession
    /// When it was opened, in seconds since 1970.
    let created: Int64
    /// When its key approved an act last, in seconds since 1970.
    let stepped: Int64?
    /// Whether a service has checked it since its last use.
    let isChecked: Bool
    /// Whether its last use is to be written: only when a tenth of the idle time has passed since the one before, so that
    /// most requests write nothing.
    let isUseDue: Bool
}
