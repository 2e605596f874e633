// SPDX-License-Identifier: Apache-2.0

/// The tables in the dialect of PostgreSQL; `docs/relying-party.md` describes them. Names and meanings are those of
/// ``SQLiteSchema``, so that the statements are the same.
package enum PostgreSQLSchema {
    /// The statements that make each version from the one before, in order: the first ones start without tables. A list
    /// that has been released never changes.
    package static let migrations = [version1, version2, version3]

    private static let version1 = [
        """
        CREATE TABLE keys (id BYTEA PRIMARY KEY, "user" TEXT NOT NULL, device TEXT NOT NULL, point BYTEA NOT NULL,
            raw BIGINT NOT NULL, tier TEXT NOT NULL, created BIGINT NOT NULL, revoked BIGINT)
        """,
        #"CREATE INDEX keys_user ON keys ("user")"#,
        """
        CREATE TABLE codes ("user" TEXT PRIMARY KEY, code BYTEA NOT NULL, expiry BIGINT NOT NULL, tries BIGINT NOT NULL)
        """,
        """
        CREATE TABLE sessions (token BYTEA PRIMARY KEY, key BYTEA NOT NULL REFERENCES keys (id), created BIGINT NOT NULL,
            used BIGINT NOT NULL, expiry BIGINT NOT NULL)
        """,
        "CREATE INDEX sessions_key ON sessions (key)",
        """
        CREATE TABLE audit (node TEXT NOT NULL, number BIGINT NOT NULL, time BIGINT NOT NULL, event TEXT NOT NULL,
            "user" TEXT NOT NULL, key BYTEA NOT NULL, detail TEXT NOT NULL, hash BYTEA NOT NULL,
            PRIMARY KEY (node, number))
        """,
        "CREATE TABLE nodes (node TEXT PRIMARY KEY, signed BIGINT NOT NULL)",
        "CREATE TABLE epochs (epoch BIGINT PRIMARY KEY)",
        "CREATE TABLE marks (name TEXT PRIMARY KEY, value BIGINT NOT NULL)",
        "INSERT INTO marks VALUES ('dropped', -1), ('accepted', 0), ('version', 1)",
        // The server of databases that the nodes used last; `accepted` is set when another one takes its place.
        "CREATE TABLE server (identity TEXT NOT NULL)",
        "CREATE TABLE spent (epoch BIGINT NOT NULL, nonce BYTEA NOT NULL, PRIMARY KEY (epoch, nonce)) PARTITION BY LIST (epoch)",
    ]

    /// Counters, frozen keys, proofs of TPMs, pseudonyms of the audit log, and a row that no user has: wrong codes for users
    /// without one change it, so that they cost as much as for users with one.
    private static let version2 = [
        """
        ALTER TABLE keys ADD counter BIGINT, ADD frozen BIGINT, ADD unfrozen BIGINT, ADD attested TEXT NOT NULL DEFAULT 'none',
            ADD model TEXT NOT NULL DEFAULT '', ADD chip BYTEA NOT NULL DEFAULT '',
            ADD verification TEXT NOT NULL DEFAULT ''
        """,
        "CREATE TABLE retired (id BYTEA PRIMARY KEY)",
        #"CREATE TABLE users ("user" TEXT PRIMARY KEY, pseudonym TEXT NOT NULL UNIQUE)"#,
        #"INSERT INTO codes ("user", code, expiry, tries) VALUES ('', '', 0, 0)"#,
        "INSERT INTO marks VALUES ('ready', 0)",
        // The base point of P-256 (SEC 2, section 2.4.2), under an identifier that is not its own, revoked, without a user.
        #"""
        INSERT INTO keys (id, "user", device, point, raw, tier, created, revoked)
            VALUES ('\x0000000000000000000000000000000000000000000000000000000000000000', '', '',
                '\x046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
                0, 'simulated', 0, 0)
        """#,
    ]

    /// Passkeys, administrators, and sessions of browsers with the codes that open one. The column `raw` of `keys` has the
    /// value 2 for a passkey. Lists of keys and sessions are read in the order of the new indexes, from the row after the
    /// last one shown.
    private static let version3 = [
        """
        CREATE TABLE passkeys (credential BYTEA PRIMARY KEY, key BYTEA NOT NULL UNIQUE REFERENCES keys (id),
            handle BYTEA NOT NULL, authenticator BYTEA NOT NULL, attestation TEXT NOT NULL, synced BIGINT NOT NULL)
        """,
        #"CREATE TABLE administrators ("user" TEXT PRIMARY KEY)"#,
        "ALTER TABLE sessions ADD browser BIGINT NOT NULL DEFAULT 0",
        """
        CREATE TABLE browser_codes (code BYTEA PRIMARY KEY, key BYTEA NOT NULL REFERENCES keys (id), expiry BIGINT NOT NULL)
        """,
        "DROP INDEX keys_user",
        #"CREATE INDEX keys_user ON keys ("user", created, id)"#,
        "DROP INDEX sessions_key",
        "CREATE INDEX sessions_key ON sessions (key, created, token)",
        "CREATE INDEX sessions_created ON sessions (created, token)",
    ]

    /// The partition of the nonces of one epoch, which fills in the epoch itself. Attached, and not made as a partition:
    /// that would wait for a backup, which reads all tables, and every sign-in of the hour with it.
    package static func createSpent(_ epoch: Int64) -> [String] {
        [
            """
            CREATE TABLE spent_\(epoch) (epoch BIGINT NOT NULL DEFAULT \(epoch) CHECK (epoch = \(epoch)),
                nonce BYTEA NOT NULL, PRIMARY KEY (epoch, nonce))
            """,
            "ALTER TABLE spent ATTACH PARTITION spent_\(epoch) FOR VALUES IN (\(epoch))",
        ]
    }
}
