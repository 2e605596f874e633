// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A row of the database, which holds one item: encrypted envelopes and blind indexes, no readable attribute or secret.
package struct StoredRow: Equatable, Sendable {
    /// Insertion order; 0 before the row is stored.
    package var position: Int64
    /// The item's identifier, 16 random bytes; never changes.
    package var id: [UInt8]
    package var itemClass: ItemClass
    package var primaryKey: [UInt8]
    /// Blind index of class and access group.
    package var group: [UInt8]
    /// Blind indexes of `ItemClass.indexed`, in that order; nil for an absent attribute.
    package var indexes: [[UInt8]?]
    /// Blind indexes of the pairs of an item of the Secret Service, for writing; a row that was read has none.
    package var pairs: [[UInt8]] = []
    /// Incremented by every update of the item.
    package var version: Int64
    package var attributes: [UInt8]
    /// The envelope of the secret; nil if there is none or it was not read.
    package var secret: [UInt8]?
    /// Size of the secret's envelope if it was not read (`RowColumns.withoutSecret`). Such a row must not be written.
    package var unreadSecretBytes: Int?

    /// Whether the item has a secret, whether or not it was read.
    package var hasSecret: Bool { secret != nil || unreadSecretBytes != nil }

    package init(
        position: Int64 = 0, id: [UInt8], itemClass: ItemClass, primaryKey: [UInt8], group: [UInt8],
        indexes: [[UInt8]?], version: Int64, attributes: [UInt8], secret: [UInt8]?, unreadSecretBytes: Int? = nil
    ) {
        self.unreadSecretBytes = unreadSecretBytes
        self.position = position
        self.id = id
        self.itemClass = itemClass
        self.primaryKey = primaryKey
        self.group = group
        self.indexes = indexes
        self.version = version
        self.attributes = attributes
        self.secret = secret
    }

    /// The row as read with `RowColumns.withoutSecret`.
    package var withoutSecret: StoredRow {
        var row = self
        row.unreadSecretBytes = secret?.count ?? unreadSecretBytes
        row.secret = nil
        return row
    }

    /// Returns whether identifier, class and all blind indexes of both rows are equal, so that only envelopes differ;
    /// false for a class with pairs, which a row that was read does not have.
    package func isIndexed(like other: StoredRow) -> Bool {
        itemClass != .secret && id == other.id && itemClass == other.itemClass && primaryKey == other.primaryKey
            && group == other.group
            && indexes == other.indexes
    }
}

/// The parts of a row that the set hash covers.
package struct RowMark: Equatable, Sendable {
    package var position: Int64
    package var itemClass: UInt8
    package var id: [UInt8]
    package var version: Int64
    /// The random part of the version: 8 bytes, or fewer in a row that another program wrote.
    package var versionRandom: [UInt8]

    package init(position: Int64, itemClass: UInt8, id: [UInt8], version: Int64, versionRandom: [UInt8]) {
        self.position = position
        self.itemClass = itemClass
        self.id = id
        self.version = version
        self.versionRandom = versionRandom
    }
}

/// A row in the quarantine: it failed authentication and was moved there unchanged.
package struct QuarantinedRow: Equatable, Sendable {
    /// The row's number in the quarantine, ascending.
    package var number: Int64
    /// Number of the audit log entry that records the move.
    package var entry: Int64
    package var row: StoredRow

    package init(number: Int64, entry: Int64, row: StoredRow) {
        (self.number, self.entry, self.row) = (number, entry, row)
    }
}

/// Selects the rows to read; each filter except `all` uses an index of the database.
package enum RowFilter: Equatable, Sendable {
    case primaryKey([UInt8])
    case id([UInt8])
    case group([UInt8])
    /// Every row; for rare operations such as removing a passcode.
    case all
    /// Rows whose blind index `number` (0...2, in the order of `ItemClass.indexed`) has that value.
    case indexed(number: Int, [UInt8])
    /// Rows one of whose pairs has that blind index.
    case pair([UInt8])
}

