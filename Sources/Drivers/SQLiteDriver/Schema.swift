// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The tables, indexes and settings of the database (`docs/reference/store-format.md`, section "The database").
enum Schema {
    /// "LKey": distinguishes our files from other databases.
    static let applicationID = 0x4c4b_6579
    static let version = 1

    private static let rowColumns = """
        id BLOB NOT NULL, class INTEGER NOT NULL, key BLOB NOT NULL, grp BLOB NOT NULL, i0 BLOB, i1 BLOB, i2 BLOB,
        version INTEGER NOT NULL, attributes BLOB NOT NULL, secret BLOB
        """

    /// `position` is one more than the largest existing one, so it gives insertion order but may be reused after a
    /// deletion. Avoiding reuse (AUTOINCREMENT) would write one more page per insert, for a table of its own.
    static let tables = """
        CREATE TABLE record (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE item (
            position INTEGER PRIMARY KEY,
            \(rowColumns)
        ) STRICT;
        CREATE UNIQUE INDEX item_key ON item (key);
        CREATE UNIQUE INDEX item_id ON item (id);
        CREATE INDEX item_grp ON item (grp);
        CREATE INDEX item_i0 ON item (i0) WHERE i0 IS NOT NULL;
        CREATE INDEX item_i1 ON item (i1) WHERE i1 IS NOT NULL;
        CREATE INDEX item_i2 ON item (i2) WHERE i2 IS NOT NULL;
        CREATE TABLE audit (sequence INTEGER PRIMARY KEY, sealed BLOB NOT NULL, chain BLOB NOT NULL) STRICT;
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """

    /// Created with the first quarantined row, so that a store without one has no such table.
    static let quarantine = """
        CREATE TABLE IF NOT EXISTS quarantine (
            number INTEGER PRIMARY KEY,
            entry INTEGER NOT NULL,
            position INTEGER NOT NULL,
            \(rowColumns)
        ) STRICT
        """

    /// The pairs of items of the Secret Service. Created with the first of them, so that a store without one has no such table.
    static let pair = """
        CREATE TABLE pair (
            hash BLOB NOT NULL,
            position INTEGER NOT NULL REFERENCES item (position) ON DELETE CASCADE,
            PRIMARY KEY (hash, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX pair_position ON pair (position);
        """

    /// Must precede the first CREATE TABLE. An add changes some twenty bytes in a page of each index, so pages of
    /// half the usual size halve the bytes written and synced; a row with a short secret still fits three to a page.
    static let pageSize = "PRAGMA page_size = 2048; "

    /// Settings of every connection. FULL makes each commit durable across a power cut. A log that one large transaction has
    /// made long is shortened once it was merged, because it counts for the user's quota.
    static let settings = """
        PRAGMA secure_delete = ON;
        PRAGMA temp_store = MEMORY;
        PRAGMA cache_size = -2048;
        PRAGMA synchronous = FULL;
        PRAGMA journal_size_limit = 4194304;
        PRAGMA foreign_keys = ON;
        """

    static let columns = "position, id, class, key, grp, i0, i1, i2, version, attributes, secret"
    /// The same columns with the length of the secret in place of the secret. SQLite takes the length from the header
    /// of the row and does not read the pages of the secret (file format, section 2.1: the serial type of a column
    /// gives its length).
    static let columnsWithoutSecret = "position, id, class, key, grp, i0, i1, i2, version, attributes, length(secret)"

    /// Throws for a file that is empty, foreign, damaged or of another version.
    static func check(_ connection: Connection) throws(Failure) {
        var application: Int64 = 0
        var version: Int64 = 0
        try connection.run("PRAGMA application_id", []) { (row) throws(Failure) in
            application = row.integer(0)
            return true
        }
        try connection.run("PRAGMA user_version", []) { (row) throws(Failure) in
            version = row.integer(0)
            return true
        }
        guard application == Int64(applicationID) else {
            throw Failure(
                .storeUnreadable, "keychain.sqlite is not a store of Latchkey, or it was truncated.",
                hint: "It is left as it is. Restore keychain.sqlite and root.key together from a backup.")
        }
        guard version <= Int64(self.version) else {
            throw Failure(
                .storeNewer, "The store has version \(version), and this Latchkey knows \(self.version).",
                hint: "Install the newer version again; this one leaves the store untouched.")
        }
        guard version == Int64(self.version) else { throw Failure.storeOlder(version) }
    }
}
