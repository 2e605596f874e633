// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
internal import SignInVerification

// What registrations of all forms of keys have in common.

extension RelyingPartyService {
    /// Runs the transaction that stores a new key.
    ///
    /// - Parameters:
    ///   - right: what permits the registration, which `body` verifies.
    ///   - body: the statements; returns the key that they froze, or nil.
    func registering(
        _ user: String, by right: RegistrationRight, at now: Int64, _ body: (any SQLConnection) throws -> [UInt8]?
    ) throws {
        // Any client can sign with a key of their own, so a token or code that they made up is refused before the transaction.
        switch right {
        case .session(let token, let kind, _): _ = try found(token, kind, at: now) { $1 }
        case .code(let code):
            let candidates = try stored(typed: code)
            guard
                try storage.reading({ database in
                    try candidates.contains { try !database.run(Statements.hasCode, [.blob($0)]).isEmpty }
                })
            else { throw RelyingPartyError.refused(.wrongCode) }
        }
        if let frozen = try storage.transaction(of: user, body) { throw try self.frozen(frozen, at: now) }
    }

    /// What is stored of a code that a person typed.
    private func stored(typed text: String) throws -> [[UInt8]] {
        guard let code = EnrolmentCode(typed: text) else { throw RelyingPartyError.refused(.wrongCode) }
        return try stored(code)
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
            let key = record.verificationKey(session.key)
            switch (record.form, sessionProof) {
            case (.bound, .signature(let signature)):
                guard key.isValid(signature, for: message(proof, purpose, "", isRaw: false)) else {
                    throw RelyingPartyError.refused(.wrongSignature)
                }
            case (.passkey, .assertion(let assertion)):
                return try use(assertion, of: record, naming: proof.key, at: now, in: database)
            default: throw RelyingPartyError.refused(.otherForm)
            }
        }
        return nil
    }

    private func spend(_ code: String, of user: String, at now: Int64, in database: any SQLConnection) throws {
        for stored in try stored(typed: code) {
            _ = try database.run(
                Statements.spendCode,
                [.blob(stored), .text(user), .integer(now), .integer(now + Limits.codeSeconds)])
            if database.changedRowCount == 1 { return }
        }
        throw RelyingPartyError.refused(.wrongCode)
    }

    /// Verifies that a passkey signed a challenge that names the new key, and counts.
    private func use(
        _ assertion: PasskeyAssertionResponse, of record: KeyRecord, naming key: [UInt8],
        at now: Int64, in database: any SQLConnection
    ) throws -> [UInt8]? {
        guard policy.permitsPasskeys else { throw RelyingPartyError.refused(.passkeysOff) }
        let binding = ChallengeBinding(
            user: record.user, key: record.identifier, purpose: .register, context: RevocationTarget.key(key).text)
        let challenge = try challenges.check(assertion.challenge, binding, at: now)
        let counter = try verify(assertion, challenge, record, isUserNamed: true, at: now)
        try database.spend(challenge)
        let isCounted = try database.advance(record, counter, policy.counters, at: now)
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
