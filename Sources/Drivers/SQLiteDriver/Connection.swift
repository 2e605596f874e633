// SPDX-License-Identifier: Apache-2.0

// Only this file and GatheredLog.swift call SQLite; no C type is visible outside them.

internal import CSQLite
import Glibc
import LatchkeyModel

/// One database connection and its prepared statements. Not safe for concurrent use.
final class Connection {
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]
    /// The path of the database; empty for one in memory.
    private let path: String

    /// What a connection may do with its database.
    enum Access {
        /// Creates a database, reads and writes.
        case create
        case write
        case read
        /// Reads a database that cannot change: makes neither the log nor the file that connections share.
        case readUnchanging
    }

    /// Opens the database at `path`; ":memory:" creates one that exists as long as the connection.
    init(_ path: String, _ access: Access) throws(Failure) {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
        var name = Connection.withRealFolder(path)
        self.path = path == ":memory:" ? "" : name
        var files: String? = GatheredLog.name
        switch access {
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .write: flags |= SQLITE_OPEN_READWRITE
        case .read:
            flags |= SQLITE_OPEN_READONLY
            files = nil
        case .readUnchanging:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            files = nil
            name = Connection.address(name) + "?immutable=1"
        }
        let code = sqlite3_open_v2(name, &handle, flags, files)
        guard code == SQLITE_OK else {
            let failure = Connection.failure(code, system: errno)
            sqlite3_close_v2(handle)
            throw failure
        }
        _ = latchkey_sqlite_harden(handle)
        sqlite3_busy_timeout(handle, Self.patience)
    }

    /// Milliseconds for which a statement waits for another connection.
    private static let patience: CInt = 5000

    /// The size of the database, with pages that are still in the log.
    func databaseBytes() throws(Failure) -> Int64 { try number("PRAGMA page_size") * number("PRAGMA page_count") }

    /// Bytes of the pages that are not free, with those of the open transaction.
    func usedBytes() throws(Failure) -> Int64 {
        try number("PRAGMA page_size") * (number("PRAGMA page_count") - number("PRAGMA freelist_count"))
    }

    /// Bytes of the log on the disk; 0 for a database without one.
    var logBytes: Int64 {
        var log = stat()
        return !path.isEmpty && stat(path + "-wal", &log) == 0 ? Int64(log.st_size) : 0
    }

    /// The free bytes and all bytes of the file system; nil for a database in memory.
    func diskBytes() throws(Failure) -> (free: Int64, all: Int64)? {
        guard !path.isEmpty else { return nil }
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw Connection.failure(SQLITE_IOERR, system: errno) }
        func bytes(_ blocks: UInt) -> Int64 {
            let (bytes, isBeyond) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return isBeyond ? .max : Int64(clamping: bytes)
        }
        return (bytes(status.f_bavail), bytes(status.f_blocks))
    }

    private func number(_ sql: String) throws(Failure) -> Int64 {
        var number: Int64 = 0
        try run(sql, []) { (row) throws(Failure) in
            number = row.integer(0)
            return true
        }
        return number
    }

    /// Runs a body whose statements do not wait for other connections.
    func withoutWaiting<R>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        sqlite3_busy_timeout(handle, 0)
        defer { sqlite3_busy_timeout(handle, Self.patience) }
        return try body()
    }

    /// Resolves symbolic links in the folder of a path. `SQLITE_OPEN_NOFOLLOW` refuses a link anywhere in the path,
    /// but home folders often are links; only the file itself must not be one.
    private static func withRealFolder(_ path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex,
            let real = realpath(String(path[..<slash]), nil)
        else { return path }
        defer { free(real) }
        // SQLite takes text only; with the link, which is text, it refuses the path.
        return String(validatingCString: real).map { $0 + path[slash...] } ?? path
    }

    /// The path as a URI, in which every byte that could have a meaning is percent-encoded.
    private static func address(_ path: String) -> String {
        let digits = Array("0123456789abcdef")
        return path.utf8.reduce(into: "file:") { address, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"):
                address.unicodeScalars.append(Unicode.Scalar(byte))
            default: address += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Runs statements that return no rows.
    func execute(_ sql: String) throws(Failure) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Bytes of the pages in the cache.
    var cachedBytes: Int {
        var (now, highest): (CInt, CInt) = (0, 0)
        guard sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &now, &highest, 0) == SQLITE_OK else { return 0 }
        return Int(now)
    }

    /// Frees the prepared statements and the pages in the cache that are not in use.
    func releaseMemory() {
        for (sql, statement) in statements where sqlite3_stmt_busy(statement) == 0 {
            sqlite3_finalize(statement)
            statements[sql] = nil
        }
        // The result is no failure: nothing could be freed.
        _ = sqlite3_db_release_memory(handle)
    }

    /// Rolls back the open transaction. After a failed COMMIT there may be none; the failure is then ignored.
    func rollBack() {
        // Whether or not this succeeds, the transaction was not committed.
        try? execute("ROLLBACK")
        GatheredLog.forget(handle)
    }

    /// Runs one statement, prepared once, and calls `row` for each row until it returns false.
    func run(
        _ sql: String, _ values: [Value], _ row: (borrowing Row) throws(Failure) -> Bool = { _ throws(Failure) in true }
    ) throws(Failure) {
        let statement = try prepare(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (offset, value) in values.enumerated() { try bind(value, to: CInt(offset + 1), of: statement) }
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw failure(code) }
            if try !row(Row(statement: statement)) { return }
        }
    }

    /// The SQL texts of the prepared statements.
    var preparedStatements: [String] { Array(statements.keys) }

    /// Returns a prepared statement that is not running. If the cached one is running in an outer call, a second one
    /// is prepared.
    private func prepare(_ sql: String) throws(Failure) -> OpaquePointer {
        if let known = statements[sql], sqlite3_stmt_busy(known) == 0 { return known }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code) }
        if let old = statements.updateValue(statement, forKey: sql) { retired.append(old) }
        return statement
    }

    /// Statements that were running when a second one was prepared for the same text. Whenever one is added here, those
    /// that have finished are finalised.
    private var retired: [OpaquePointer] = [] {
        didSet {
            retired.removeAll { statement in
                guard sqlite3_stmt_busy(statement) == 0 else { return false }
                sqlite3_finalize(statement)
                return true
            }
        }
    }

    private func bind(_ value: Value, to index: CInt, of statement: OpaquePointer) throws(Failure) {
        // SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code: CInt
        switch value {
        case .integer(let number): code = sqlite3_bind_int64(statement, index, number)
        case .text(let text): code = sqlite3_bind_text(statement, index, text, -1, copied)
        case .blob(let bytes):
            code =
                bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement, index, 0)
                : sqlite3_bind_blob(statement, index, bytes, CInt(bytes.count), copied)
        case .null: code = sqlite3_bind_null(statement, index)
        }
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// A value bound to a statement.
    enum Value {
        case integer(Int64)
        case text(String)
        case blob([UInt8])
        case null

        /// A blob, or null for nil.
        static func optional(_ bytes: [UInt8]?) -> Value { bytes.map { .blob($0) } ?? .null }
    }

    /// The current row of a running statement.
    struct Row: ~Copyable {
        fileprivate let statement: OpaquePointer

        func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(statement, column) }

        /// Returns nil for NULL.
        func optionalInteger(_ column: CInt) -> Int64? {
            sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : integer(column)
        }

        func blob(_ column: CInt) -> [UInt8]? {
            guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
            guard let bytes = sqlite3_column_blob(statement, column) else { return [] }
            return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
        }

        /// For messages: what is not UTF-8 is escaped. Returns nil for NULL.
        func text(_ column: CInt) -> String? {
            sqlite3_column_text(statement, column).map {
                String(showing: UnsafeBufferPointer(start: $0, count: Int(sqlite3_column_bytes(statement, column))))
            }
        }
    }

    /// Uses `errno`, because a failed COMMIT does not set `sqlite3_system_errno`.
    private func failure(_ code: CInt) -> Failure { Connection.failure(code, system: errno) }

    /// Maps a result code to a failure. SQL texts and values are never part of it.
    ///
    /// - Parameter system: the value of `errno`, or 0. It identifies a full disk that `fsync` or the allocation of
    ///   the shared-memory index reports, for which SQLite has no result code, and a limit of the size of files.
    static func failure(_ code: CInt, system: CInt = 0) -> Failure {
        if code & 0xff == SQLITE_IOERR || code & 0xff == SQLITE_FULL, system == EFBIG {
            return Failure(
                .diskFull, "The files of the store may not grow: the daemon runs with a limit of their size.",
                hint: "Stop latchkeyd, and start it from a shell without ulimit -f.")
        }
        if code & 0xff == SQLITE_IOERR || code & 0xff == SQLITE_CANTOPEN, system == ENOSPC || system == EDQUOT {
            return failure(SQLITE_FULL)
        }
        let words = String(cString: sqlite3_errstr(code))
        switch code & 0xff {
        case SQLITE_FULL: return Failure(.diskFull, "There is no space left for the store.", hint: "Free some space.")
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            return Failure(.storeReadOnly, "The store cannot be written: \(words).", hint: "Check its permissions.")
        case SQLITE_CANTOPEN:
            return Failure(.storeUnreadable, "The store cannot be opened: \(words).", hint: "Check its permissions.")
        case SQLITE_BUSY, SQLITE_LOCKED:
            return Failure(.timedOut, "Another program has locked the store: \(words).", hint: "Try again.")
        case SQLITE_NOMEM: return Failure(.internalFailure, "Out of memory.")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return Failure(
                .storeUnreadable, "The store is damaged: \(words).",
                hint: "It is left as it is. Restore keychain.sqlite and root.key together from a backup.")
        case SQLITE_IOERR:
            return Failure(
                .storeUnreadable, "The disk of the store reports an error: \(words) (\(code)).",
                hint: "Check the disk, then the store with: latchkey check")
        default: return Failure(.storeUnreadable, "The store reports: \(words) (\(code)).")
        }
    }
}
