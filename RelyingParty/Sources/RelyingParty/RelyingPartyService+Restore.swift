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
                let detail =
                    "\(summary.revokedKeys) revoked, \(summary.frozenKeys) frozen, \(summary.deletedUsers) deleted"
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
    private func listed() throws -> (revoked: Set<[UInt8]>, frozen: [[UInt8]: Int64], deleted: Set<String>) {
        var (revoked, frozen, deleted): (Set<[UInt8]>, [[UInt8]: Int64], Set<String>) = ([], [:], [])
        for entry in try revocations?.entries() ?? [] {
            switch entry {
            case .revoked(let key): revoked.insert(key)
            case .frozen(let key, let time): frozen[key] = time
            case .unfrozen(let key): frozen[key] = nil
            case .deleted(let pseudonym): deleted.insert(pseudonym)
            }
        }
        return (revoked, frozen, deleted)
    }
}

extension SQLConnection {
    /// The key that an entry of the list names. One that is not stored, because its user was deleted or it was registered
    /// after the backup, can never be registered again.
    fileprivate func retiring(_ key: [UInt8]) throws -> KeyRecord? {
        if let record = try self.key(key) { return record }
        _ = try run(Statements.retire, [.blob(key)])
        return nil
    }

    /// Whether the freezing of a key at a time was lifted.
    fileprivate func hasLifted(_ time: Int64, _ key: [UInt8]) throws -> Bool {
        guard case .integer(let lifted)? = try run(Statements.unfrozen, [.blob(key)]).first?.first else { return false }
        return lifted >= time
    }
}
