// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyAttestation
internal import RelyingPartyCrypto
internal import SignInVerification

/// A registered key as it is stored.
struct KeyRecord: Sendable {
    let identifier: [UInt8]
    let user: String
    let device: String
    let algorithm: SignatureAlgorithm
    /// The public key in the form of ``VerificationKey/bytes``.
    let publicKey: [UInt8]
    let form: KeyForm
    let tier: DeclaredTier
    /// Times in seconds since 1970.
    let created: Int64
    private(set) var revoked: Int64?
    /// The highest counter that was accepted.
    private(set) var counter: Int64?
    private(set) var frozen: Int64?
    let attestation: Attestation
    /// What is stored of a passkey; nil for other forms.
    private(set) var passkey: PasskeyRecord?

    var isRaw: Bool { form == .raw }
    var isRevoked: Bool { revoked != nil }
    var isFrozen: Bool { frozen != nil }

    /// Reads a row; nil for one with other types or unknown names, which this version did not write.
    init?(_ row: [SQLValue]) {
        guard row.count == 20, case .blob(let identifier) = row[0], case .text(let user) = row[1],
            case .text(let device) = row[2], case .integer(let name) = row[3],
            let algorithm = SignatureAlgorithm(rawValue: name), case .blob(let publicKey) = row[4],
            case .integer(let number) = row[5], let form = KeyForm(rawValue: number),
            case .text(let tierName) = row[6], let tier = DeclaredTier(rawValue: tierName),
            case .integer(let created) = row[7], case .text(let attested) = row[11],
            let kind = AttestedDevice(rawValue: attested), case .text(let model) = row[12],
            case .blob(let chip) = row[13], case .text(let verification) = row[14]
        else { return nil }
        guard let revoked = Self.optional(row[8]), let counter = Self.optional(row[9]),
            let frozen = Self.optional(row[10])
        else { return nil }
        (self.identifier, self.user, self.device) = (identifier, user, device)
        (self.algorithm, self.publicKey) = (algorithm, publicKey)
        (self.form, self.tier, self.created) = (form, tier, created)
        (self.revoked, self.counter, self.frozen) = (revoked, counter, frozen)
        attestation = Attestation(device: kind, model: model, chip: chip, claimedUserVerification: verification)
        passkey = PasskeyRecord(row[15...])
        // A passkey without its row, or a row of another key, was not written by this program.
        guard (passkey != nil) == (form == .passkey), form == .passkey || algorithm == .es256 else { return nil }
    }

    /// The key with the columns of ``Statements/keyState``; nil for a row that this version did not write.
    func updated(_ row: [SQLValue]) -> KeyRecord? {
        guard row.count == 4, let revoked = Self.optional(row[0]), let counter = Self.optional(row[1]),
            let frozen = Self.optional(row[2]), let synced = Self.optional(row[3]),
            (synced != nil) == (form == .passkey)
        else { return nil }
        var current = self
        (current.revoked, current.counter, current.frozen) = (revoked, counter, frozen)
        if let synced {
            guard let backup = PasskeyBackup(rawValue: synced) else { return nil }
            current.passkey?.backup = backup
        }
        return current
    }

    /// A number that may be missing; nil for a value of another type.
    private static func optional(_ value: SQLValue) -> Int64?? {
        switch value {
        case .integer(let number): .some(number)
        case .null: .some(nil)
        default: nil
        }
    }
}

/// The database: transactions, several at a time if it lends several connections. Every call blocks until the database
/// has answered.
package final class Storage: Sendable {
    private let database: any SQLDatabase

    /// - Parameter database: a database whose tables exist.
    package init(_ database: any SQLDatabase) { self.database = database }

    /// Runs statements as one transaction: all of them are durable when this returns, or none when it throws, unless the
    /// failure says that this is unknown.
    ///
    /// - Parameters:
    ///   - user: whose keys, codes and sessions the statements read and change: nothing else does until the end. Nil if
    ///     no decision depends on what they read.
    ///   - body: the statements. Run again if the transaction is known to have had no effect, so it has no effects itself.
    func transaction<Result>(of user: String? = nil, _ body: (any SQLConnection) throws -> Result) throws -> Result {
        try repeated {
            try database.transaction { connection in
                if let user { try connection.lock(.user(user)) }
                return try body(connection)
            }
        }
    }

    /// Runs statements that only read, beside the transactions that write. Throws if the database was deleted or replaced: what
    /// it has would be out of date.
    func reading<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        try repeated {
            try database.read { connection in
                try connection.requirePlace()
                return try body(connection)
            }
        }
    }

    package func read(_ sql: String, _ values: [SQLValue]) throws -> [[SQLValue]] {
        try database.read { try $0.run(sql, values) }
    }

    /// The key with this identifier, or the one that no user has.
    func keyOrDecoy(_ identifier: [UInt8]) throws -> KeyRecord {
        try repeated { try database.read { try $0.keyOrDecoy(Statements.keyOrDecoy, identifier) } }
    }

    /// The passkey with this identifier of its credential, or the key that no user has.
    func passkeyOrDecoy(_ credential: [UInt8]) throws -> KeyRecord {
        try repeated { try database.read { try $0.keyOrDecoy(Statements.passkeyOrDecoy, credential) } }
    }

    /// Ends the use of the tables by programs of earlier versions.
    ///
    /// - Returns: whether there was anything to end.
    package func finishUpgrade() throws(StorageFailure) -> Bool { try database.finishUpgrade() }

    /// How the database is used now.
    var use: DatabaseUse { database.use }

    /// See ``SQLDatabase/compareReplacements(_:)``.
    func compareReplacements(_ body: @escaping @Sendable (any SQLConnection) throws -> Void) {
        database.compareReplacements(body)
    }

    /// See ``SQLDatabase/recompare()``.
    func recompare() { database.recompare() }

    /// Renews what the database needs renewed while nothing else is done.
    func maintain() throws { try database.maintain() }

    private func repeated<Result>(_ body: () throws -> Result) throws -> Result {
        for _ in 0..<2 {
            do {
                return try body()
            } catch let failure as StorageFailure where failure.isRepeatable {
                continue
            }
        }
        return try body()
    }
}