/// Selects the columns to read.
package enum RowColumns: Sendable {
    case all
    /// All columns except the secret, of which only the size is read. A secret may occupy a thousand pages of the file.
    case withoutSecret
}

/// How much of the disk a store uses.
package struct StoreUsage: Equatable, Sendable {
    /// Bytes of the database that contain something; free pages of its file are used before it grows.
    package var databaseBytes: Int64
    /// Bytes of the files in which a driver writes changes first.
    package var logBytes: Int64
    /// The file system of the store; nil for a store without files.
    package var disk: Disk?

    /// The space of a file system.
    package struct Disk: Equatable, Sendable {
        /// Free bytes that this process may use.
        package var freeBytes: Int64
        /// Size in bytes.
        package var bytes: Int64

        package init(freeBytes: Int64, bytes: Int64) { (self.freeBytes, self.bytes) = (freeBytes, bytes) }
    }

    package init(databaseBytes: Int64, logBytes: Int64, disk: Disk?) {
        (self.databaseBytes, self.logBytes, self.disk) = (databaseBytes, logBytes, disk)
    }

    /// Bytes of database and log.
    package var bytes: Int64 { databaseBytes + logBytes }
}

/// Reads from one consistent snapshot of the store.
package protocol ItemReading {
    /// Returns a named record of the store's own, such as its header or a key slot; nil if there is none.
    func record(_ name: String) throws(Failure) -> [UInt8]?
    /// Calls `body` for each row behind a position, in insertion order, until it returns false.
    ///
    /// A row with invalid columns, which only another program can have written, is passed without attributes, so that
    /// it fails authentication like any other changed row.
    func forEachRow(
        _ filter: RowFilter, behind position: Int64, columns: RowColumns, _ body: (StoredRow) throws(Failure) -> Bool
    ) throws(Failure)
    /// Returns the largest position; 0 if there is no row.
    func lastPosition() throws(Failure) -> Int64
    func itemCount() throws(Failure) -> Int64
    /// Returns how many rows have a pair with that blind index, at most `limit`.
    func pairCount(_ hash: [UInt8], limit: Int) throws(Failure) -> Int
    /// Returns the blind indexes of the pairs of the row at a position, in ascending order.
    func pairs(at position: Int64) throws(Failure) -> [[UInt8]]
    /// Returns how much of the disk the store uses, with the changes of an open transaction.
    func usage() throws(Failure) -> StoreUsage
    /// Returns the newest audit log entry; nil if the log is empty.
    func lastAuditEntry() throws(Failure) -> AuditEntry?
    /// Calls `body` for each audit log entry with a greater number, in ascending order, until it returns false.
    func forEachAuditEntry(after sequence: Int64, _ body: (AuditEntry) throws(Failure) -> Bool) throws(Failure)
    func quarantineCount() throws(Failure) -> Int64
    /// Calls `body` for the mark of each row behind a position, in insertion order, until it returns false. Reads only
    /// the first bytes of each envelope.
    func forEachRowMark(behind position: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure)
    /// Calls `body` for the mark of each row of the quarantine with a greater number, in ascending order, until it
    /// returns false.
    func forEachQuarantinedMark(behind number: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure)
    /// Calls `body` for each row of the quarantine with a greater number, in ascending order, until it returns false.
    func forEachQuarantined(behind number: Int64, _ body: (QuarantinedRow) throws(Failure) -> Bool) throws(Failure)
}

extension ItemReading {
    /// Calls `body` for each row, with all columns, in insertion order until it returns false.
    package func forEachRow(_ filter: RowFilter, _ body: (StoredRow) throws(Failure) -> Bool) throws(Failure) {
        try forEachRow(filter, behind: .min, columns: .all, body)
    }

