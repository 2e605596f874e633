// SPDX-License-Identifier: Apache-2.0

// Only this file calls SQLite; no C type is visible outside it.

internal import CServerSQLite
package import RelyingParty

/// A database in a file, and its prepared statements. Not safe for concurrent use.
package final class SQLiteConnection: SQLConnection {
    private let path: String
    private let version: Int64
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    /// Opens the database, and makes it and its tables if there is none. Commits are durable when they return.
    ///
    /// - Parameters:
    ///   - path: an absolute path that is no symbolic link, or `:memory:`.
    ///   - versions: the versions of the tables.
    package init(_ path: String, versions: [SchemaVersion] = SQLiteSchema.versions) throws(StorageFailure) {
        (self.path, version) = (path, Int64(versions.count))
        handle = try Self.open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        // Requests wait behind this one, and each has ten seconds.
        sqlite3_busy_timeout(handle, 1000)
        // secure_delete: the name of a deleted user does not stay in the free parts of the file.
        for pragma in [
            "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON",
            "PRAGMA secure_delete = ON",
        ] {
            _ = try run(pragma, [])
        }
        // A file has one server, so nothing waits for programs of earlier versions.
        if try expand(to: versions) { _ = try contract(to: versions) }
    }

    /// Opens a database to copy it: neither it nor its version is changed.
    package init(copying path: String) throws(StorageFailure) {
        (self.path, version) = (path, Int64(SQLiteSchema.versions.count))
        // Not read-only: the file beside it that SQLite needs for reading may have to be made.
        handle = try Self.open(path, SQLITE_OPEN_READWRITE)
        sqlite3_busy_timeout(handle, 1000)
        guard try hasTables() else { throw StorageFailure.otherDatabase }
    }

    /// Opens a database of this version, which is only read.
    package init(reading path: String) throws(StorageFailure) {
        (self.path, version) = (path, Int64(SQLiteSchema.versions.count))
        handle = try Self.open(path, SQLITE_OPEN_READONLY)
        guard try hasTables() else { throw StorageFailure.otherDatabase }
        try requireVersion()
    }

    private static func open(_ path: String, _ flags: CInt) throws(StorageFailure) -> OpaquePointer? {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, latchkey_server_sqlite_harden(handle) == SQLITE_OK else {
            sqlite3_close_v2(handle)
            throw failure(code)
        }
        return handle
    }

    package func hasTables() throws(StorageFailure) -> Bool {
        try !run("SELECT 1 FROM sqlite_master WHERE name = 'marks'", []).isEmpty
    }

    package func isEmpty() throws(StorageFailure) -> Bool {
        try run("SELECT 1 FROM sqlite_master LIMIT 1", []).isEmpty
    }

    package func requireVersion() throws(StorageFailure) {
        guard let marks = SchemaMarks(try run(SchemaMarks.statement, []).first) else {
            throw StorageFailure.otherDatabase
        }
        try marks.require(version)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// The file has one user, so its chain of the audit log needs no name.
    package var node: String { "" }

    // IMMEDIATE: nothing else writes until the end, so what is read is still true then. Locks need nothing more.
    package func begin() throws(StorageFailure) {
        try beginChange(alone: false)
        do throws(StorageFailure) {
            try requireVersion()
        } catch {
            // Nothing was changed; a connection that stays in the transaction can begin no other one.
            _ = try? run("ROLLBACK", [])
            throw error
        }
    }
    package func beginChange(alone: Bool) throws(StorageFailure) { _ = try run("BEGIN IMMEDIATE", []) }
    package func commit() throws(StorageFailure) { _ = try run("COMMIT", []) }
    package func lock(_ lock: StorageLock) {}
    package func createSpent(_ epoch: Int64) -> [String] { [SQLiteSchema.createSpent(epoch)] }

    /// SQLite compares the file that it opened with the one that has its name now.
    package func requirePlace() throws(StorageFailure) {
        guard path != ":memory:" else { return }
        var hasMoved: CInt = 0
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard code == SQLITE_OK, hasMoved == 0 else {
            throw StorageFailure("The file of the database was deleted or replaced; restart the server.")
        }
    }

    package var changedRowCount: Int { Int(sqlite3_changes(handle)) }

    package func run(_ sql: String, _ values: [SQLValue]) throws(StorageFailure) -> [[SQLValue]] {
        let statement = try prepare(sql)
        defer {
            sqlite3_reset(statement)
            if !values.isEmpty { sqlite3_clear_bindings(statement) }
        }
        guard Int(sqlite3_bind_parameter_count(statement)) == values.count else {
            throw StorageFailure("A statement has another number of parameters than values.")
        }
        var index: CInt = 0
        for value in values {
            index += 1
            try bind(value, to: index, of: statement)
        }
        var rows: [[SQLValue]] = []
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return rows }
            guard code == SQLITE_ROW else { throw Self.failure(code) }
            rows.append(
                try (0..<sqlite3_column_count(statement)).map { (column) throws(StorageFailure) in
                    try Self.value(statement, column)
                })
        }
    }

    private func prepare(_ sql: String) throws(StorageFailure) -> OpaquePointer {
        if let known = statements[sql] { return known }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw Self.failure(code) }
        // A parameter gets its index when it first appears; values are bound in the order of the numbers.
        for index in 0..<sqlite3_bind_parameter_count(statement) {
            guard let name = sqlite3_bind_parameter_name(statement, index + 1), String(cString: name) == "$\(index + 1)"
            else {
                sqlite3_finalize(statement)
                throw StorageFailure("The parameters of a statement are not in the order of their numbers.")
            }
        }
        // Statements of epochs have the epoch in their text; those of old ones must not accumulate.
        if statements.count >= 64 {
            for old in statements.values { sqlite3_finalize(old) }
            statements.removeAll()
        }
        statements[sql] = statement
        return statement
    }

    private func bind(_ value: SQLValue, to index: CInt, of statement: OpaquePointer) throws(StorageFailure) {
        // SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code: CInt
        switch value {
        case .integer(let number): code = sqlite3_bind_int64(statement, index, number)
        case .text(let text):
            code = sqlite3_bind_text(statement, index, text, CInt(clamping: text.utf8.count), copied)
        case .blob(let bytes):
            code =
                bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement, index, 0)
                : sqlite3_bind_blob(statement, index, bytes, CInt(clamping: bytes.count), copied)
        case .null: code = sqlite3_bind_null(statement, index)
        }
        guard code == SQLITE_OK else { throw Self.failure(code) }
    }

    private static func value(_ statement: OpaquePointer, _ column: CInt) throws(StorageFailure) -> SQLValue {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_TEXT:
            guard let start = sqlite3_column_text(statement, column) else { return .null }
            let count = Int(sqlite3_column_bytes(statement, column))
            guard let text = String(validating: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) else {
                throw StorageFailure("The database has a text that is not UTF-8.")
            }
            return .text(text)
        case SQLITE_BLOB:
            guard let start = sqlite3_column_blob(statement, column) else { return .blob([]) }
            let count = Int(sqlite3_column_bytes(statement, column))
            return .blob(Array(UnsafeRawBufferPointer(start: start, count: count)))
        default: return .null
        }
    }

    private static func failure(_ code: CInt) -> StorageFailure {
        StorageFailure(
            isDuplicate: latchkey_server_is_duplicate(code) != 0,
            "The database reports: \(String(cString: sqlite3_errstr(code))) (\(code)).")
    }
}