/// What decides whether a challenge of an epoch can be spent.
private struct EpochState {
    /// The time since which challenges are accepted, in seconds since 1970.
    let accepted: Int64
    /// The last epoch whose table was dropped.
    let dropped: Int64
    /// Whether the epoch has a table of nonces.
    let hasTable: Bool

    init(_ database: any SQLConnection, _ epoch: Int64) throws {
        let numbers = try database.run(Statements.marks, [.integer(epoch)]).joined().map { value -> Int64 in
            guard case .integer(let number) = value else { throw StorageFailure("A mark of the epochs is missing.") }
            return number
        }
        guard numbers.count == 3 else { throw StorageFailure("The marks of the epochs are missing.") }
        (accepted, dropped, hasTable) = (numbers[0], numbers[1], numbers[2] == 1)
    }
}

extension SQLConnection {
    func key(_ identifier: [UInt8]) throws -> KeyRecord? {
        try keys(Statements.key, [.blob(identifier)]).first
    }

    func keyOrDecoy(_ statement: String, _ identifier: [UInt8]) throws -> KeyRecord {
        let decoy = SQLValue.blob([UInt8](repeating: 0, count: 32))
        guard let record = try keys(statement, [.blob(identifier), decoy]).first else {
            throw StorageFailure("The row of the keys that no user has is missing.")
        }
        return record
    }

    /// The keys of a user, from the first that was registered, the revoked ones as well.
    func keys(of user: String) throws -> [KeyRecord] { try keys(Statements.allKeysOfUser, [.text(user)]) }

    private func keys(_ statement: String, _ values: [SQLValue]) throws -> [KeyRecord] {
        try run(statement, values).map { row in
            guard let record = KeyRecord(row) else { throw StorageFailure("A row of the keys cannot be read.") }
            return record
        }
    }

    /// Stores a key that was proven, once: `keyExists` also for a key that was revoked, or whose user was deleted.
    func insert(
        _ key: VerificationKey, of user: String, device: String, _ form: KeyForm, _ tier: DeclaredTier,
        _ attestation: Attestation, at now: Int64
    ) throws {
        do throws(StorageFailure) {
            _ = try run(
                Statements.insertKey,
                [
                    .blob(key.identifier), .text(user), .text(device), .integer(key.algorithm.rawValue),
                    .blob(key.bytes), .integer(form.rawValue), .text(tier.rawValue), .integer(now),
                    .text(attestation.device.rawValue), .text(attestation.model),
                    .blob(attestation.chip), .text(attestation.claimedUserVerification),
                ])
        } catch  where error.isDuplicate {
            throw RelyingPartyError.refused(.keyExists)
        }
        // After the insertion, which waits for another node that deletes the key.
        guard try run(Statements.retired, [.blob(key.identifier)]).isEmpty else {
            throw RelyingPartyError.refused(.keyExists)
        }
    }

    /// Spends a challenge, once: `replayed` for one that was spent, or whose table was dropped.
    func spend(_ challenge: Challenge) throws {
        let epoch = challenge.epoch
        let known = try EpochState(self, epoch)
        if !known.hasTable { try createEpoch(epoch) }
        // The creation waits for another node that drops tables: a table that was dropped must not come back.
        let state = known.hasTable ? known : try EpochState(self, epoch)
        // A clock that was set back must not revive challenges whose nonces are gone.
        guard epoch > state.dropped else { throw RelyingPartyError.refused(.replayed) }
        // What was spent before may be missing in a database that was restored, or whose standby took over.
        guard challenge.issued >= state.accepted else { throw RelyingPartyError.refused(.otherEpoch) }
        do throws(StorageFailure) {
            _ = try run(Statements.spend(epoch), [.blob(challenge.nonce)])
        } catch  where error.isDuplicate {
            throw RelyingPartyError.refused(.replayed)
        }
    }

    /// Makes the table of an epoch, unless it exists.
    func createEpoch(_ epoch: Int64) throws {
        try lock(.epochs)
        guard try run(Statements.epoch, [.integer(epoch)]).isEmpty else { return }
        _ = try run(Statements.insertEpoch, [.integer(epoch)])
        for statement in createSpent(epoch) { _ = try run(statement, []) }
    }

    /// Appends a row to the chain of this node in the audit log. Its hash covers the row and the hash of the one before. The
    /// row has the pseudonym of the user.
    func audit(_ event: String, _ user: String, _ key: [UInt8], _ detail: String = "", at now: Int64) throws {
        try lock(.audit)
        let last = try head(of: node)
        guard last.number < .max else { throw StorageFailure("The audit log is full.") }
        if last.number == 0 { _ = try run(Statements.insertNode, [.text(node)]) }
        let user = user.isEmpty ? "" : try pseudonym(of: user)
        let row = AuditRow(
            node: node, number: last.number + 1, time: now, event: event, user: user, key: key, detail: detail)
        _ = try run(
            Statements.insertAudit,
            [
                .text(node), .integer(row.number), .integer(now), .text(event), .text(user), .blob(key), .text(detail),
                .blob(try row.hash(after: last.hash)),
            ])
    }
}
