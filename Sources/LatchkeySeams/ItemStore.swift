// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// One stored item as the database holds it: envelopes and blind indexes, nothing readable.
package struct StoredRow: Equatable, Sendable {
    /// Insertion order; 0 before the row is stored.
    package var position: Int64
    /// 16 random bytes that name the item for its whole life.
    package var id: [UInt8]
    package var itemClass: ItemClass
    /// Blind index of the primary key.
    package var primaryKey: [UInt8]
    /// Blind index of class and access group.
    package var group: [UInt8]
    /// Blind indexes of `ItemClass.indexed`, in that order; nil where the attribute is absent.
    package var indexes: [[UInt8]?]
    /// Counts the updates of the item.
    package var version: Int64
    package var attributes: [UInt8]
    package var secret: [UInt8]?
    /// Bytes of a secret that is stored and was not read (`RowColumns.withoutSecret`). Such a row is never written.
    package var unreadSecretBytes: Int?

    /// Whether a secret is stored, read or not.
    package var hasSecret: Bool { secret != nil || unreadSecretBytes != nil }

    /// Makes a row.
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

    /// The row as reading without secrets gives it.
    package var withoutSecret: StoredRow {
        var row = self
        row.unreadSecretBytes = secret?.count ?? unreadSecretBytes
        row.secret = nil
        return row
    }

    /// Whether a search finds both by the same values.
    package func isIndexed(like other: StoredRow) -> Bool {
        id == other.id && itemClass == other.itemClass && primaryKey == other.primaryKey && group == other.group
            && indexes == other.indexes
    }
}

/// The parts of a row that the set hash covers.
package struct RowMark: Equatable, Sendable {
    package var position: Int64
    package var itemClass: UInt8
    package var id: [UInt8]
    package var version: Int64
    /// The random part of the version: 8 bytes, fewer in a row that no program of ours wrote.
    package var versionRandom: [UInt8]

    /// Makes a mark.
    package init(position: Int64, itemClass: UInt8, id: [UInt8], version: Int64, versionRandom: [UInt8]) {
        self.position = position
        self.itemClass = itemClass
        self.id = id
        self.version = version
        self.versionRandom = versionRandom
    }
}

/// A row that failed authentication and was put aside, as it was found.
package struct QuarantinedRow: Equatable, Sendable {
    /// Counts the rows that were put aside.
    package var number: Int64
    /// Number of the audit entry that tells of it.
    package var entry: Int64
    package var row: StoredRow

    /// Makes a row.
    package init(number: Int64, entry: Int64, row: StoredRow) {
        self.number = number
        self.entry = entry
        self.row = row
    }
}

/// Which rows to read; each filter uses an index of the database.
package enum RowFilter: Equatable, Sendable {
    case primaryKey([UInt8])
    case id([UInt8])
    case group([UInt8])
    /// Every row; for work that happens rarely, such as removing a passcode.
    case all
    /// Rows whose `number`-th blind index (0...2) has that value.
    case indexed(number: Int, [UInt8])
}

/// What of each row is read.
package enum RowColumns: Sendable {
    case all
    /// All but the secret, of which only the size is read. A secret may take a thousand pages of the file.
    case withoutSecret
}

/// Reading within one consistent view of the store.
package protocol ItemReading {
    /// A named record of the store's own, such as its header or a key slot.
    func record(_ name: String) throws(Failure) -> [UInt8]?
    /// Calls `body` for each row behind a position, in insertion order, until it returns false. A row that no program of
    /// ours wrote comes without attributes, so that it fails authentication like any other that was changed.
    func forEachRow(
        _ filter: RowFilter, behind position: Int64, columns: RowColumns, _ body: (StoredRow) throws(Failure) -> Bool
    ) throws(Failure)
    /// The largest position there is; 0 without a row.
    func lastPosition() throws(Failure) -> Int64
    /// Number of items.
    func itemCount() throws(Failure) -> Int64
    /// The newest audit entry.
    func lastAuditEntry() throws(Failure) -> AuditEntry?
    /// Calls `body` for each audit entry with a greater number, in their order, until it returns false.
    func forEachAuditEntry(after sequence: Int64, _ body: (AuditEntry) throws(Failure) -> Bool) throws(Failure)
    /// Number of rows in the quarantine.
    func quarantineCount() throws(Failure) -> Int64
    /// Calls `body` for the mark of each row behind a position, in insertion order, until it returns false. Reads no
    /// envelope further than its first bytes.
    func forEachRowMark(behind position: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure)
    /// The same for the rows of the quarantine, whose numbers stand for positions.
    func forEachQuarantinedMark(behind number: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure)
    /// Calls `body` for each row of the quarantine with a greater number, in their order, until it returns false.
    func forEachQuarantined(
        behind number: Int64, _ body: (QuarantinedRow) throws(Failure) -> Bool
    ) throws(Failure)
}

extension ItemReading {
    /// Calls `body` for each row in insertion order until it returns false.
    package func forEachRow(_ filter: RowFilter, _ body: (StoredRow) throws(Failure) -> Bool) throws(Failure) {
        try forEachRow(filter, behind: .min, columns: .all, body)
    }

    /// The same with some of the columns.
    package func forEachRow(
        _ filter: RowFilter, columns: RowColumns, _ body: (StoredRow) throws(Failure) -> Bool
    ) throws(Failure) {
        try forEachRow(filter, behind: .min, columns: columns, body)
    }

    /// The same for the rows behind a position, with all columns.
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

/// Writing within one durable transaction.
package protocol ItemWriting: ItemReading {
    func setRecord(_ name: String, _ value: [UInt8]?) throws(Failure)
    /// Inserts a row behind all others.
    func insert(_ row: StoredRow) throws(Failure)
    /// Replaces the row at `row.position`.
    func replace(_ row: StoredRow) throws(Failure)
    /// Replaces version, attributes and secret of the row at `row.position`; the rest of it is as it was.
    func replaceEnvelopes(of row: StoredRow) throws(Failure)
    func delete(position: Int64) throws(Failure)
    func append(_ entry: AuditEntry) throws(Failure)
    /// Moves the row at `position` to the quarantine; `entry` is the audit entry that tells of it.
    func quarantine(position: Int64, entry: Int64) throws(Failure)
    /// Takes a row out of the quarantine and inserts `row`, at its position if that is free and else at the end.
    func restore(_ row: StoredRow, from number: Int64) throws(Failure)
}

/// One line of the audit trail, sealed and chained to the one before it.
package struct AuditEntry: Equatable, Sendable {
    package var sequence: Int64
    package var sealed: [UInt8]
    package var chain: [UInt8]
    package init(sequence: Int64, sealed: [UInt8], chain: [UInt8]) {
        self.sequence = sequence
        self.sealed = sealed
        self.chain = chain
    }
}

/// Where items rest. A driver keeps what a finished `write` did through a crash of the process or the machine.
///
/// Both calls block. `write` is called by one thread at a time; `read` by any.
package protocol ItemStore: AnyObject, Sendable {
    /// Runs `body` on a consistent view.
    func read<R>(_ body: (any ItemReading) throws(Failure) -> R) throws(Failure) -> R
    /// Runs `body` in a transaction that is durable when this returns and undone when `body` throws.
    func write<R>(_ body: (any ItemWriting) throws(Failure) -> R) throws(Failure) -> R
    /// What is wrong with the files as such, in words; looks at every page and may take long. Reads and writes go on.
    func problems() throws(Failure) -> [String]
}
