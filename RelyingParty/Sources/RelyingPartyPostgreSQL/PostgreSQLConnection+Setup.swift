// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty

// What a new connection needs before it is used: settings, the tables, and the server that it has reached.

extension PostgreSQLConnection {
    /// What is known about the server of a connection.
    struct Server {
        /// Which server it is, how often it was promoted, when it started, and which file has the table of this value: a
        /// table that was restored from a dump has another one. The last one also as `table`.
        let identity: String
        let table: Int64
        /// Its time, in milliseconds since 1970.
        let milliseconds: Int64
        /// The time since which challenges are accepted, in seconds since 1970.
        let accepted: Int64
    }

    /// Limits the server's time for statements and locks, and refuses a server whose commits are not durable or that cannot
    /// write. The last limit releases the locks of a node that stopped within a transaction.
    func configure() throws(StorageFailure) {
        for setting in [
            "SET statement_timeout = '5s'", "SET lock_timeout = '2s'",
            "SET idle_in_transaction_session_timeout = '10s'",
            "SET timezone = 'UTC'",
            // Stricter values, which wait for standbys, stay.
            """
            SELECT 1 FROM (SELECT set_config('synchronous_commit', 'on', false)
                WHERE current_setting('synchronous_commit') = 'off') AS changed
            """,
        ] { _ = try run(setting, []) }
        let state = try run(
            """
            SELECT pg_is_in_recovery(), current_setting('fsync'), current_setting('server_encoding'),
                current_setting('server_version_num')::integer >= 150000
            """, [])
        switch state.first {
        case [.integer(0), .text("on"), .text("UTF8"), .integer(1)]: return
        case let row? where row.first == .integer(1):
            throw StorageFailure("The database is a standby. Name all servers, and target_session_attrs=read-write.")
        default:
            throw StorageFailure("The database needs PostgreSQL 15 or later, fsync = on and the encoding UTF8.")
        }
    }

    // By a query: functions of names remember that a table was missing until the next transaction.
    func hasTables() throws(StorageFailure) -> Bool {
        try run("SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'marks'", []) != []
    }

    // The schema is named by the operator, and may have other tables.
    func isEmpty() -> Bool { true }

    func beginChange(alone: Bool) throws(StorageFailure) {
        _ = try run(Self.beginning, [])
        // Other transactions take this lock first as well, so none of them waits for this one with another lock.
        if alone { _ = try run(Self.locking("' version'", "pg_advisory_xact_lock"), []) }
        try lock(.epochs)
        // A statement of a change may take longer than one of a request.
        _ = try run("SET LOCAL statement_timeout = 0", [])
    }

    /// What the server says about itself and the tables.
    struct Found {
        let identity: String
        let milliseconds: Int64
        let marks: SchemaMarks?
        let table: Int64
    }

    func identify() throws(StorageFailure) -> Found {
        let row = try run(
            """
            SELECT (SELECT system_identifier::text FROM pg_control_system()) || ' '
                    || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || ' '
                    || extract(epoch FROM pg_postmaster_start_time())::text || ' '
                    || pg_relation_filenode('server')::text,
                (extract(epoch FROM clock_timestamp()) * 1000)::bigint, pg_relation_filenode('server')::bigint,
                \(SchemaMarks.columns)
            """, []
        ).first
        guard let row, row.count == 5, case .text(let identity) = row[0], case .integer(let milliseconds) = row[1],
            case .integer(let table) = row[2]
        else { throw StorageFailure("The server of the database cannot be identified.") }
        return Found(
            identity: identity, milliseconds: milliseconds, marks: SchemaMarks(Array(row[3...])), table: table)
    }

    /// Finds out which server this is. If the nodes used another one before, or the same one before its last start, then
    /// commits may be missing: a standby may have taken over before it had received them, or a backup may have been
    /// restored. Challenges that were issued until now are then refused, by all nodes.
    ///
    /// - Parameters:
    ///   - known: the identity of the server that this process found last, if any.
    ///   - lastSecond: the latest time that this process has given a challenge, or could have, in seconds since 1970.
    func meetServer(known: String?, lastSecond: Int64) throws(StorageFailure) -> Server {
        let found = try identify()
        try admit(found.marks, table: found.table)
        let (identity, milliseconds) = (found.identity, found.milliseconds)
        if identity != known {
            // Clocks of two servers differ; within this margin, a challenge that the last one timed is refused as well.
            // Until this time, challenges are issued with it, so a second change needs a later one.
            let accepted = max(milliseconds / 1000, lastSecond) + Self.marginSeconds
            try transaction(begin: begin) { () throws(StorageFailure) in
                try lock(.epochs)
                if try run("SELECT 1 FROM server WHERE identity = $1", [.text(identity)]).isEmpty {
                    _ = try run("DELETE FROM server", [])
                    _ = try run("INSERT INTO server (identity) VALUES ($1)", [.text(identity)])
                    _ = try run(
                        "UPDATE marks SET value = greatest(value + 1, $1) WHERE name = 'accepted'", [.integer(accepted)]
                    )
                }
            }
        }
        guard case .integer(let accepted)? = try run("SELECT value FROM marks WHERE name = 'accepted'", []).first?.first
        else { throw StorageFailure("The mark of the accepted challenges is missing.") }
        return Server(identity: identity, table: found.table, milliseconds: milliseconds, accepted: accepted)
    }

    private static var marginSeconds: Int64 { 3 }
}
