// SPDX-License-Identifier: Apache-2.0

/// The statements of the administration, the same for every database. Lists are read by key: each page begins after the
/// last row of the one before, so that it costs the same wherever it is.
extension Statements {
    static let administrator = #"SELECT 1 FROM administrators WHERE "user" = $1"#
    static let administrators = #"SELECT "user" FROM administrators ORDER BY "user""#
    static let addAdministrator = #"INSERT INTO administrators ("user") VALUES ($1) ON CONFLICT DO NOTHING"#
    static let removeAdministrator = #"DELETE FROM administrators WHERE "user" = $1"#
    /// A later addition, or the removal itself, which an addition must have followed, perhaps in the same second. Reads the
    /// whole log: only when a list names the removal of an administrator that the database has.
    static let administratorReturned = """
        SELECT 1 FROM audit WHERE "user" = $1 AND event = 'administrator'
            AND (detail = 'added' AND time > $2 OR detail = 'removed' AND time = $2) LIMIT 1
        """

    /// The time of the last removal; NULL for a user who was never removed. Reads the whole log, as the statement above.
    static let administratorRemoved = """
        SELECT max(time) FROM audit WHERE "user" = $1 AND event = 'administrator' AND detail = 'removed'
        """

    static let insertBrowserCode = "INSERT INTO browser_codes (code, key, expiry) VALUES ($1, $2, $3)"
    /// A code of a clock that was set back since expires too late, as in `spendCode`.
    static let browserCode = "SELECT key FROM browser_codes WHERE code = $1 AND expiry > $2 AND expiry <= $3"
    static let spendBrowserCode = "DELETE FROM browser_codes WHERE code = $1"
    /// A key has one code, and the next one ends it.
    static let endBrowserCodesOfKey = "DELETE FROM browser_codes WHERE key = $1 OR expiry <= $2"
    static let endBrowserCodesOfUser = """
        DELETE FROM browser_codes WHERE key IN (SELECT id FROM keys WHERE "user" = $1)
        """
    static let endBrowserCodes = "DELETE FROM browser_codes"

    /// Users of whom something is stored, from one on: all of them are in the audit log. The prefix is compared with a
    /// function, because a pattern would give meanings to characters of names.
    static let users = """
        SELECT u."user",
            (SELECT count(*) FROM keys k WHERE k."user" = u."user" AND k.revoked IS NULL),
            (SELECT count(*) FROM keys k WHERE k."user" = u."user" AND k.revoked IS NULL AND k.frozen IS NOT NULL),
            (SELECT count(*) FROM sessions s JOIN keys k ON s.key = k.id WHERE k."user" = u."user" AND s.expiry > $1),
            (SELECT count(*) FROM administrators a WHERE a."user" = u."user")
        FROM users u WHERE u."user" > $2 AND substr(u."user", 1, length($3)) = $3 ORDER BY u."user" LIMIT $4
        """

    /// The keys in one of the states, from one on. The row of the keys that no user has is before the first one.
    static func keys(_ state: KeyState) -> String {
        let condition =
            switch state {
            case .all: ""
            case .active: "AND revoked IS NULL AND frozen IS NULL"
            case .frozen: "AND revoked IS NULL AND frozen IS NOT NULL"
            case .revoked: "AND revoked IS NOT NULL"
            }
        return """
            \(selectKeys) WHERE ("user", created, id) > ($1, $2, $3) \(condition)
                ORDER BY "user", created, id LIMIT $4
            """
    }

    private static let sessionColumns = """
        s.token, s.key, s.created, s.used, s.expiry, s.browser, k."user", k.device FROM sessions s JOIN keys k ON k.id = s.key
        """
    /// Open sessions, the newest first.
    static let sessions = """
        SELECT \(sessionColumns) WHERE (s.created, s.token) < ($1, $2) AND s.expiry > $3
            ORDER BY s.created DESC, s.token DESC LIMIT $4
        """
    static let allSessionsOfUser = """
        SELECT \(sessionColumns) WHERE k."user" = $1 AND s.expiry > $2 ORDER BY s.created DESC, s.token DESC
        """
    static let endSessionOfUser = """
        DELETE FROM sessions WHERE token = $1 AND key IN (SELECT id FROM keys WHERE "user" = $2)
        """

    /// The last column is the administrator who acted, whose pseudonym such rows have at one place. The details of other
    /// events have texts of users.
    private static let auditColumns = """
        a.number, a.time, a.event, a."user", a.key, a.detail, a.hash, u."user", c."user" FROM audit a
            LEFT JOIN users u ON u.pseudonym = a."user"
            LEFT JOIN users c ON a.event IN ('code', 'end-sessions', 'revoke', 'unfreeze')
                AND substr(a.detail, 1, 14) = 'administrator ' AND c.pseudonym = substr(a.detail, 15, 22)
        """
    /// From the first row to the last one, for the verification.
    static let auditFrom = """
        SELECT \(auditColumns) WHERE a.node = $1 AND a.number > $2 ORDER BY a.number LIMIT $3
        """
    /// The last rows first.
    static let auditBefore = """
        SELECT \(auditColumns) WHERE a.node = $1 AND a.number < $2 ORDER BY a.number DESC LIMIT $3
        """
    /// The last rows of a user. From a row on, because the log has no index of users, and a page must not read all rows of past
    /// years.
    static let lastAuditOfUser = """
        SELECT \(auditColumns) WHERE a.node = $1 AND a.number > $2 AND a."user" = $3
            ORDER BY a.number DESC LIMIT $4
        """
    static let endBrowserSessionsOfUser = """
        DELETE FROM sessions WHERE browser = 1 AND key IN (SELECT id FROM keys WHERE "user" = $1)
        """
}
