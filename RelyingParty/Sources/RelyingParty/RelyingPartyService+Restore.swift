// SPDX-License-Identifier: Apache-2.0

// A restored copy of the database is older than what happened since: keys that were revoked and users that were deleted
// are active again, and sessions that were ended are open again.

/// What was done after an earlier copy of the database was restored.
public struct RestoreSummary: Equatable, Sendable {
    /// Keys that were revoked again.
    public var revokedKeys = 0
    /// Keys that were frozen again.
    public var frozenKeys = 0
    /// Users that were deleted again.
    public var deletedUsers = 0
    /// Administrators that were removed again.
    public var removedAdministrators = 0
    /// Services whose credential was removed again.
    public var removedServices = 0
    /// Sessions that were ended, if all were.
    public var endedSessions = 0

    /// For the audit log.
    fileprivate var detail: String {
        """
        \(revokedKeys) revoked, \(frozenKeys) frozen, \(deletedUsers) deleted, \(removedAdministrators) demoted, \
        \(removedServices) services
        """
    }
}

extension RelyingPartyService {
    /// Makes the database agree with the list of revocations, and ends all sessions and enrolment codes, in one
    /// transaction. Can be repeated.
    ///
    /// - Throws: `unavailable`, also when the list cannot be read.
    public func restore() throws(RelyingPartyError) -> RestoreSummary {
        try working {
            let listed = try listed()
            let now = now
            return try storage.transaction { database in
                var summary = RestoreSummary()
                _ = try database.run(Statements.endAllSessions, [])
                summary.endedSessions = database.changedRowCount
                for statement in [Statements.endAllCodes, Statements.endAllApprovals, Statements.endBrowserCodes] {
                    _ = try database.run(statement, [])
                }
                for entry in try database.missing(listed) { try database.apply(entry, at: now, &summary) }
                try database.audit("restored", "", [], summary.detail, at: now)
                return summary
            }
        }
    }

    /// Compares the database with the list of revocations, when the server starts, and appends to the list what it lacks:
    /// what was committed just before the last process ended.
    ///
    /// - Returns: how many entries of the list have no effect in the database. It is an earlier copy if there is any.
    /// - Throws: `unavailable`, also when the list cannot be read.
    public func compareWithRevocations() throws(RelyingPartyError) -> Int {
        try working {
            guard revocations != nil else { return 0 }
            let listed = try listed()
            let (missing, lacking) = try storage.transaction { database -> (Int, [RevocationEntry]) in
                let states = try database.keyStates()
                let lacking =
                    states.revoked.subtracting(listed.revoked).map { RevocationEntry.revoked($0) }
                    + states.frozen.filter { listed.frozen[$0.key] == nil }.map {
                        RevocationEntry.frozen($0.key, $0.value)
                    }
                return (try database.missing(listed).count, lacking)
            }
            if missing == 0 { try record(lacking) }
            return missing
        }
    }

    /// How many entries of the list of revocations have no effect in the database. Only retires keys that it does not have.
    ///
    /// - Throws: `unavailable`, also when the list cannot be read.
    package func missingRevocations() throws(RelyingPartyError) -> Int {
        try working {
            let listed = try listed()
            return try storage.transaction { try $0.missing(listed).count }
        }
    }

    /// From now on, makes each database that takes the place of the present one agree with the list of revocations before it
    /// is used: a standby that was promoted may not have received the last ones. While that fails, every request does.
    ///
    /// Other sessions and codes stay: nothing shows that the other users are concerned.
    package func applyRevocationsToReplacements() {
        guard revocations != nil else { return }
        storage.compareReplacements { [weak self] database in try self?.applyRevocations(to: database) }
    }