    /// Calls `body` for each row, with the selected columns, in insertion order until it returns false.
    package func forEachRow(
        _ filter: RowFilter, columns: RowColumns, _ body: (StoredRow) throws(Failure) -> Bool
    ) throws(Failure) {
        try forEachRow(filter, behind: .min, columns: columns, body)
    }

    /// Calls `body` for each row behind a position, with all columns, in insertion order until it returns false.
    package func forEachRow(
        _ filter: RowFilter, behind position: Int64, _ body: (StoredRow) throws(Failure) -> Bool
    ) throws(Failure) {
        try forEachRow(filter, behind: position, columns: .all, body)
    }

    /// Calls `body` for each row of the quarantine until it returns false.
    package func forEachQuarantined(_ body: (QuarantinedRow) throws(Failure) -> Bool) throws(Failure) {
        try forEachQuarantined(behind: .min, body)
    }
}

/// Reads and writes within one durable transaction.
package protocol ItemWriting: ItemReading {
    /// Sets a named record of the store's own; nil deletes it.
    func setRecord(_ name: String, _ value: [UInt8]?) throws(Failure)
    func insert(_ row: StoredRow) throws(Failure)
    /// Replaces the row at `row.position`.
    func replace(_ row: StoredRow) throws(Failure)
    /// Replaces only version, attributes and secret of the row at `row.position`.
    func replaceEnvelopes(of row: StoredRow) throws(Failure)
    func delete(position: Int64) throws(Failure)
    func append(_ entry: AuditEntry) throws(Failure)
    /// Moves the row at `position` to the quarantine; `entry` is the number of the audit log entry that records the
    /// move.
    func quarantine(position: Int64, entry: Int64) throws(Failure)
    /// Deletes a row from the quarantine and inserts `row`: at its position if that is free, otherwise at the end.
    func restore(_ row: StoredRow, from number: Int64) throws(Failure)
}

/// A stored entry of the audit log.
package struct AuditEntry: Equatable, Sendable {
    /// The number of the entry, ascending.
    package var sequence: Int64
    package var sealed: [UInt8]
    package var chain: [UInt8]
    package init(sequence: Int64, sealed: [UInt8], chain: [UInt8]) {
        (self.sequence, self.sealed, self.chain) = (sequence, sealed, chain)
    }
}

/// The role that stores items, records and the audit log. The changes of a completed `write` survive a crash of the
/// process or the machine.
///
/// All calls block, and any thread may make them. Calls of `write` run one after the other.
package protocol ItemStore: AnyObject, Sendable {
    /// Runs `body` on a consistent snapshot.
    func read<R>(_ body: (any ItemReading) throws(Failure) -> R) throws(Failure) -> R
    /// Runs `body` in a transaction, which is durable when this returns and rolled back if `body` throws.
    func write<R>(_ body: (any ItemWriting) throws(Failure) -> R) throws(Failure) -> R
    /// Checks every page of the database files and returns a description of each problem. May take long; reads and
    /// writes continue meanwhile.
    func problems() throws(Failure) -> [String]
    /// Frees the memory that only makes later reads faster. Blocks while a read or a write is under way.
    func releaseMemory()
    /// Erases from the files what rows and records contained before they were replaced or deleted. Reads continue, apart
    /// from the short time in which the log is truncated.
    ///
    /// In a database that is larger than a limit of the driver, copies that are in unused parts of its pages may remain.
    ///
    /// - Parameter waits: whether to wait for reads in progress, and for some seconds for other connections. Must be false
    ///   within a read.
    /// - Returns: false if a read in progress or another connection needs the log; some of it may be erased then.
    func eraseOldCopies(waits: Bool) throws(Failure) -> Bool
    /// Moves all commits from the log to the database and truncates the log, so that the database alone has everything and
    /// nothing else does.
    ///
    /// - Returns: false if a read in progress or another connection needs the log.
    func mergeLog() throws(Failure) -> Bool
}
