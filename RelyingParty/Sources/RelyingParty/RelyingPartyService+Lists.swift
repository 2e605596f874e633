// SPDX-License-Identifier: Apache-2.0

// What administrators see. Each list is a page, from the row after the last one that was shown; a session of an
// administrator is needed for every page.

extension RelyingPartyService {
    /// A page of the users of whom something is stored, by name.
    ///
    /// - Parameters:
    ///   - prefix: how the names begin; empty for all.
    ///   - after: the name after which the page begins; empty for the first one.
    /// - Throws: `unavailable`. The same holds for the other lists.
    public func users(
        prefix: String, after: String, for administrator: AdministratorSession
    ) throws(RelyingPartyError) -> [ListedUser] {
        try working {
            let values: [SQLValue] = [.integer(now), .text(after), .text(prefix), .integer(Limits.pageRows)]
            return try rows(Statements.users, values, ListedUser.init)
        }
    }

    /// A page of the keys of all users, by user and time of registration.
    ///
    /// - Parameters:
    ///   - state: which keys.
    ///   - after: user, time of registration and identifier of the key after which the page begins; nil for the first one.
    public func keys(
        _ state: KeyState, after: (user: String, created: Int64, key: [UInt8])?,
        for administrator: AdministratorSession
    ) throws(RelyingPartyError) -> [ListedKey] {
        try working {
            let (user, created, key) = after ?? ("", .max, [])
            let values: [SQLValue] = [.text(user), .integer(created), .blob(key), .integer(Limits.pageRows)]
            return try rows(Statements.keys(state), values, KeyRecord.init).map { record in
                ListedKey(user: record.user, key: RegisteredKey(record))
            }
        }
    }

    /// A page of the open sessions, the newest first.
    ///
    /// - Parameter after: time and identifier of the session after which the page begins; nil for the first one.
    public func sessions(
        after: (created: Int64, identifier: [UInt8])?, for administrator: AdministratorSession
    ) throws(RelyingPartyError) -> [ListedSession] {
        try working {
            let (created, identifier) = after ?? (.max, [])
            let values: [SQLValue] = [
                .integer(created), .blob(identifier), .integer(now), .integer(Limits.pageRows),
            ]
            return try rows(Statements.sessions, values, ListedSession.init)
        }
    }

    /// The chains of the audit log: those of the listed nodes, and any other that has rows.
    public func chains(for administrator: AdministratorSession) throws(RelyingPartyError) -> [ListedChain] {
        try working {
            try storage.reading { database in
                let listed = try database.run(Statements.nodes, []).compactMap(\.first)
                let found = try database.run(Statements.auditNodes, []).compactMap(\.first)
                return try (listed + found.filter { !listed.contains($0) }).map { name throws in
                    guard case .text(let node) = name else { throw StorageFailure("A node cannot be read.") }
                    return ListedChain(node: node, count: try database.head(of: node).number)
                }
            }
        }
    }

    /// Rows of a chain from one on, for its verification.
    ///
    /// - Parameters:
    ///   - node: the node whose chain it is.
    ///   - after: the number of the row after which the page begins; 0 for the first one.
    public func auditRows(
        of node: String, after: Int64, for administrator: AdministratorSession
    ) throws(RelyingPartyError) -> [ListedAuditRow] {
        try working {
            let values: [SQLValue] = [.text(node), .integer(after), .integer(Limits.verifiedRows)]
            return try rows(Statements.auditFrom, values, ListedAuditRow.init)
        }
    }

    /// Rows of a chain, the last ones first.
    ///
    /// - Parameter before: the number of the row before which the page begins; nil for the last rows.
    public func auditRows(
        of node: String, before: Int64?, for administrator: AdministratorSession
    ) throws(RelyingPartyError) -> [ListedAuditRow] {
        try working {
            let values: [SQLValue] = [.text(node), .integer(before ?? .max), .integer(Limits.pageRows)]
            return try rows(Statements.auditBefore, values, ListedAuditRow.init)
        }
    }

    /// Everything that is shown of one user, as of one moment.
    ///
    /// - Returns: nil for a user of whom nothing is stored.
    /// - Throws: `malformed` and `unavailable`.
    public func detail(
        of user: String, for administrator: AdministratorSession
    ) throws(RelyingPartyError) -> UserDetail? {
        try working {
            try check(user: user, key: [UInt8](repeating: 0, count: 32))
            let now = now
            return try storage.transaction { database in
                let keys = try database.keys(of: user).map(RegisteredKey.init)
                let pseudonym = try database.knownPseudonym(of: user)
                let isAdministrator = try !database.run(Statements.administrator, [.text(user)]).isEmpty
                guard !keys.isEmpty || pseudonym != nil || isAdministrator else { return nil }
                var codeExpiry: Int64?
                if case .integer(let expiry)? = try database.run(Statements.codeOfUser, [.text(user)]).first?.first,
                    expiry > now
                {
                    codeExpiry = expiry
                }
                let values: [SQLValue] = [.text(user), .integer(now)]
                let sessions = try database.rows(Statements.allSessionsOfUser, values, ListedSession.init)
                return UserDetail(
                    isAdministrator: isAdministrator, pseudonym: pseudonym, codeExpiry: codeExpiry, keys: keys,
                    sessions: sessions, events: try database.events(of: pseudonym))
            }
        }
    }

    private func rows<Row>(_ statement: String, _ values: [SQLValue], _ row: ([SQLValue]) -> Row?) throws -> [Row] {
        try ListedRows.read(try storage.read(statement, values), row)
    }
}

private enum ListedRows {
    static func read<Row>(_ rows: [[SQLValue]], _ row: ([SQLValue]) -> Row?) throws(StorageFailure) -> [Row] {
        var list: [Row] = []
        for values in rows {
            guard let row = row(values) else { throw StorageFailure("A row of a list cannot be read.") }
            list.append(row)
        }
        return list
    }
}

extension SQLConnection {
    fileprivate func rows<Row>(
        _ statement: String, _ values: [SQLValue], _ read: ([SQLValue]) -> Row?
    ) throws -> [Row] {
        try ListedRows.read(try run(statement, values), read)
    }

    /// The newest rows of a user among the last ones of each chain.
    fileprivate func events(of pseudonym: String?) throws -> [(node: String, row: ListedAuditRow)] {
        guard let pseudonym else { return [] }
        var events: [(node: String, row: ListedAuditRow)] = []
        for case .text(let node)? in try run(Statements.nodes, []).map(\.first) {
            let first = try head(of: node).number - Limits.recentAuditRows
            let values: [SQLValue] = [
                .text(node), .integer(first), .text(pseudonym), .integer(Limits.eventRows),
            ]
            events += try rows(Statements.lastAuditOfUser, values, ListedAuditRow.init).map { (node, $0) }
        }
        return Array(events.sorted { $0.row.time > $1.row.time }.prefix(Int(Limits.eventRows)))
    }
}