    /// Other nodes use the database meanwhile, so each entry is applied with the lock of its user.
    func applyRevocations(to database: any SQLConnection) throws {
        let listed = try listed()
        let now = now
        // The lock table of PostgreSQL has some thousand entries. Each round applies an entry, unless another node did.
        for _ in 0...listed.count {
            let isComplete = try database.transaction { database in
                let missing = try database.missing(listed)
                // Bytes, because two names that Swift finds equal are two users.
                let users = Set(missing.map { Array($0.user.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
                    .prefix(256)
                for user in users { try database.lock(.user(String(decoding: user, as: UTF8.self))) }
                var summary = RestoreSummary()
                for entry in try database.missing(listed) where users.contains(Array(entry.user.utf8)) {
                    try database.apply(entry, at: now, &summary)
                }
                if summary != RestoreSummary() { try database.audit("restored", "", [], summary.detail, at: now) }
                return missing.isEmpty
            }
            if isComplete { return }
        }
        throw StorageFailure("The database does not take the entries of the list of revocations.")
    }

    /// What the list says in the end about each key, user and service.
    private func listed() throws -> ListedRevocations {
        guard let revocations else { return ListedRevocations() }
        let entries = try listedCount.withLock { count throws(StorageFailure) in
            let entries = try revocations.entries()
            // Nothing is ever removed. The disk that has the list may have been unmounted, and then there seems to be none.
            guard entries.count >= count else {
                throw StorageFailure(
                    "The list of revocations has fewer entries than before: it was deleted or replaced.")
            }
            count = entries.count
            return entries
        }
        var listed = ListedRevocations()
        for entry in entries {
            switch entry {
            case .revoked(let key): listed.revoked.insert(key)
            case .frozen(let key, let time): listed.frozen[key] = time
            case .unfrozen(let key): listed.frozen[key] = nil
            case .deleted(let pseudonym): listed.deleted.insert(pseudonym)
            case .demoted(let pseudonym, let time): listed.demoted[pseudonym] = time
            case .service(let credential): listed.services.insert(credential)
            }
        }
        return listed
    }
}

private struct ListedRevocations {
    var revoked: Set<[UInt8]> = []
    /// Keys, and when they were frozen.
    var frozen: [[UInt8]: Int64] = [:]
    /// Pseudonyms of users.
    var deleted: Set<String> = []
    /// Pseudonyms of former administrators, and when they were removed.
    var demoted: [String: Int64] = [:]
    /// Credentials of services, as they are stored.
    var services: Set<[UInt8]> = []

    var count: Int { revoked.count + frozen.count + deleted.count + demoted.count + services.count }
}

/// An entry of the list that has no effect in the database.
private struct MissingEntry {
    enum Act {
        case revoke([UInt8])
        case freeze([UInt8], Int64)
        case delete
        case demote
        case removeService([UInt8])
    }

    let act: Act
    /// Whose lock the act needs; empty for a service.
    let user: String
}

extension SQLConnection {
    /// The keys that are revoked, and those that are frozen with the time of it.
    fileprivate func keyStates() throws -> (revoked: Set<[UInt8]>, frozen: [[UInt8]: Int64]) {
        var (revoked, frozen): (Set<[UInt8]>, [[UInt8]: Int64]) = ([], [:])
        for row in try run(Statements.keyStates, []) {
            guard row.count == 3, case .blob(let key) = row[0] else {
                throw StorageFailure("A row of the keys cannot be read.")
            }
            if row[1] != .null { revoked.insert(key) }
            if case .integer(let time) = row[2] { frozen[key] = time }
        }
        return (revoked, frozen)
    }

    /// The entries that have no effect in the database. Keys that are not stored are retired.
    fileprivate func missing(_ listed: ListedRevocations) throws -> [MissingEntry] {
        let states = try keyStates()
        var missing: [MissingEntry] = []
        // Keys of deleted users are in the list, and not in the database. They are not looked up one by one: there can be many.
        let retired = Set(try run(Statements.allRetired, []).compactMap(\.first))
        for key in listed.revoked.subtracting(states.revoked) where !retired.contains(.blob(key)) {
            if let user = try retiring(key)?.user { missing.append(MissingEntry(act: .revoke(key), user: user)) }
        }
        for (key, time) in listed.frozen where states.frozen[key] == nil && !retired.contains(.blob(key)) {
            // Another node may have lifted it, in whose list that is.
            guard let user = try retiring(key)?.user, try !hasLifted(time, key) else { continue }
            missing.append(MissingEntry(act: .freeze(key, time), user: user))
        }
        for pseudonym in listed.deleted {
            guard case .text(let user)? = try run(Statements.userOf, [.text(pseudonym)]).first?.first else { continue }
            missing.append(MissingEntry(act: .delete, user: user))
        }
        for (pseudonym, time) in listed.demoted {
            guard let user = try administrator(pseudonym, since: time) else { continue }
            missing.append(MissingEntry(act: .demote, user: user))
        }
        for credential in listed.services where try !run(Statements.hasCredential, [.blob(credential)]).isEmpty {
            missing.append(MissingEntry(act: .removeService(credential), user: ""))
        }
        return missing
    }

    /// Gives an entry its effect, and ends the sessions and codes that the key or user has.
    fileprivate func apply(_ entry: MissingEntry, at now: Int64, _ summary: inout RestoreSummary) throws {
        switch entry.act {
        case .revoke(let key):
            _ = try run(Statements.revokeKey, [.integer(now), .text(entry.user), .blob(key)])
            summary.revokedKeys += changedRowCount
            // The list does not say whether all keys of the user were revoked, with the code that brings one back.
            _ = try run(Statements.dropCode, [.text(entry.user)])
            try endUse(of: key, at: now)
        case .freeze(let key, let time):
            _ = try run(Statements.freeze, [.integer(time), .blob(key)])
            summary.frozenKeys += changedRowCount
            try endUse(of: key, at: now)
        case .delete: if try delete(entry.user, at: now) != nil { summary.deletedUsers += 1 }
        case .demote:
            if try removeAdministrator(entry.user, at: now) != nil { summary.removedAdministrators += 1 }
        case .removeService(let credential):
            if try endService(withCredential: credential) { summary.removedServices += 1 }
        }
    }

    private func endUse(of key: [UInt8], at now: Int64) throws {
        _ = try run(Statements.endSessionsOfKey, [.blob(key)])
        _ = try run(Statements.endBrowserCodesOfKey, [.blob(key), .integer(now)])
    }

    /// The key that an entry of the list names. One that is not stored, because its user was deleted or it was registered
    /// after the backup, can never be registered again.
    fileprivate func retiring(_ key: [UInt8]) throws -> KeyRecord? {
        if let record = try self.key(key) { return record }
        _ = try run(Statements.retire, [.blob(key)])
        return nil
    }

    /// The user with a pseudonym who is an administrator and was not made one again, perhaps by another node, after the
    /// removal at this time.
    fileprivate func administrator(_ pseudonym: String, since removal: Int64) throws -> String? {
        guard case .text(let user)? = try run(Statements.userOf, [.text(pseudonym)]).first?.first,
            try !run(Statements.administrator, [.text(user)]).isEmpty,
            try run(Statements.administratorReturned, [.text(pseudonym), .integer(removal)]).isEmpty
        else { return nil }
        return user
    }

    /// When the user with a pseudonym was removed from the administrators last, in seconds since 1970; nil if never.
    func lastRemoval(ofAdministrator pseudonym: String) throws -> Int64? {
        switch try run(Statements.administratorRemoved, [.text(pseudonym)]).first?.first {
        case .integer(let time): time
        case .null: nil
        default: throw StorageFailure("The removals of an administrator cannot be read.")
        }
    }

    /// Removes a user from the administrators, and ends the sessions of the user's browsers.
    ///
    /// - Returns: the user's pseudonym; nil for a user who is no administrator.
    func removeAdministrator(_ user: String, at now: Int64) throws -> String? {
        _ = try run(Statements.removeAdministrator, [.text(user)])
        guard changedRowCount == 1 else { return nil }
        _ = try run(Statements.endBrowserSessionsOfUser, [.text(user)])
        _ = try run(Statements.endBrowserCodesOfUser, [.text(user)])
        try audit("administrator", user, [], "removed", at: now)
        return try pseudonym(of: user)
    }

    /// Whether the freezing of a key at a time was lifted.
    fileprivate func hasLifted(_ time: Int64, _ key: [UInt8]) throws -> Bool {
        guard case .integer(let lifted)? = try run(Statements.unfrozen, [.blob(key)]).first?.first else { return false }
        return lifted >= time
    }
}
