// SPDX-License-Identifier: Apache-2.0

public import RelyingPartyAttestation
public import SignInVerification

/// What is known about a passkey besides its key. All of it is claimed, because no list of makers is used.
public struct RegisteredPasskey: Sendable {
    /// The identifier of the credential, 16 to 1,023 bytes.
    public let credential: [UInt8]
    /// The AAGUID, 16 bytes: the model of the authenticator, or zeros.
    public let authenticator: [UInt8]
    /// Who vouched for the key when it was registered: `none`, `self` or `certificate`.
    public let statement: String
    /// Whether the passkey has left its authenticator, at its last use.
    public let backup: PasskeyBackup
}

/// A registered key, for the operator. What is proven and what is claimed are separate properties.
public struct RegisteredKey: Sendable {
    /// The identifier, 32 bytes.
    public let identifier: [UInt8]
    /// The signature algorithm.
    public let algorithm: SignatureAlgorithm
    /// The public key in the form of ``VerificationKey/bytes``: for ES256 the point without compression, 65 bytes.
    public let publicKey: [UInt8]
    /// The name of the device, as its user chose it.
    public let device: String
    /// What the key signs.
    public let form: KeyForm
    /// What else is known about a passkey; nil for other forms.
    public let passkey: RegisteredPasskey?
    /// The declared tier, which is a claim.
    public let declaredTier: DeclaredTier
    /// What is proven about the key, and which verification of the user is claimed.
    public let attestation: Attestation
    /// When the key was registered, in seconds since 1970.
    public let created: Int64
    /// When the key was revoked, in seconds since 1970; nil if it was not.
    public let revoked: Int64?
    /// When the key was frozen, in seconds since 1970; nil if it is not.
    public let frozen: Int64?
    /// The highest counter that was accepted; nil if there was none.
    public let counter: Int64?

    init(_ record: KeyRecord) {
        (identifier, device) = (record.identifier, record.device)
        (algorithm, publicKey) = (record.algorithm, record.publicKey)
        (form, declaredTier, attestation) = (record.form, record.tier, record.attestation)
        passkey = record.passkey.map { passkey in
            RegisteredPasskey(
                credential: passkey.credential, authenticator: passkey.authenticator,
                statement: passkey.statement.rawValue, backup: passkey.backup)
        }
        (created, revoked, frozen, counter) = (record.created, record.revoked, record.frozen, record.counter)
    }
}

/// Everything that is stored of a user, except hashes of tokens and codes.
public struct StoredUser: Sendable {
    /// A session that is open.
    public struct Session: Sendable {
        /// The identifier of the key that opened it.
        public let key: [UInt8]
        /// When it was opened, in seconds since 1970.
        public let created: Int64
        /// When it was used last, with an error of a tenth of the permitted idle time.
        public let used: Int64
        /// When it ends, in seconds since 1970.
        public let expiry: Int64
    }
    /// A row of the audit log.
    public struct Event: Sendable {
        /// The number of the row.
        public let number: Int64
        /// When it happened, in seconds since 1970.
        public let time: Int64
        /// What happened, such as `login`.
        public let event: String
        /// The identifier of the key, or empty.
        public let key: [UInt8]
        /// More about it, such as the act that was approved.
        public let detail: String
    }
    /// The name.
    public let user: String
    /// What the audit log has in place of the name; nil if it has no row of the user.
    public let pseudonym: String?
    /// The keys, from the first that was registered.
    public let keys: [RegisteredKey]
    /// The open sessions, from the first that was opened.
    public let sessions: [Session]
    /// When the enrolment code expires, in seconds since 1970; nil if there is none.
    public let codeExpiry: Int64?
    /// The rows of the audit log, in their order.
    public let events: [Event]
}

extension RelyingPartyService {
    /// The keys of a user, from the first that was registered; the revoked ones as well.
    ///
    /// - Throws: `malformed` and `unavailable`.
    public func keys(of user: String) throws(RelyingPartyError) -> [RegisteredKey] {
        try working {
            try check(user: user, key: [UInt8](repeating: 0, count: 32))
            return try storage.transaction { database in try database.keys(of: user) }.map(RegisteredKey.init)
        }
    }

