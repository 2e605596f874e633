// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// The item store in SQLite: WAL, `synchronous = FULL`, one writing connection and one reading connection beside it.
///
/// In WAL mode "readers do not block writers and a writer does not block readers" (sqlite.org/wal.html). So a read
/// without a prompt stays fast while another program adds items. With `FULL` a commit is durable when it returns, which
/// the anchor relies on.
///
/// Rows are sealed before they arrive, so the store learns sizes and blind indexes only. It neither verifies a row nor
/// decides who reads one. Deleted and replaced rows are overwritten (`secure_delete`), but copies in the log last until
/// it is merged.
package final class SQLiteItemStore: ItemStore, @unchecked Sendable {
    // Each connection is only used inside its lock.
    // The reader is declared first, so that it is closed first: only the last connection that can write merges the
    // log into the database and removes the log.
    private let reader: Connection
    let writer: Connection
    let writing = Mutex<Void>(())
    private let reading = Mutex(Snapshot())
    let commits = Atomic<UInt64>(0)
    let isShared: Bool
    /// nil for an in-memory store and for one that `create` returned.
    private let path: String?

    /// The read transaction of the reading connection. It stays open between reads, because opening one costs a
    /// quarter of a read, until a later commit makes it stale or the next write begins: the log can be merged only
    /// while no reader uses it.
    private struct Snapshot {
        var isOpen = false
        /// The number of commits when the transaction was opened; the transaction may show one commit more.
        var commits: UInt64 = 0
    }

    /// Makes a store in memory, which exists as long as the process uses it.
    package static func inMemory() throws(Failure) -> SQLiteItemStore {
        let connection = try Connection(":memory:", .create)
        try connection.execute(Schema.settings + Schema.tables)
        return SQLiteItemStore(writer: connection, reader: connection, isShared: true)
    }

    /// Creates a database with all tables at `path`; the tables are durable on return.
    package static func create(at path: String) throws(Failure) -> SQLiteItemStore {
        let connection = try Connection(path, .create)
        try connection.execute(Schema.pageSize + Schema.settings)
        try connection.execute("BEGIN IMMEDIATE; " + Schema.tables + " COMMIT")
        return SQLiteItemStore(writer: connection, reader: connection, isShared: true)
    }

    /// Opens an existing database; never creates or changes one. Throws `storeUnreadable` for a foreign or truncated
    /// file.
    ///
    /// On a read-only file system its items can be read, and each write throws `storeReadOnly`.
    package static func open(_ path: String) throws(Failure) -> SQLiteItemStore {
        if isOnReadOnlyDisk(path) { return try openUnchanging(path) }
        let writer = try Connection(path, .write)
        try Schema.check(writer)
        try checkIsWhole(path, writer)
        try writer.execute("PRAGMA journal_mode = WAL; " + Schema.settings)
        let reader = try Connection(path, .read)
        try reader.execute(Schema.settings)
        return SQLiteItemStore(writer: writer, reader: reader, isShared: false, path: path)
    }

    private static func isOnReadOnlyDisk(_ path: String) -> Bool {
        var status = statvfs()
        return statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
    }

    /// Opens a database on a read-only file system, where SQLite cannot make the files beside it. Throws
    /// `storeReadOnly` if there is a log, whose commits would be missing.
    static func openUnchanging(_ path: String) throws(Failure) -> SQLiteItemStore {
        var log = stat()
        guard stat(path + "-wal", &log) != 0 || log.st_size == 0 else {
            throw Failure(
                .storeReadOnly, "The store is on a read-only file system, and its last changes are still in its log.",
                hint: "Mount the file system for writing, and try again.")
        }
        let connection = try Connection(path, .readUnchanging)
        try Schema.check(connection)
        try checkIsWhole(path, connection)
        return SQLiteItemStore(writer: connection, reader: connection, isShared: true)
    }

    /// Throws for a file that was truncated within its last page: SQLite reads zeros there, and rows would be missing
    /// without an error. If there is a log, the check is skipped, because the last page may be in it.
    private static func checkIsWhole(_ path: String, _ connection: Connection) throws(Failure) {
        var file = stat()
        var log = stat()
        guard stat(path, &file) == 0, stat(path + "-wal", &log) != 0 || log.st_size == 0 else { return }
        guard file.st_size >= (try connection.databaseBytes()) else {
            throw Failure(
                .storeUnreadable, "keychain.sqlite was truncated.",
                hint: "It is left as it is. Restore keychain.sqlite and root.key together from a backup.")
        }
    }

    private init(writer: Connection, reader: Connection, isShared: Bool, path: String? = nil) {
        self.path = path
        self.writer = writer
        self.reader = reader
        self.isShared = isShared
    }

    package func read<R>(_ body: (any ItemReading) throws(Failure) -> R) throws(Failure) -> R {
        if isShared {
            return try writing.withLockForAnyResult { (_) throws(Failure) in try body(Rows(connection: reader)) }
        }
        return try reading.withLockForAnyResult { (snapshot) throws(Failure) in
            do throws(Failure) {
                try refresh(&snapshot)
                return try body(Rows(connection: reader))
            } catch {
                close(&snapshot)
                throw error
            }
        }
    }

    /// Opens a read transaction that shows every commit so far. Without one, each statement could see a different
    /// snapshot.
    private func refresh(_ snapshot: inout Snapshot) throws(Failure) {
        let now = commits.load(ordering: .acquiring)
        if snapshot.isOpen, snapshot.commits == now { return }
        close(&snapshot)
        try reader.run("BEGIN", [])
        snapshot = Snapshot(isOpen: true, commits: now)
    }

    private func close(_ snapshot: inout Snapshot) {
        guard snapshot.isOpen else { return }
        // A read transaction has nothing to lose; if ending it fails, the next read fails too.
        try? reader.run("COMMIT", [])
        snapshot.isOpen = false
    }

    package func write<R>(_ body: (any ItemWriting) throws(Failure) -> R) throws(Failure) -> R {
        try writing.withLockForAnyResult { (_) throws(Failure) in
            closeIdleRead()
            try writer.run("BEGIN IMMEDIATE", [])
            do throws(Failure) {
                let value = try body(Rows(connection: writer))
                try writer.run("COMMIT", [])
                commits.add(1, ordering: .releasing)
                return value
            } catch {
                writer.rollBack()
                throw error
            }
        }
    }

    /// Closes the idle read transaction, which the next read would use. A read in progress continues; its transaction
    /// is closed before the next write.
    func closeIdleRead() { _ = reading.withLockIfAvailable { close(&$0) } }

    /// Runs a body while there is no read transaction.
    ///
    /// - Parameter waits: whether to wait for a read in progress.
    /// - Returns: nil if a read is in progress.
    func withoutReader(waits: Bool, _ body: () throws(Failure) -> Bool) throws(Failure) -> Bool? {
        func closing(_ snapshot: inout Snapshot) -> Result<Bool, Failure> {
            close(&snapshot)
            do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
        }
        if waits { return try reading.withLock { closing(&$0) }.get() }
        return try reading.withLockIfAvailable { closing(&$0) }?.get()
    }

    /// Bytes of the pages in the caches of both connections.
    var cachedBytes: Int {
        let written = writing.withLock { _ in writer.cachedBytes }
        return isShared ? written : written + reading.withLock { _ in reader.cachedBytes }
    }

    package func releaseMemory() {
        writing.withLock { _ in writer.releaseMemory() }
        guard !isShared else { return }
        reading.withLock { snapshot in
            close(&snapshot)
            reader.releaseMemory()
        }
    }

    package func problems() throws(Failure) -> [String] {
        // Uses its own connection, so that reads and writes continue while every page is read.
        if let path { return try Integrity.problems(Connection(path, .read)) }
        return try writing.withLockForAnyResult { (_) throws(Failure) in try Integrity.problems(reader) }
    }
}

extension Mutex where Value: Sendable {
    /// Calls `body` while this lock is held; returns its result or throws its typed error.
    ///
    /// `withLock` accepts only results that are known to be free of the protected value, which a generic result is not.
    /// The bodies here return copies of rows and never the connection.
    borrowing func withLockForAnyResult<R>(_ body: (inout Value) throws(Failure) -> R) throws(Failure) -> R {
        var result: Result<R, Failure>?
        withLock { value in
            do throws(Failure) { result = .success(try body(&value)) } catch { result = .failure(error) }
        }
        guard let result else { throw Failure(.internalFailure, "The store gave no result.") }
        return try result.get()
    }
}
