// SPDX-License-Identifier: Apache-2.0

internal import CBenchSQLite
import Foundation

/// Floor: the same service, account and secret in plain text, in one table with one unique index.
///
/// Uses WAL and `synchronous = FULL`, so that an insert is as durable as in Latchkey. Statements are prepared once.
final class SQLiteFloor {
    private var handle: OpaquePointer?
    private var inserting: OpaquePointer?
    private var reading: OpaquePointer?
    private var deleting: OpaquePointer?

    init(at path: String) throws(BenchFailure) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        try check(sqlite3_open_v2(path, &handle, flags, nil), "sqlite3_open_v2")
        try execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            CREATE TABLE item (service TEXT NOT NULL, account TEXT NOT NULL, secret BLOB NOT NULL) STRICT;
            CREATE UNIQUE INDEX item_key ON item (service, account);
            """)
        inserting = try prepare("INSERT INTO item VALUES (?, ?, ?)")
        reading = try prepare("SELECT secret FROM item WHERE service = ? AND account = ?")
        deleting = try prepare("DELETE FROM item WHERE service = ? AND account = ?")
    }

    deinit {
        for statement in [inserting, reading, deleting] { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Adds items in one transaction, untimed.
    func fill(_ numbers: Range<Int>) throws(BenchFailure) {
        var untimed = Samples()
        try execute("BEGIN")
        for number in numbers { try insert([Item(number: number)], &untimed) }
        try execute("COMMIT")
    }

    /// Removes items in one transaction, untimed.
    func remove(_ numbers: Range<Int>) throws(BenchFailure) {
        try execute("BEGIN")
        for number in numbers {
            let code = with(deleting, Item(number: number).account) { sqlite3_step(deleting) }
            try check(code, "DELETE", SQLITE_DONE)
        }
        try execute("COMMIT")
    }

    /// Inserts items durably, one by one; each insert is timed.
    func insert(_ items: [Item], _ samples: inout Samples) throws(BenchFailure) {
        let rows = items.map { ($0.account, $0.secret()) }
        for (account, secret) in rows {
            let code = with(inserting, account) {
                secret.withUnsafeBytes { bytes in
                    samples.time {
                        sqlite3_bind_blob(inserting, 3, bytes.baseAddress, CInt(bytes.count), nil)
                        let code = sqlite3_step(inserting)
                        sqlite3_reset(inserting)
                        return code
                    }
                }
            }
            try check(code, "INSERT", SQLITE_DONE)
        }
    }

    /// Reads items through the unique index, one by one; each read is timed.
    func read(_ items: [Item], _ samples: inout Samples) throws(BenchFailure) {
        let accounts = items.map(\.account)
        var found = [Data](repeating: Data(), count: items.count)
        for (index, account) in accounts.enumerated() {
            let code = with(reading, account) {
                samples.time {
                    let code = sqlite3_step(reading)
                    if let bytes = sqlite3_column_blob(reading, 0) {
                        found[index] = Data(bytes: bytes, count: Int(sqlite3_column_bytes(reading, 0)))
                    }
                    sqlite3_reset(reading)
                    return code
                }
            }
            try check(code, "SELECT", SQLITE_ROW)
        }
        for (item, found) in zip(items, found) where found != item.secret() {
            throw BenchFailure("SQLite returned a wrong secret.")
        }
    }

    // MARK: - SQLite calls

    /// Binds service and account while `body` runs; SQLite reads the memory in place.
    private func with(_ statement: OpaquePointer?, _ account: String, _ body: () -> CInt) -> CInt {
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        return Item.service.withCString { service in
            account.withCString { account in
                sqlite3_bind_text(statement, 1, service, -1, nil)
                sqlite3_bind_text(statement, 2, account, -1, nil)
                return body()
            }
        }
    }

    private func execute(_ sql: String) throws(BenchFailure) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil), "SQLite")
    }

    private func prepare(_ sql: String) throws(BenchFailure) -> OpaquePointer? {
        var statement: OpaquePointer?
        try check(
            sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil), "SQLite")
        return statement
    }

    private func check(_ code: CInt, _ call: String, _ wanted: CInt = SQLITE_OK) throws(BenchFailure) {
        guard code == wanted else { throw BenchFailure("\(call): \(String(cString: sqlite3_errstr(code)))") }
    }
}
