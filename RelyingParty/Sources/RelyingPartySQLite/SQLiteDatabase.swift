// SPDX-License-Identifier: Apache-2.0

package import RelyingParty
internal import Synchronization

/// A database in a file that one server uses: one connection that writes, and others that read meanwhile. Usable from any
/// thread.
package final class SQLiteDatabase: SQLDatabase {
    private let transactions: GroupedTransactions
    /// Empty for a database in memory, which has one connection only. Each one has a cache of its own, so a read takes the one
    /// whose turn it is, or the next one that is free.
    private let readers: [Reader]
    private let uses = Atomic<Int>(0)
    private static let readerCount = 4

    /// Opens the database, and makes it and its tables if there is none.
    ///
    /// - Parameter path: an absolute path that is no symbolic link, or `:memory:`.
    package init(_ path: String) throws(StorageFailure) {
        transactions = GroupedTransactions(try SQLiteConnection(path))
        // After the other one, which makes the tables.
        var readers: [Reader] = []
        for _ in 0..<(path == ":memory:" ? 0 : Self.readerCount) { readers.append(Reader(try SQLiteConnection(path))) }
        self.readers = readers
    }

    /// Opens a database of this version, which is only read.
    ///
    /// - Parameter path: an absolute path.
    init(reading path: String) throws(StorageFailure) {
        transactions = GroupedTransactions(try SQLiteConnection(reading: path))
        readers = []
    }

    package func read<Result>(_ read: (any SQLConnection) throws -> Result) throws -> Result {
        let body = { (connection: any SQLConnection) in
            try connection.requireVersion()
            return try read(connection)
        }
        // The connection that wrote last has the pages in its cache; the others read them again.
        if let result = try transactions.readIfFree(body) { return result }
        guard !readers.isEmpty else { return try transaction(body) }
        let turn = uses.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
        for offset in readers.indices {
            if let result = try readers[(turn + offset) % readers.count].useIfFree(body) { return result }
        }
        return try readers[turn % readers.count].use(body)
    }

    package func transaction<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        try transactions.run(body)
    }

    // A connection that opens the file does it, because the file has one server.
    package func finishUpgrade() -> Bool { false }

    package func maintain() {}

    package var use: DatabaseUse { transactions.use }
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

    /// Runs a function, unless another thread uses the connection; then nil.
    func useIfFree<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result? {
        var result: Result?
        _ = try lock.withLockIfAvailable { _ in result = try body(connection) }
        return result
    }
}
