// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

// What registrations of all forms of keys have in common.

extension RelyingPartyService {
    /// Runs the transaction that stores a new key. A wrong code counts as a try and stores nothing else.
    ///
    /// - Parameters:
    ///   - right: what permits the registration, which `body` verifies.
    ///   - body: the statements; returns the key that they froze, or nil.
    func registering(
        _ user: String, by right: RegistrationRight, at now: Int64, _ body: (any SQLConnection) throws -> [UInt8]?
    ) throws {
        // Any client can sign with a key of their own, so a token that they made up is refused before the transaction.
        if case .session(let token, let kind, _) = right { _ = try found(token, kind, at: now) { $1 } }
        let (isRegistered, frozen): (Bool, [UInt8]?) = try storage.transaction(of: user) { database in
            _ = try database.run("SAVEPOINT attempt", [])
            do {
                return (true, try body(database))
            } catch RelyingPartyError.refused(.wrongCode) {
                // In the same transaction, so that no second try is made before this one counts. It changes one row
                // that exists, for every user, and adds none: any client can sign with a key of their own, so a
                // failed registration must not store anything.
                _ = try database.run("ROLLBACK TO SAVEPOINT attempt", [])
                _ = try database.run(Statements.countTry, [.text(user), .integer(Limits.codeTries)])
                return (false, nil)
            }
        }
        guard isRegistered else { throw RelyingPartyError.refused(.wrongCode) }
        if let frozen { throw try self.frozen(frozen, at: now) }
    }

    func check(device: String) throws {
        guard Limits.deviceBytes.contains(device.utf8.count), !device.utf8.contains(0) else {
            throw RelyingPartyError.malformed("device")
        }
    }

    /// Spends a code, or verifies that the key of a session wants the new key.
    ///
    /// - Parameters:
    ///   - proof: names the user, the new key and the challenge of its registration.
    ///   - purpose: the purpose of that challenge.
    /// - Returns: the key of the session if its counter froze it: the caller commits that, stores nothing else, and refuses.
    func use(
        _ right: RegistrationRight, for proof: SignedProof, _ purpose: ChallengePurpose, at now: Int64,
        in database: any SQLConnection
    ) throws -> [UInt8]? {
        switch right {
        case .code(let code): try spend(code, of: proof.user, at: now, in: database)
        case .session(let token, let kind, let sessionProof):
            let session = try database.session(token, kind, policy, at: now)
            guard session.user.utf8.elementsEqual(proof.user.utf8) else {
                throw RelyingPartyError.refused(.unknownSession)
            }
            // A server that relayed a challenge to a raw key has such a session, and would make it last by a key of
            // its own.
            guard !session.isRaw else { throw RelyingPartyError.refused(.rawKey) }
            guard let record = try database.key(session.key) else {
                throw RelyingPartyError.refused(.wrongSignature)
            }
            let key = P256PublicKey(registered: record.point, identifier: session.key)
            switch (record.form, sessionProof) {
            case (.bound, .signature(let signature)):
                guard key.isValid(signature, for: message(proof, purpose, "", isRaw: false)) else {
                    throw RelyingPartyError.refused(.wrongSignature)
                }
            case (.passkey, .assertion(let assertion, let signature)):
                return try use(assertion, signature, of: record, naming: proof.key, at: now, in: database)
            default: throw RelyingPartyError.refused(.otherForm)
            }
        }
        return nil
    }

    private func spend(_ code: String, of user: String, at now: Int64, in database: any SQLConnection) throws {
        var isSpent = false
        for stored in try stored(code: code, of: user) {
            _ = try database.run(
                Statements.spendCode,
                [
                    .text(user), .blob(stored), .integer(now), .integer(now + Limits.codeSeconds),
                    .integer(Limits.codeTries),
                ])
            isSpent = isSpent || database.changedRowCount == 1
        }
        guard isSpent else { throw RelyingPartyError.refused(.wrongCode) }
    }

    /// Verifies that a passkey signed a challenge that names the new key, and counts.
    private func use(
        _ assertion: PasskeyAssertion, _ signature: [UInt8], of record: KeyRecord, naming key: [UInt8],
        at now: Int64, in database: any SQLConnection
    ) throws -> [UInt8]? {
        let assertion = try read(assertion)
        let binding = ChallengeBinding(
            user: record.user, key: record.identifier, purpose: .register, context: RevocationTarget.key(key).text)
        let challenge = try checked(assertion.client.challenge, binding, at: now)
        try check(assertion)
        guard
            P256PublicKey(registered: record.point, identifier: record.identifier)
                .isValid(signature, for: assertion.signed)
        else { throw RelyingPartyError.refused(.wrongSignature) }
        try database.spend(challenge)
        let isCounted = try database.advance(record, assertion.counter(of: record), at: now)
        return isCounted ? nil : record.identifier
    }
}

extension SQLConnection {
    /// Refuses another key of a user who has as many as are permitted.
    func requireRoom(for user: String) throws {
        guard case .integer(let count)? = try run(Statements.keysOfUser, [.text(user)]).first?.first,
            count < Limits.keysOfUser
        else { throw RelyingPartyError.refused(.tooManyKeys) }
    }
}
