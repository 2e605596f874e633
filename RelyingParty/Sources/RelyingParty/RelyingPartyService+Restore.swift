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
    /// Sessions that were ended.
    public var endedSessions = 0
}

extension RelyingPartyService {
    /// Makes the database agree with the list of revocations, and ends all sessions and enrolment codes, in one
    /// transaction. Can be repeated.
    ///
    /// - Throws: `unavailable`, also when the list cannot be read.
    public func restore() throws(RelyingPartyError) -> RestoreSummary {
        try working {
            let state = try listed()
            let now = now
            return try storage.transaction { database in
                var summary = RestoreSummary()
                _ = try database.run(Statements.endAllSessions, [])
                summary.endedSessions = database.changedRowCount
                _ = try database.run(Statements.endAllCodes, [])
                _ = try database.run(Statements.endAllApprovals, [])
                _ = try database.run(Statements.endBrowserCodes, [])
                for key in state.revoked {
                    guard let record = try database.retiring(key), !record.isRevoked else { continue }
                    _ = try database.run(Statements.revokeKey, [.integer(now), .text(record.user), .blob(key)])
                    summary.revokedKeys += 1
                }
                for (key, time) in state.frozen where try database.retiring(key) != nil {
                    guard try !database.hasLifted(time, key) else { continue }
                    _ = try database.run(Statements.freeze, [.integer(time), .blob(key)])
                    summary.frozenKeys += database.changedRowCount
                }
                for pseudonym in state.deleted {
                    guard case .text(let user)? = try database.run(Statements.userOf, [.text(pseudonym)]).first?.first
                    else { continue }
                    _ = try database.delete(user, at: now)
                    summary.deletedUsers += 1
                }
                for (pseudonym, time) in state.demoted {
                    guard let user = try database.administrator(pseudonym, since: time) else { continue }
                    _ = try database.removeAdministrator(user, at: now)
                    summary.removedAdministrators += 1
                }
                let detail = """
                    \(summary.revokedKeys) revoked, \(summary.frozenKeys) frozen, \(summary.deletedUsers) deleted, \
                    \(summary.removedAdministrators) demoted
                    """
                try database.audit("restored", "", [], detail, at: now)
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
            let state = try listed()
            let (missing, lacking) = try storage.transaction { database -> (Int, [RevocationEntry]) in
                var (revoked, frozen): (Set<[UInt8]>, [[UInt8]: Int64]) = ([], [:])
                for row in try database.run(Statements.keyStates, []) {
                    guard row.count == 3, case .blob(let key) = row[0] else {
                        throw StorageFailure("A row of the keys cannot be read.")
                    }
                    if row[1] != .null { revoked.insert(key) }
                    if case .integer(let time) = row[2] { frozen[key] = time }
                }
                var missing = 0
                // Keys of deleted users are in the list, and not in the database.
                for key in state.revoked.subtracting(revoked) {
                    if try database.retiring(key) != nil { missing += 1 }
                }
                for (key, time) in state.frozen where frozen[key] == nil {
                    // Another node may have lifted it, in whose list that is.
                    if try database.retiring(key) != nil, try !database.hasLifted(time, key) { missing += 1 }
                }
                for pseudonym in state.deleted {
                    if try !database.run(Statements.userOf, [.text(pseudonym)]).isEmpty { missing += 1 }
                }
                for (pseudonym, time) in state.demoted {
                    if try database.administrator(pseudonym, since: time) != nil { missing += 1 }
                }
                let lacking =
                    revoked.subtracting(state.revoked).map { RevocationEntry.revoked($0) }
                    + frozen.filter { state.frozen[$0.key] == nil }.map { RevocationEntry.frozen($0.key, $0.value) }
                return (missing, lacking)
            }
            if missing == 0 { try record(lacking) }
            return missing
        }
    }

    /// What the list says in the end about each key and user.
    private func listed() throws -> ListedRevocations {
        var state = ListedRevocations()
        for entry in try revocations?.entries() ?? [] {
            switch entry {
            case .revoked(let key): state.revoked.insert(key)
            case .frozen(let key, let time): state.frozen[key] = time
            case .unfrozen(let key): state.frozen[key] = nil
            case .deleted(let pseudonym): state.deleted.insert(pseudonym)
            case .service: break
            case .demoted(let pseudonym, let time): state.demoted[pseudonym] = time
            }
        }
        return state
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
}

extension SQLConnection {
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