    /// Whether anything is stored of a user, or was until the user was deleted.
    ///
    /// - Throws: `malformed` and `unavailable`.
    public func knows(_ user: String) throws(RelyingPartyError) -> Bool {
        try working {
            try check(user: user, key: ChallengePurpose.noKey)
            return try storage.reading { try $0.knownPseudonym(of: user) != nil }
        }
    }

    /// Everything that is stored of a user, as of one moment.
    ///
    /// - Throws: `malformed` and `unavailable`.
    public func export(_ user: String) throws(RelyingPartyError) -> StoredUser {
        try working {
            try check(user: user, key: [UInt8](repeating: 0, count: 32))
            return try storage.transaction { database in
                let pseudonym = try database.knownPseudonym(of: user)
                let sessions = try database.run(Statements.sessionsOfUser, [.text(user)]).map { row in
                    guard row.count == 4, case .blob(let key) = row[0], case .integer(let created) = row[1],
                        case .integer(let used) = row[2], case .integer(let expiry) = row[3]
                    else { throw StorageFailure("A row of the sessions cannot be read.") }
                    return StoredUser.Session(key: key, created: created, used: used, expiry: expiry)
                }
                let rows = try pseudonym.map { try database.run(Statements.auditOfUser, [.text($0)]) } ?? []
                let events = try rows.map { row in
                    guard row.count == 5, case .integer(let number) = row[0], case .integer(let time) = row[1],
                        case .text(let event) = row[2], case .blob(let key) = row[3], case .text(let detail) = row[4]
                    else { throw StorageFailure("A row of the audit log cannot be read.") }
                    return StoredUser.Event(number: number, time: time, event: event, key: key, detail: detail)
                }
                var codeExpiry: Int64?
                if case .integer(let expiry)? = try database.run(Statements.codeOfUser, [.text(user)]).first?.first {
                    codeExpiry = expiry
                }
                return StoredUser(
                    user: user, pseudonym: pseudonym, keys: try database.keys(of: user).map(RegisteredKey.init),
                    sessions: sessions, codeExpiry: codeExpiry, events: events)
            }
        }
    }

    /// Deletes a user: keys, sessions, enrolment code and the connection of the name with the pseudonym in the audit log.
    /// The rows of the audit log stay, so that its chain can be verified.
    ///
    /// - Returns: the number of keys; nil for a user of whom nothing is stored.
    /// - Throws: `malformed` and `unavailable`.
    public func delete(_ user: String) throws(RelyingPartyError) -> Int? {
        try working {
            try check(user: user, key: [UInt8](repeating: 0, count: 32))
            let now = now
            let deleted = try storage.transaction(of: user) { database in try database.delete(user, at: now) }
            guard let deleted else { return nil }
            try record([.deleted(deleted.pseudonym)])
            return deleted.count
        }
    }
}

extension SQLConnection {
    func delete(_ user: String, at now: Int64) throws -> (pseudonym: String, count: Int)? {
        let count = try keys(of: user).count
        // A user whose only row is an enrolment code has a pseudonym too: making the code is in the audit log.
        guard try count > 0 || knownPseudonym(of: user) != nil else { return nil }
        let pseudonym = try pseudonym(of: user)
        try audit("delete", user, [], "\(count) keys", at: now)
        _ = try run(Statements.endSessionsOfUser, [.text(user)])
        _ = try run(Statements.retireUser, [.text(user)])
        _ = try run(Statements.removeAdministrator, [.text(user)])
        _ = try run(Statements.endBrowserCodesOfUser, [.text(user)])
        _ = try run(Statements.deletePasskeys, [.text(user)])
        _ = try run(Statements.deleteKeys, [.text(user)])
        _ = try run(Statements.dropCode, [.text(user)])
        _ = try run(Statements.deleteUser, [.text(user)])
        return (pseudonym, count)
    }
}
