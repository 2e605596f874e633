// SPDX-License-Identifier: Apache-2.0

internal import CServerSQLite
internal import RelyingParty

/// The least that storing a sign-in needs: prepared statements insert the spent nonce, the session and the row of the
/// audit log in one durable transaction, without any read. The tables are those of the server.
final class FloorDatabase {
    private var handle: OpaquePointer?
    private var statements: [OpaquePointer] = []

    init(_ path: String) {
        require(sqlite3_open(path, &handle) == SQLITE_OK)
        for text in ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"]
            + SQLiteSchema.versions.flatMap(\.expand) + [SQLiteSchema.createSpent(0)]
        {
            require(sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK)
        }
        for text in [
            "BEGIN IMMEDIATE", "INSERT INTO spent_0 VALUES (randomblob(32))",
            """
            INSERT INTO sessions (token, key, created, used, expiry, browser)
                VALUES (randomblob(32), zeroblob(32), ?1, ?1, ?1, 0)
            """,
            "INSERT INTO audit VALUES ('', ?1, ?1, 'login', 'AAAAAAAAAAAAAAAAAAAAAA', zeroblob(32), '', randomblob(32))",
            "COMMIT",
        ] {
            var statement: OpaquePointer?
            require(sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK)
            if let statement { statements.append(statement) }
        }
    }

    deinit {
        for statement in statements { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    func insert(_ number: Int64) {
        for statement in statements {
            if sqlite3_bind_parameter_count(statement) > 0 { sqlite3_bind_int64(statement, 1, number) }
            require(sqlite3_step(statement) == SQLITE_DONE)
            sqlite3_reset(statement)
        }
    }
}
