// SPDX-License-Identifier: Apache-2.0

/// A value of a statement or a row.
package enum SQLValue: Hashable, Sendable {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null
}

/// A failure of the storage, without SQL texts and values.
package struct StorageFailure: Error, Sendable {
    /// Whether a unique value existed already.
    package let isDuplicate: Bool
    /// Whether the transaction is known to have had no effect, and may succeed when it is run again: it was chosen to
    /// end a deadlock, or the connection was lost before COMMIT was sent.
    package let isRepeatable: Bool
    /// What happened, for the log.
    package let message: String

    package init(isDuplicate: Bool = false, isRepeatable: Bool = false, _ message: String) {
        self.isDuplicate = isDuplicate
        self.isRepeatable = isRepeatable
        self.message = message
    }
}

/// What a transaction can lock until it ends, so that no other one, also of another node, holds it.
package enum StorageLock: Sendable {
    /// Everything that belongs to one user.
    case user(String)
    /// The chain of the audit log that this connection extends.
    case audit
    /// The tables of the epochs, and the marks.
    case epochs
}

/// A connection to a database, used by one thread at a time. Blocks until the database has answered.
package protocol SQLConnection: AnyObject {
    /// The node whose chain of the audit log this connection extends; empty for a database that only one node uses.
    var node: String { get }
    /// Runs a statement, whose parameters are `$1`, `$2` and so on, and returns all rows.
    func run(_ sql: String, _ values: [SQLValue]) throws(StorageFailure) -> [[SQLValue]]
    /// The number of rows that the last statement changed.
    var changedRowCount: Int { get }

    /// Whether the database has the table of the marks.
    func hasTables() throws(StorageFailure) -> Bool
    /// Whether the database has no table at all.
    func isEmpty() throws(StorageFailure) -> Bool
    /// Begins a transaction that can write, unless this program must not use the tables any more.
    func begin() throws(StorageFailure)
    /// Begins a transaction that changes the tables. No other process begins one until it ends.
    ///
    /// - Parameter alone: whether it waits for all transactions, and all others wait for it.
    func beginChange(alone: Bool) throws(StorageFailure)
    /// Throws if this program must not use the tables any more.
    func requireVersion() throws(StorageFailure)
    /// Ends the transaction, whose changes are durable when this returns. After a failure that is not repeatable it can be
    /// unknown whether they were stored; the message says so.
    func commit() throws(StorageFailure)
    /// Waits for a lock within a transaction. Locks are taken in the order user, epochs, audit, so that no two
    /// transactions wait for each other.
    func lock(_ lock: StorageLock) throws(StorageFailure)
    /// Throws if what is committed now would be lost, because the database was deleted or replaced.
    func requirePlace() throws(StorageFailure)
    /// The statements that make the table `spent_EPOCH` of the nonces of an epoch.
    func createSpent(_ epoch: Int64) -> [String]
}

/// A database: what lends connections to one thread at a time each.
package protocol SQLDatabase: Sendable {
    /// Runs a function that only reads, with a connection. Blocks until one is free.
    func read<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result
    /// Runs a function within a transaction that can write. Its changes are durable when this returns, and are undone
    /// when the function throws. Blocks until a connection is free.
    func transaction<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result
    /// Ends the use of the tables by programs of earlier versions, and removes what only those need.
    ///
    /// - Returns: whether there was anything to end.
    func finishUpgrade() throws(StorageFailure) -> Bool
    /// Sets what is done with each database that takes the place of the one that is used now, such as a standby, before
    /// anything is read from it or written to it. It is not used while the function throws.
    func compareReplacements(_ body: @escaping @Sendable (any SQLConnection) throws -> Void)
    /// Repeats the last comparison with a database that took the place of another one, if that was recently.
    func recompare()
    /// To be called about once a second while nothing else is done.
    func maintain() throws(StorageFailure)
    var use: DatabaseUse { get }
}

extension SQLDatabase {
    // A file that was replaced is refused until the server is started again.
    package func compareReplacements(_ body: @escaping @Sendable (any SQLConnection) throws -> Void) {}
    package func recompare() {}
}

extension SQLConnection {
    package func requirePlace() throws(StorageFailure) {}

    /// Runs a function between `begin` and `commit`.
    ///
    /// - Parameter isOver: whether the transaction has no use any more, in which case it does not begin, or is undone.
    package func transaction<Result>(
        unless isOver: () -> Bool = { false }, _ body: (any SQLConnection) throws -> Result
    ) throws -> Result {
        try requirePlace()
        guard !isOver() else { throw StorageFailure.requestIsOver }
        try begin()
        do {
            let result = try body(self)
            // Statements wait for locks of others.
            guard !isOver() else { throw StorageFailure.requestIsOver }
            try commit()
            return result
        } catch {
            // After a failed COMMIT there may be no transaction.
            _ = try? run("ROLLBACK", [])
            throw error
        }
    }
}
