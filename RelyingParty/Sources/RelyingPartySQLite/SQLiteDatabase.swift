// SPDX-License-Identifier: Apache-2.0

package import RelyingParty
internal import Synchronization

/// A database in a file that one server uses: one connection that writes, and one that reads meanwhile. Usable from any
/// thread.
package final class SQLiteDatabase: SQLDatabase {
    private let transactions: GroupedTransactions
    /// Nil for a database in memory, which has one connection only.
    private let reader: Reader?

    /// Opens the database, and makes it and its tables if there is none.
    ///
    /// - Parameter path: an absolute path that is no symbolic link, or `:memory:`.
    package init(_ path: String) throws(StorageFailure) {
        transactions = GroupedTransactions(try SQLiteConnection(path))
        // After the other one, which makes the tables.
        reader = path == ":memory:" ? nil : Reader(try SQLiteConnection(path))
    }

    /// Opens a database of this version, which is only read.
    ///
    /// - Parameter path: an absolute path.
    init(reading path: String) throws(StorageFailure) {
        transactions = GroupedTransactions(try SQLiteConnection(reading: path))
        reader = nil
    }

    package func read<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        guard let reader else { return try transactions.readIfFree(body) ?? transaction(body) }
        // The connection that wrote last has the pages in its cache; the other one reads them again.
        return try transactions.readIfFree(body) ?? reader.use(body)
    }

    package func transaction<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        try transactions.run(body)
    }

    package func maintain() {}
}

/// A connection that one thread uses at a time.
private final class Reader: @unchecked Sendable {
    // The connection is used inside `lock` only.
    private let connection: any SQLConnection
    private let lock = Mutex<Void>(())

    init(_ connection: any SQLConnection) { self.connection = connection }

    func use<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        var result: Result?
        try lock.withLock { _ in result = try body(connection) }
        guard let result else { throw StorageFailure("A statement did not run.") }
        return result
    }
}
