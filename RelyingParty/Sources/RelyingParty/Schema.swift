// SPDX-License-Identifier: Apache-2.0

/// How a database writes what the tables need. Everything else is the same for every database.
package struct SQLDialect: Sendable {
    let integer: String
    let text: String
    let bytes: String
    /// What follows the columns of a table; the second is for one whose rows are found by their primary key only.
    let table: String
    let tableByKey: String
    /// How a text of hexadecimal digits becomes bytes.
    let hexadecimal: @Sendable (String) -> String

    package static let sqlite = SQLDialect(
        integer: "INTEGER", text: "TEXT", bytes: "BLOB", table: "STRICT", tableByKey: "STRICT, WITHOUT ROWID",
        hexadecimal: { "X'\($0)'" })

    /// Texts are ordered and compared by their bytes: an order of a locale changes with the C library, and an index that was
    /// built in the order before would hide rows, such as a key from its revocation.
    package static let postgresql = SQLDialect(
        integer: "BIGINT", text: #"TEXT COLLATE "C""#, bytes: "BYTEA", table: "", tableByKey: "",
        hexadecimal: { "'\\x\($0)'" })
}

/// A version of the tables. A new one is made in two steps, so that programs of two versions can use the database while one
/// replaces the other (docs/use/server.md, "Upgrades").
package struct SchemaVersion: Sendable {
    /// Adds what the version needs. Programs of the version before go on with these tables.
    package let expand: [String]
    /// Removes what only programs of versions before need.
    package let contract: [String]

    package init(expand: [String], contract: [String] = []) { (self.expand, self.contract) = (expand, contract) }
}

/// The tables; `docs/reference/relying-party.md` describes them.
package enum Schema {
    /// The versions in their order. One that was released never changes.
    package static func versions(_ dialect: SQLDialect) -> [SchemaVersion] { [SchemaVersion(expand: first(dialect))] }

    private static func first(_ type: SQLDialect) -> [String] {
        let (number, text, bytes) = (type.integer, type.text, type.bytes)
        // SQLite reads the lists of a table in the order of its primary key without a row number: one tree less to write.
        func table(_ name: String, _ columns: String..., byKey: Bool = true) -> String {
            "CREATE TABLE \(name) (\(columns.joined(separator: ", "))) \(byKey ? type.tableByKey : type.table)"
        }
        return [
            table(
                "keys", "id \(bytes) PRIMARY KEY", #""user" \#(text) NOT NULL"#, "device \(text) NOT NULL",
                "algorithm \(number) NOT NULL", "public \(bytes) NOT NULL", "form \(number) NOT NULL",
                "tier \(text) NOT NULL", "created \(number) NOT NULL", "revoked \(number)", "counter \(number)",
                "frozen \(number)", "unfrozen \(number)", "attested \(text) NOT NULL", "model \(text) NOT NULL",
                "chip \(bytes) NOT NULL", "verification \(text) NOT NULL", byKey: false),
            #"CREATE INDEX keys_user ON keys ("user", created, id)"#,
            table("retired", "id \(bytes) PRIMARY KEY"),
            table(
                "passkeys", "credential \(bytes) PRIMARY KEY", "key \(bytes) NOT NULL UNIQUE REFERENCES keys (id)",
                "handle \(bytes) NOT NULL", "authenticator \(bytes) NOT NULL", "attestation \(text) NOT NULL",
                "synced \(number) NOT NULL"),
            table("users", #""user" \#(text) PRIMARY KEY"#, "pseudonym \(text) NOT NULL UNIQUE", byKey: false),
            table("administrators", #""user" \#(text) PRIMARY KEY"#),
            table(
                "codes", "code \(bytes) PRIMARY KEY", #""user" \#(text) NOT NULL UNIQUE"#,
                "expiry \(number) NOT NULL", "service \(text)"),
            table(
                "browser_codes", "code \(bytes) PRIMARY KEY", "key \(bytes) NOT NULL REFERENCES keys (id)",
                "expiry \(number) NOT NULL"),
            table(
                "services", "name \(text) PRIMARY KEY", "credential \(bytes) NOT NULL UNIQUE",
                "rights \(number) NOT NULL", "created \(number) NOT NULL"),
            table(
                "sessions", "token \(bytes) PRIMARY KEY", "key \(bytes) NOT NULL REFERENCES keys (id)",
                "created \(number) NOT NULL", "used \(number) NOT NULL", "checked \(number)", "stepped \(number)",
                "expiry \(number) NOT NULL", "browser \(number) NOT NULL"),
            // A key at its limit gives up its oldest session at each sign-in, which is the first one in this order.
            "CREATE INDEX sessions_key ON sessions (key, created, token)",
            "CREATE INDEX sessions_created ON sessions (created, token)",
            table(
                "approvals", "code \(bytes) PRIMARY KEY", "session \(bytes) NOT NULL", "context \(text) NOT NULL",
                "created \(number) NOT NULL", "expiry \(number) NOT NULL"),
            table(
                "audit", "node \(text) NOT NULL", "number \(number) NOT NULL", "time \(number) NOT NULL",
                "event \(text) NOT NULL", #""user" \#(text) NOT NULL"#, "key \(bytes) NOT NULL",
                "detail \(text) NOT NULL", "hash \(bytes) NOT NULL", "PRIMARY KEY (node, number)"),
            table("nodes", "node \(text) PRIMARY KEY", "copied \(number) NOT NULL"),
            table("epochs", "epoch \(number) PRIMARY KEY", byKey: false),
            // `version`: of these tables; `least`: of the programs that may use them; `ready`: changed by each check;
            // `dropped` and `accepted`: of challenges.
            table("marks", "name \(text) PRIMARY KEY", "value \(number) NOT NULL", byKey: false),
            "INSERT INTO marks VALUES ('version', 1), ('least', 1), ('ready', 0), ('dropped', -1), ('accepted', 0)",
            // The key that no user has: the base point of P-256 (SEC 2, section 2.4.2), under an identifier that is not its
            // own, revoked.
            """
            INSERT INTO keys (id, "user", device, algorithm, public, form, tier, created, revoked, attested, model, chip,
                verification) VALUES (\(type.hexadecimal(String(repeating: "0", count: 64))), '', '', -7,
                \(type.hexadecimal(basePoint)), 0, 'simulated', 0, 0, 'none', '', \(type.hexadecimal("")), '')
            """,
        ]
    }

    private static let basePoint = """
        046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296\
        4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5
        """
}

/// The tables of SQLite.
package enum SQLiteSchema {
    package static let versions = Schema.versions(.sqlite)

    /// The table of the nonces of one epoch. The name has a number only, so no input becomes part of a statement.
    package static func createSpent(_ epoch: Int64) -> String {
        "CREATE TABLE spent_\(epoch) (nonce BLOB PRIMARY KEY) STRICT, WITHOUT ROWID"
    }
}

/// The tables of PostgreSQL.
package enum PostgreSQLSchema {
    package static let versions: [SchemaVersion] = {
        var versions = Schema.versions(.postgresql)
        let first = versions.removeFirst()
        return [SchemaVersion(expand: first.expand + ownTables, contract: first.contract)] + versions
    }()

    private static let ownTables = [
        // The server of databases that the nodes used last; `accepted` is set when another one takes its place.
        #"CREATE TABLE server (identity TEXT COLLATE "C" NOT NULL)"#,
        """
        CREATE TABLE spent (epoch BIGINT NOT NULL, nonce BYTEA NOT NULL, PRIMARY KEY (epoch, nonce))
            PARTITION BY LIST (epoch)
        """,
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
