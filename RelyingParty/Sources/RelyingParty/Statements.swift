// SPDX-License-Identifier: Apache-2.0

/// All statements but those that create tables, the same for every database. Parameters appear in the order of their
/// numbers. The column `user` is in quotation marks, because PostgreSQL has a function of this name.
enum Statements {
    /// The columns that `KeyRecord` reads.
    static let selectKeys = """
        SELECT id, "user", device, algorithm, public, form, tier, created, revoked, counter, frozen, attested, model, chip, verification,
            credential, handle, authenticator, attestation, synced FROM keys LEFT JOIN passkeys ON key = id
        """
    static let key = "\(selectKeys) WHERE id = $1"
    /// The key, or the one that no user has: both are one row, which costs the same.
    static let keyOrDecoy = "\(selectKeys) WHERE id = COALESCE((SELECT id FROM keys WHERE id = $1), $2)"
    /// The same for the identifier of a credential.
    static let passkeyOrDecoy = """
        \(selectKeys) WHERE id = COALESCE((SELECT key FROM passkeys WHERE credential = $1), $2)
        """
    /// What changes of a key after its registration.
    static let keyState = """
        SELECT revoked, counter, frozen, (SELECT synced FROM passkeys WHERE key = $1) FROM keys WHERE id = $1
        """
    static let allKeysOfUser = #"\#(selectKeys) WHERE "user" = $1 ORDER BY created, id"#
    static let insertPasskey = """
        INSERT INTO passkeys (credential, key, handle, authenticator, attestation, synced)
            VALUES ($1, $2, $3, $4, $5, $6)
        """
    static let setSynced = "UPDATE passkeys SET synced = $1 WHERE key = $2"
    static let deletePasskeys = #"DELETE FROM passkeys WHERE key IN (SELECT id FROM keys WHERE "user" = $1)"#
    static let keysOfUser = #"SELECT count(*) FROM keys WHERE "user" = $1 AND revoked IS NULL"#
    static let insertKey = """
        INSERT INTO keys (id, "user", device, algorithm, public, form, tier, created, attested, model, chip, verification)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        """
    /// Compare and set: changes no row unless the counter is higher than any before.
    static let advanceCounter = "UPDATE keys SET counter = $1 WHERE id = $2 AND (counter IS NULL OR counter < $1)"
    static let freeze = "UPDATE keys SET frozen = $1 WHERE id = $2 AND frozen IS NULL"
    static let unfreeze = """
        UPDATE keys SET unfrozen = frozen, frozen = NULL, counter = NULL
            WHERE "user" = $1 AND id = $2 AND frozen IS NOT NULL
        """
    static let keyStates = """
        SELECT id, revoked, frozen FROM keys WHERE "user" <> '' AND (revoked IS NOT NULL OR frozen IS NOT NULL)
        """
    /// The time of the last freezing that was lifted; no row for a key that does not exist.
    static let unfrozen = "SELECT COALESCE(unfrozen, -1) FROM keys WHERE id = $1"
    /// Identifiers that are never registered again, although their keys are gone.
    static let retire = "INSERT INTO retired (id) VALUES ($1) ON CONFLICT DO NOTHING"
    static let retireUser = """
        INSERT INTO retired (id) SELECT id FROM keys WHERE "user" = $1 ON CONFLICT DO NOTHING
        """
    static let retired = "SELECT 1 FROM retired WHERE id = $1"
    static let allRetired = "SELECT id FROM retired"
    static let deleteKeys = #"DELETE FROM keys WHERE "user" = $1"#
    static let pseudonym = #"SELECT pseudonym FROM users WHERE "user" = $1"#
    static let userOf = #"SELECT "user" FROM users WHERE pseudonym = $1"#
    static let insertPseudonym = #"INSERT INTO users ("user", pseudonym) VALUES ($1, $2)"#
    static let deleteUser = #"DELETE FROM users WHERE "user" = $1"#
    static let revokeKey = #"UPDATE keys SET revoked = $1 WHERE "user" = $2 AND id = $3 AND revoked IS NULL"#
    static let dropCode = #"DELETE FROM codes WHERE "user" = $1"#
    static let insertCode = #"INSERT INTO codes (code, "user", expiry, service) VALUES ($1, $2, $3, $4)"#
    static let endCodesOfService = """
        DELETE FROM codes WHERE service = (SELECT name FROM services WHERE credential = $1)
        """
    static let codeOfUser = #"SELECT expiry FROM codes WHERE "user" = $1"#
    static let hasCode = "SELECT 1 FROM codes WHERE code = $1"
    /// A code that expires later than one that is made now is one of a clock that was set back since.
    static let spendCode = """
        DELETE FROM codes WHERE code = $1 AND "user" = $2 AND expiry > $3 AND expiry <= $4
        """
    static let endCodes = "DELETE FROM codes WHERE expiry <= $1"
    static let endAllCodes = "DELETE FROM codes"
    static let hasCredential = "SELECT 1 FROM services WHERE credential = $1"
    static let insertSession = """
        INSERT INTO sessions (token, key, created, used, expiry, browser) VALUES ($1, $2, $3, $3, $4, $5)
        """
    static let sessionsOfKey = "SELECT count(*) FROM sessions WHERE key = $1"
    /// The oldest session of a key; of several of one second, any.
    static let endOldestSession = """
        DELETE FROM sessions WHERE token =
            (SELECT token FROM sessions WHERE key = $1 ORDER BY created, token LIMIT 1)
        """
    static let session = """
        SELECT s.key, s.used, s.expiry, s.created, s.checked, s.stepped FROM sessions s JOIN keys k ON k.id = s.key
            WHERE s.token = $1 AND s.browser = $2 AND k.revoked IS NULL AND k.frozen IS NULL
        """
    static let sessionsOfUser = """
        SELECT s.key, s.created, s.used, s.expiry FROM sessions s JOIN keys k ON k.id = s.key
            WHERE k."user" = $1 ORDER BY s.created
        """
    static let endSessionsOfKey = "DELETE FROM sessions WHERE key = $1"
    static let endSessionsOfUser = #"DELETE FROM sessions WHERE key IN (SELECT id FROM keys WHERE "user" = $1)"#
    static let endAllSessions = "DELETE FROM sessions"
    static let checkSession = "UPDATE sessions SET checked = $1 WHERE token = $2"
    static let stepSession = "UPDATE sessions SET stepped = $1 WHERE token = $2"
    static let insertApproval = """
        INSERT INTO approvals (code, session, context, created, expiry) VALUES ($1, $2, $3, $4, $5)
        """
    /// An approval of a clock that was set back since expires too late, as in `spendCode`. One that was made before another
    /// server of databases took over may have been redeemed there.
    private static let openApproval = """
        FROM approvals WHERE code = $1 AND session = $2 AND context = $3 AND expiry > $4 AND expiry <= $5
            AND created >= (SELECT value FROM marks WHERE name = 'accepted')
        """
    static let approval = "SELECT created \(openApproval)"
    static let redeemApproval = "DELETE \(openApproval)"
    static let endApprovals = "DELETE FROM approvals WHERE expiry <= $1"
    static let endAllApprovals = "DELETE FROM approvals"
    static let service = "SELECT credential, rights FROM services WHERE name = $1"
    static let services = "SELECT name, rights, created FROM services ORDER BY name"
    static let insertService = "INSERT INTO services (name, credential, rights, created) VALUES ($1, $2, $3, $4)"
    static let removeService = "DELETE FROM services WHERE credential = $1"
    static let useSession = "UPDATE sessions SET used = $1 WHERE token = $2"
    static let hasSession = "SELECT 1 FROM sessions WHERE token = $1 AND browser = $2"
    static let endSession = "DELETE FROM sessions WHERE token = $1 AND browser = $2"
    static let endRevoked = """
        DELETE FROM sessions WHERE key IN (SELECT id FROM keys WHERE "user" = $1 AND revoked IS NOT NULL)
        """
    /// A session that only services check does not end for lack of use.
    static let endOld = """
        DELETE FROM sessions WHERE expiry <= $1 OR used <= $2 AND (checked IS NULL OR checked < used)
        """
    static let lastAudit = "SELECT number, hash, time FROM audit WHERE node = $1 ORDER BY number DESC LIMIT 1"
    static let insertAudit = """
        INSERT INTO audit (node, number, time, event, "user", key, detail, hash)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """
    static let audit = """
        SELECT number, time, event, "user", key, detail, hash FROM audit WHERE node = $1 AND number > $2
            ORDER BY number LIMIT 500
        """
    static let auditHash = "SELECT hash FROM audit WHERE node = $1 AND number = $2"
    /// The nodes that have rows, each one found in the index after the one before: DISTINCT would read all rows of the log,
    /// which the page of the administration asks for every few seconds.
    static let auditNodes = """
        WITH RECURSIVE found (node) AS (SELECT min(node) FROM audit UNION ALL
            SELECT (SELECT min(node) FROM audit WHERE node > found.node) FROM found WHERE found.node IS NOT NULL)
            SELECT node FROM found WHERE node IS NOT NULL
        """
    static let nodes = "SELECT node, copied FROM nodes ORDER BY node"
    static let insertNode = "INSERT INTO nodes (node, copied) VALUES ($1, 0)"
    static let setCopied = "UPDATE nodes SET copied = $1 WHERE node = $2"
    /// The time since which challenges are accepted, the last epoch whose table was dropped, and whether an epoch has one.
    /// One statement, because every proof needs all of it.
    static let marks = """
        SELECT (SELECT value FROM marks WHERE name = 'accepted'), (SELECT value FROM marks WHERE name = 'dropped'),
            (SELECT count(*) FROM epochs WHERE epoch = $1)
        """
    static let auditOfUser = """
        SELECT number, time, event, key, detail FROM audit WHERE "user" = $1 ORDER BY time, node, number
        """
    /// Every table can be read, and a row can be written. Its value changes each time, because SQLite writes nothing for an
    /// equal one.
    static let checks =
        [
            "keys", "passkeys", "codes", "services", "sessions", "approvals", "users", "retired", "audit", "nodes",
            "epochs",
        ].map {
            "SELECT 1 FROM \($0) LIMIT 1"
        }
        + ["UPDATE marks SET value = 1 - value WHERE name = 'ready'"]
    /// The key that no user has does not count.
    static let rowCounts =
        [("keys", #"SELECT count(*) FROM keys WHERE "user" <> ''"#)]
        + ["passkeys", "users", "administrators", "services", "sessions", "retired", "audit"].map {
            ($0, "SELECT count(*) FROM \($0)")
        }
    static let setVersion = "UPDATE marks SET value = $1 WHERE name = 'version'"
    static let setLeast = "UPDATE marks SET value = $1 WHERE name = 'least'"
    static let setDropped = "UPDATE marks SET value = $1 WHERE name = 'dropped' AND value < $1"
    static let epoch = "SELECT 1 FROM epochs WHERE epoch = $1"
    static let insertEpoch = "INSERT INTO epochs (epoch) VALUES ($1)"
    static let epochsBefore = "SELECT epoch FROM epochs WHERE epoch < $1"
    static let dropEpoch = "DELETE FROM epochs WHERE epoch = $1"
    static func spend(_ epoch: Int64) -> String { "INSERT INTO spent_\(epoch) (nonce) VALUES ($1)" }
    static func dropSpent(_ epoch: Int64) -> String { "DROP TABLE spent_\(epoch)" }
}
