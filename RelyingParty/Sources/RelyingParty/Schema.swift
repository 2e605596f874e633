// SPDX-License-Identifier: Apache-2.0

/// The tables in the dialect of SQLite; `docs/relying-party.md` describes them.
package enum SQLiteSchema {
    /// The version in `PRAGMA user_version`. Another one is refused.
    package static let version: Int64 = 1

    package static let statements = [
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
        "PRAGMA user_version = 1",
    ]

    /// The table of the nonces of one epoch. The name has a number only, so no input becomes part of a statement.
    static func createSpent(_ epoch: Int64) -> String {
        "CREATE TABLE spent_\(epoch) (nonce BLOB PRIMARY KEY) STRICT, WITHOUT ROWID"
    }
}

/// All statements but those that create tables. Parameters appear in the order of their numbers.
enum Statements {
    static let key = "SELECT user, device, point, raw, tier, revoked FROM keys WHERE id = $1"
    static let keysOfUser = "SELECT count(*) FROM keys WHERE user = $1 AND revoked IS NULL"
    static let insertKey =
        "INSERT INTO keys (id, user, device, point, raw, tier, created) VALUES ($1, $2, $3, $4, $5, $6, $7)"
    static let revokeKey = "UPDATE keys SET revoked = $1 WHERE user = $2 AND id = $3 AND revoked IS NULL"
    static let revokeDevice = "UPDATE keys SET revoked = $1 WHERE user = $2 AND device = $3 AND revoked IS NULL"
    static let revokeUser = "UPDATE keys SET revoked = $1 WHERE user = $2 AND revoked IS NULL"
    static let dropCode = "DELETE FROM codes WHERE user = $1"
    static let insertCode = "INSERT INTO codes (user, code, expiry, tries) VALUES ($1, $2, $3, 0)"
    static let spendCode = "DELETE FROM codes WHERE user = $1 AND code = $2 AND expiry > $3 AND tries < $4"
    static let countTry = "UPDATE codes SET tries = tries + 1 WHERE user = $1 AND tries < $2"
    static let insertSession = "INSERT INTO sessions (token, key, created, used, expiry) VALUES ($1, $2, $3, $3, $4)"
    static let limitSessions = """
        DELETE FROM sessions WHERE key = $1 AND token NOT IN
            (SELECT token FROM sessions WHERE key = $1 ORDER BY created DESC, token LIMIT $2)
        """
    static let session = """
        SELECT s.key, k.user, s.used, s.expiry, k.raw FROM sessions s JOIN keys k ON k.id = s.key
            WHERE s.token = $1 AND k.revoked IS NULL
        """
    static let useSession = "UPDATE sessions SET used = $1 WHERE token = $2"
    static let endSession = "DELETE FROM sessions WHERE token = $1"
    static let endRevoked = "DELETE FROM sessions WHERE key IN (SELECT id FROM keys WHERE revoked IS NOT NULL)"
    static let endOld = "DELETE FROM sessions WHERE expiry <= $1 OR used <= $2"
    static let lastAudit = "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1"
    static let insertAudit =
        "INSERT INTO audit (number, time, event, user, key, detail, hash) VALUES ($1, $2, $3, $4, $5, $6, $7)"
    static let audit =
        "SELECT number, time, event, user, key, detail, hash FROM audit WHERE number > $1 ORDER BY number LIMIT 500"
    static let dropped = "SELECT value FROM marks WHERE name = 'dropped'"
    /// Every table can be read, and a row can be written, although with the same value.
    static let checks =
        ["keys", "codes", "sessions", "audit", "epochs"].map { "SELECT 1 FROM \($0) LIMIT 1" }
        + ["UPDATE marks SET value = value WHERE name = 'dropped'"]
    static let setDropped = "UPDATE marks SET value = $1 WHERE name = 'dropped' AND value < $1"
    static let epoch = "SELECT 1 FROM epochs WHERE epoch = $1"
    static let insertEpoch = "INSERT INTO epochs (epoch) VALUES ($1)"
    static let epochsBefore = "SELECT epoch FROM epochs WHERE epoch < $1"
    static let dropEpoch = "DELETE FROM epochs WHERE epoch = $1"
    static func spend(_ epoch: Int64) -> String { "INSERT INTO spent_\(epoch) (nonce) VALUES ($1)" }
    static func dropSpent(_ epoch: Int64) -> String { "DROP TABLE spent_\(epoch)" }
}
