// SPDX-License-Identifier: Apache-2.0

/// The tables in the dialect of SQLite; `docs/relying-party.md` describes them.
package enum SQLiteSchema {
    /// The version in `PRAGMA user_version`. A newer one is refused.
    package static var version: Int64 { Int64(migrations.count) }

    /// The statements that make each version from the one before, in order: the first ones start with an empty
    /// database. A list that has been released never changes.
    package static let migrations = [version1, version2Nodes + version2Registration, version3]

    private static let version1 = [
        """
        CREATE TABLE keys (id BLOB PRIMARY KEY, user TEXT NOT NULL, device TEXT NOT NULL, point BLOB NOT NULL,
            raw INTEGER NOT NULL, tier TEXT NOT NULL, created INTEGER NOT NULL, revoked INTEGER) STRICT
        """,
        "CREATE INDEX keys_user ON keys (user)",
        """
        CREATE TABLE codes (user TEXT PRIMARY KEY, code BLOB NOT NULL, expiry INTEGER NOT NULL, tries INTEGER NOT NULL)
            STRICT
        """,
        """
        CREATE TABLE sessions (token BLOB PRIMARY KEY, key BLOB NOT NULL REFERENCES keys (id), created INTEGER NOT NULL,
            used INTEGER NOT NULL, expiry INTEGER NOT NULL) STRICT
        """,
        "CREATE INDEX sessions_key ON sessions (key)",
        """
        CREATE TABLE audit (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, event TEXT NOT NULL, user TEXT NOT NULL,
            key BLOB NOT NULL, detail TEXT NOT NULL, hash BLOB NOT NULL) STRICT
        """,
        "CREATE TABLE epochs (epoch INTEGER PRIMARY KEY) STRICT",
        "CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT",
        "INSERT INTO marks VALUES ('dropped', -1)",
    ]

    /// The chains of several nodes in the audit log, and the mark of the accepted challenges. The rows that exist become
    /// the chain of the node without a name, whose hashes are as before.
    private static let version2Nodes = [
        "ALTER TABLE audit RENAME TO audit_before",
        """
        CREATE TABLE audit (node TEXT NOT NULL, number INTEGER NOT NULL, time INTEGER NOT NULL, event TEXT NOT NULL,
            user TEXT NOT NULL, key BLOB NOT NULL, detail TEXT NOT NULL, hash BLOB NOT NULL,
            PRIMARY KEY (node, number)) STRICT, WITHOUT ROWID
        """,
        "INSERT INTO audit SELECT '', number, time, event, user, key, detail, hash FROM audit_before",
        "DROP TABLE audit_before",
        "CREATE TABLE nodes (node TEXT PRIMARY KEY, signed INTEGER NOT NULL) STRICT",
        "INSERT INTO nodes SELECT DISTINCT node, 0 FROM audit",
        "INSERT INTO marks VALUES ('accepted', 0)",
    ]

    /// Counters, frozen keys, proofs of TPMs, pseudonyms of the audit log, and a row that no user has: wrong codes for users
    /// without one change it, so that they cost as much as for users with one.
    private static let version2Registration = [
        "ALTER TABLE keys ADD COLUMN counter INTEGER",
        "ALTER TABLE keys ADD COLUMN frozen INTEGER",
        "ALTER TABLE keys ADD COLUMN unfrozen INTEGER",
        "CREATE TABLE retired (id BLOB PRIMARY KEY) STRICT, WITHOUT ROWID",
        "ALTER TABLE keys ADD COLUMN attested TEXT NOT NULL DEFAULT 'none'",
        "ALTER TABLE keys ADD COLUMN model TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE keys ADD COLUMN chip BLOB NOT NULL DEFAULT X''",
        "ALTER TABLE keys ADD COLUMN verification TEXT NOT NULL DEFAULT ''",
        "CREATE TABLE users (user TEXT PRIMARY KEY, pseudonym TEXT NOT NULL UNIQUE) STRICT",
        "INSERT INTO codes (user, code, expiry, tries) VALUES ('', X'', 0, 0)",
        "INSERT INTO marks (name, value) VALUES ('ready', 0)",
        // The base point of P-256 (SEC 2, section 2.4.2), under an identifier that is not its own, revoked, without a user.
        """
        INSERT INTO keys (id, user, device, point, raw, tier, created, revoked)
            VALUES (X'0000000000000000000000000000000000000000000000000000000000000000', '', '',
                X'046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
                0, 'simulated', 0, 0)
        """,
    ]

    /// Passkeys, administrators, and sessions of browsers with the codes that open one. The column `raw` of `keys` has the
    /// value 2 for a passkey. Lists of keys and sessions are read in the order of the new indexes, from the row after the
    /// last one shown.
    private static let version3 = [
        """
        CREATE TABLE passkeys (credential BLOB PRIMARY KEY, key BLOB NOT NULL UNIQUE REFERENCES keys (id),
            handle BLOB NOT NULL, authenticator BLOB NOT NULL, attestation TEXT NOT NULL, synced INTEGER NOT NULL)
            STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE administrators (user TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
        """
        CREATE TABLE browser_codes (code BLOB PRIMARY KEY, key BLOB NOT NULL REFERENCES keys (id), expiry INTEGER NOT NULL)
            STRICT, WITHOUT ROWID
        """,
        "DROP INDEX keys_user",
        "CREATE INDEX keys_user ON keys (user, created, id)",
        // Without a row number: one tree less to write at each sign-in.
        "ALTER TABLE sessions RENAME TO sessions_before",
        """
        CREATE TABLE sessions (token BLOB PRIMARY KEY, key BLOB NOT NULL REFERENCES keys (id), created INTEGER NOT NULL,
            used INTEGER NOT NULL, expiry INTEGER NOT NULL, browser INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID
        """,
        "INSERT INTO sessions SELECT token, key, created, used, expiry, 0 FROM sessions_before",
        "DROP TABLE sessions_before",
        // A key at its limit gives up its oldest session at each sign-in, which is the first one in this order.
        "CREATE INDEX sessions_key ON sessions (key, created, token)",
        "CREATE INDEX sessions_created ON sessions (created, token)",
    ]

    /// The table of the nonces of one epoch. The name has a number only, so no input becomes part of a statement.
    package static func createSpent(_ epoch: Int64) -> String {
        "CREATE TABLE spent_\(epoch) (nonce BLOB PRIMARY KEY) STRICT, WITHOUT ROWID"
    }
}

/// All statements but those that create tables, the same for every database. Parameters appear in the order of their
/// numbers. The column `user` is in quotation marks, because PostgreSQL has a function of this name.
enum Statements {
    /// The columns that `KeyRecord` reads.
    static let selectKeys = """
        SELECT id, "user", device, point, raw, tier, created, revoked, counter, frozen, attested, model, chip, verification,
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
        INSERT INTO keys (id, "user", device, point, raw, tier, created, attested, model, chip, verification)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
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
    static let deleteKeys = #"DELETE FROM keys WHERE "user" = $1"#
    static let pseudonym = #"SELECT pseudonym FROM users WHERE "user" = $1"#
    static let userOf = #"SELECT "user" FROM users WHERE pseudonym = $1"#
    static let insertPseudonym = #"INSERT INTO users ("user", pseudonym) VALUES ($1, $2)"#
    static let deleteUser = #"DELETE FROM users WHERE "user" = $1"#
    static let revokeKey = #"UPDATE keys SET revoked = $1 WHERE "user" = $2 AND id = $3 AND revoked IS NULL"#
    static let dropCode = #"DELETE FROM codes WHERE "user" = $1"#
    static let insertCode = #"INSERT INTO codes ("user", code, expiry, tries) VALUES ($1, $2, $3, 0)"#
    static let codeOfUser = #"SELECT expiry, tries FROM codes WHERE "user" = $1"#
    /// A code that expires later than one that is made now is one of a clock that was set back since.
    static let spendCode = """
        DELETE FROM codes WHERE "user" = $1 AND code = $2 AND expiry > $3 AND expiry <= $4 AND tries < $5
        """
    /// Changes exactly one row: that of the user, or the one that no user has. Otherwise the time of the commit would show
    /// which users have a code. The value changes each time, because SQLite writes nothing for an equal one.
    static let countTry = """
        UPDATE codes SET tries = CASE WHEN "user" = '' THEN 1 - tries ELSE tries + 1 END
            WHERE "user" = COALESCE((SELECT "user" FROM codes WHERE "user" = $1 AND tries < $2), '')
        """
    static let endCodes = #"DELETE FROM codes WHERE "user" <> '' AND expiry <= $1"#
    static let endAllCodes = #"DELETE FROM codes WHERE "user" <> ''"#
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
        SELECT s.key, s.used, s.expiry FROM sessions s JOIN keys k ON k.id = s.key
            WHERE s.token = $1 AND s.browser = $2 AND k.revoked IS NULL AND k.frozen IS NULL
        """
    static let sessionsOfUser = """
        SELECT s.key, s.created, s.used, s.expiry FROM sessions s JOIN keys k ON k.id = s.key
            WHERE k."user" = $1 ORDER BY s.created
        """
    static let endSessionsOfKey = "DELETE FROM sessions WHERE key = $1"
    static let endSessionsOfUser = #"DELETE FROM sessions WHERE key IN (SELECT id FROM keys WHERE "user" = $1)"#
    static let endAllSessions = "DELETE FROM sessions"
    static let useSession = "UPDATE sessions SET used = $1 WHERE token = $2"
    static let hasSession = "SELECT 1 FROM sessions WHERE token = $1 AND browser = $2"
    static let endSession = "DELETE FROM sessions WHERE token = $1 AND browser = $2"
    static let endRevoked = """
        DELETE FROM sessions WHERE key IN (SELECT id FROM keys WHERE "user" = $1 AND revoked IS NOT NULL)
        """
    static let endOld = "DELETE FROM sessions WHERE expiry <= $1 OR used <= $2"
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
    static let nodes = "SELECT node, signed FROM nodes ORDER BY node"
    static let insertNode = "INSERT INTO nodes (node, signed) VALUES ($1, 0)"
    /// The column has its name from the first version.
    static let setCopied = "UPDATE nodes SET signed = $1 WHERE node = $2"
    /// The time since which challenges are accepted, the last epoch whose table was dropped, and whether an epoch has one.
    /// One statement, because every proof needs all of it.
    static let marks = """
        SELECT (SELECT value FROM marks WHERE name = 'accepted'), (SELECT value FROM marks WHERE name = 'dropped'),
            (SELECT count(*) FROM epochs WHERE epoch = $1)
        """
    static let auditOfUser = """
        SELECT number, time, event, key, detail FROM audit WHERE "user" = $1 OR "user" = $2 ORDER BY time, node, number
        """
    /// Every table can be read, and a row can be written. Its value changes each time, because SQLite writes nothing for an
    /// equal one.
    static let checks =
        ["keys", "passkeys", "codes", "sessions", "users", "retired", "audit", "nodes", "epochs"].map {
            "SELECT 1 FROM \($0) LIMIT 1"
        }
        + ["UPDATE marks SET value = 1 - value WHERE name = 'ready'"]
    static let setDropped = "UPDATE marks SET value = $1 WHERE name = 'dropped' AND value < $1"
    static let epoch = "SELECT 1 FROM epochs WHERE epoch = $1"
    static let insertEpoch = "INSERT INTO epochs (epoch) VALUES ($1)"
    static let epochsBefore = "SELECT epoch FROM epochs WHERE epoch < $1"
    static let dropEpoch = "DELETE FROM epochs WHERE epoch = $1"
    static func spend(_ epoch: Int64) -> String { "INSERT INTO spent_\(epoch) (nonce) VALUES ($1)" }
    static func dropSpent(_ epoch: Int64) -> String { "DROP TABLE spent_\(epoch)" }
}
