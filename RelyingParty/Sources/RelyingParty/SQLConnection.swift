// SPDX-License-Identifier: Apache-2.0

/// A value of a statement or a row.
package enum SQLValue: Equatable, Sendable {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null
}

/// A failure of the storage, without SQL texts and values.
package struct StorageFailure: Error, Sendable {
    /// Whether a unique value existed already.
    package let isDuplicate: Bool
    /// What happened, for the log.
    package let message: String

    package init(isDuplicate: Bool = false, _ message: String) {
        self.isDuplicate = isDuplicate
        self.message = message
    }
}

/// A connection to a database, used by one thread at a time. Blocks until the database has answered.
package protocol SQLConnection: AnyObject {
    /// Runs a statement, whose parameters are `$1`, `$2` and so on, and returns all rows.
    func run(_ sql: String, _ values: [SQLValue]) throws(StorageFailure) -> [[SQLValue]]
    /// The number of rows that the last statement changed.
    var changedRowCount: Int { get }
}
