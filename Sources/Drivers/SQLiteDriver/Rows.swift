// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

/// Reads and writes rows on one connection; writes happen within one transaction.
struct Rows: ItemWriting {
    let connection: Connection

    func record(_ name: String) throws(Failure) -> [UInt8]? {
        var value: [UInt8]?
        try connection.run("SELECT value FROM record WHERE name = ?", [.text(name)]) { (row) throws(Failure) in
            value = row.blob(0)
            return false
        }
        return value
    }

    func forEachRow(
        _ filter: RowFilter, behind position: Int64, columns: RowColumns,
        _ body: (StoredRow) throws(Failure) -> Bool
    ) throws(Failure) {
        if case .pair = filter, try !hasTable("pair") { return }
        let (sql, values) = Rows.selection(filter, behind: position, columns)
        try connection.run(sql, values) { (row) throws(Failure) in try body(stored(row, columns)) }
    }

    /// Returns the query of a filter. Each uses one index, whose trailing row number gives insertion order.
    static func selection(
        _ filter: RowFilter, behind position: Int64, _ columns: RowColumns = .all
    ) -> (sql: String, values: [Connection.Value]) {
        let selections = columns == .all ? Selections.all : Selections.withoutSecret
        return switch filter {
        case .primaryKey(let key): (selections.primaryKey, [.blob(key), .integer(position)])
        case .id(let id): (selections.id, [.blob(id), .integer(position)])
        case .group(let group): (selections.group, [.blob(group), .integer(position)])
        case .indexed(let number, let hash): (selections.indexed[min(number, 2)], [.blob(hash), .integer(position)])
        case .pair(let hash): (selections.pair, [.blob(hash), .integer(position)])
        case .all: (selections.everyRow, [.integer(position)])
        }
    }

    /// The SQL texts, built once: building one takes as long as running it.
    private struct Selections {
        static let all = Selections(Schema.columns)
        static let withoutSecret = Selections(Schema.columnsWithoutSecret)

        let everyRow, primaryKey, id, group, pair: String
        let indexed: [String]

        private init(_ columns: String) {
            everyRow = "SELECT \(columns) FROM item WHERE position > ? ORDER BY position"
            primaryKey = "SELECT \(columns) FROM item WHERE key = ? AND position > ?"
            id = "SELECT \(columns) FROM item WHERE id = ? AND position > ?"
            group = "SELECT \(columns) FROM item WHERE grp = ? AND position > ? ORDER BY position"
            pair = """
                SELECT \(columns) FROM item
                WHERE position IN (SELECT position FROM pair WHERE hash = ? AND position > ?) ORDER BY position
                """
            indexed = (0...2).map {
                "SELECT \(columns) FROM item WHERE i\($0) = ? AND position > ? ORDER BY position"
            }
        }
    }

    func lastPosition() throws(Failure) -> Int64 {
        var position: Int64 = 0
        try connection.run("SELECT max(position) FROM item", []) { (row) throws(Failure) in
            position = row.integer(0)
            return false
        }
        return position
    }

    func stored(_ row: borrowing Connection.Row, _ columns: RowColumns = .all) -> StoredRow {
        let itemClass = UInt8(exactly: row.integer(2)).flatMap(ItemClass.init(rawValue:))
        // A row of an unknown class is returned without attributes, so that it fails authentication and the other
        // rows stay readable.
        return StoredRow(
            position: row.integer(0), id: row.blob(1) ?? [], itemClass: itemClass ?? .genericPassword,
            primaryKey: row.blob(3) ?? [], group: row.blob(4) ?? [],
            indexes: [row.blob(5), row.blob(6), row.blob(7)], version: row.integer(8),
            attributes: itemClass == nil ? [] : row.blob(9) ?? [], secret: columns == .all ? row.blob(10) : nil,
            unreadSecretBytes: columns == .all ? nil : row.optionalInteger(10).map { Int($0) })
    }

    func itemCount() throws(Failure) -> Int64 {
        var count: Int64 = 0
        try connection.run("SELECT count(*) FROM item", []) { (row) throws(Failure) in
            count = row.integer(0)
            return false
        }
        return count
    }

    func usage() throws(Failure) -> StoreUsage {
        let disk = try connection.diskBytes().map { StoreUsage.Disk(freeBytes: $0.free, bytes: $0.all) }
        return StoreUsage(databaseBytes: try connection.usedBytes(), logBytes: connection.logBytes, disk: disk)
    }

    func setRecord(_ name: String, _ value: [UInt8]?) throws(Failure) {
        guard let value else { return try connection.run("DELETE FROM record WHERE name = ?", [.text(name)]) }
        try connection.run(
            "INSERT INTO record VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [.text(name), .blob(value)])
    }

    func insert(_ row: StoredRow) throws(Failure) {
        let sql = """
            INSERT INTO item (id, class, key, grp, i0, i1, i2, version, attributes, secret)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        try connection.run(sql, try values(row))
        try insertPairs(row)
    }

    /// Inserts the pairs of a row, by default those of the row that was inserted last: the table of pairs has no row numbers
    /// of its own.
    private func insertPairs(_ row: StoredRow, at position: Int64? = nil) throws(Failure) {
        guard !row.pairs.isEmpty else { return }
        if try !hasTable("pair") { try connection.execute(Schema.pair) }
        for pair in row.pairs {
            try connection.run(
                "INSERT OR IGNORE INTO pair VALUES (?, coalesce(?, last_insert_rowid()))",
                [.blob(pair), position.map { .integer($0) } ?? .null])
        }
    }

    func pairCount(_ hash: [UInt8], limit: Int) throws(Failure) -> Int {
        guard try hasTable("pair") else { return 0 }
        var count: Int64 = 0
        let sql = "SELECT count(*) FROM (SELECT 1 FROM pair WHERE hash = ? LIMIT ?)"
        try connection.run(sql, [.blob(hash), .integer(Int64(limit))]) { (row) throws(Failure) in
            count = row.integer(0)
            return false
        }
        return Int(count)
    }

    func pairs(at position: Int64) throws(Failure) -> [[UInt8]] {
        guard try hasTable("pair") else { return [] }
        var hashes: [[UInt8]] = []
        let sql = "SELECT hash FROM pair WHERE position = ? ORDER BY hash"
        try connection.run(sql, [.integer(position)]) { (row) throws(Failure) in
            hashes.append(row.blob(0) ?? [])
            return true
        }
        return hashes
    }

    func replaceEnvelopes(of row: StoredRow) throws(Failure) {
        try checkIsWhole(row)
        // SQLite updates the index of every column in SET, changed or not, which would write five more pages.
        try connection.run(
            "UPDATE item SET version = ?, attributes = ?, secret = ? WHERE position = ?",
            [.integer(row.version), .blob(row.attributes), .optional(row.secret), .integer(row.position)])
    }

    func replace(_ row: StoredRow) throws(Failure) {
        let sql = """
            UPDATE item SET id = ?, class = ?, key = ?, grp = ?, i0 = ?, i1 = ?, i2 = ?, version = ?,
            attributes = ?, secret = ? WHERE position = ?
            """
        try connection.run(sql, try values(row) + [.integer(row.position)])
        guard row.itemClass == .secret else { return }
        if try hasTable("pair") {
            try connection.run("DELETE FROM pair WHERE position = ?", [.integer(row.position)])
        }
        try insertPairs(row, at: row.position)
    }

    func delete(position: Int64) throws(Failure) {
        try connection.run("DELETE FROM item WHERE position = ?", [.integer(position)])
    }

    func append(_ entry: AuditEntry) throws(Failure) {
        try connection.run(
            "INSERT INTO audit VALUES (?, ?, ?)",
            [.integer(entry.sequence), .blob(entry.sealed), .blob(entry.chain)])
    }

    /// Throws for a row that was read without its secret: writing it would erase the secret.
    private func checkIsWhole(_ row: StoredRow) throws(Failure) {
        guard row.unreadSecretBytes == nil else {
            throw Failure(.internalFailure, "A row that was read without its secret cannot be written.")
        }
    }

    func values(_ row: StoredRow) throws(Failure) -> [Connection.Value] {
        try checkIsWhole(row)
        let indexes = (0..<3).map { Connection.Value.optional($0 < row.indexes.count ? row.indexes[$0] : nil) }
        return [.blob(row.id), .integer(Int64(row.itemClass.rawValue)), .blob(row.primaryKey), .blob(row.group)]
            + indexes + [.integer(row.version), .blob(row.attributes), .optional(row.secret)]
    }
}

extension Rows {
    func lastAuditEntry() throws(Failure) -> AuditEntry? {
        var entry: AuditEntry?
        let sql = "SELECT sequence, sealed, chain FROM audit ORDER BY sequence DESC LIMIT 1"
        try connection.run(sql, []) { (row) throws(Failure) in
            entry = stored(row)
            return false
        }
        return entry
    }

    func forEachAuditEntry(after sequence: Int64, _ body: (AuditEntry) throws(Failure) -> Bool) throws(Failure) {
        let sql = "SELECT sequence, sealed, chain FROM audit WHERE sequence > ? ORDER BY sequence"
        try connection.run(sql, [.integer(sequence)]) { (row) throws(Failure) in try body(stored(row)) }
    }

    private func stored(_ row: borrowing Connection.Row) -> AuditEntry {
        AuditEntry(sequence: row.integer(0), sealed: row.blob(1) ?? [], chain: row.blob(2) ?? [])
    }
}

/// Reads only the columns that the set hash covers.
extension Rows {
    /// The random part of the version follows the first byte of the attributes. SQLite reads no additional page for it.
    private static let columns = "id, class, version, substr(attributes, 2, 8)"

    func forEachRowMark(behind position: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure) {
        let sql = "SELECT position, \(Self.columns) FROM item WHERE position > ? ORDER BY position"
        try connection.run(sql, [.integer(position)]) { (row) throws(Failure) in try body(mark(row)) }
    }

    func forEachQuarantinedMark(behind number: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure) {
        guard try hasQuarantine() else { return }
        let sql = "SELECT number, \(Self.columns) FROM quarantine WHERE number > ? ORDER BY number"
        try connection.run(sql, [.integer(number)]) { (row) throws(Failure) in try body(mark(row)) }
    }

    private func mark(_ row: borrowing Connection.Row) -> RowMark {
        RowMark(
            position: row.integer(0), itemClass: UInt8(truncatingIfNeeded: row.integer(2)), id: row.blob(1) ?? [],
            version: row.integer(3), versionRandom: row.blob(4) ?? [])
    }
}

extension Rows {
    func hasQuarantine() throws(Failure) -> Bool { try hasTable("quarantine") }

    /// Whether a table that is created with its first row exists.
    func hasTable(_ name: String) throws(Failure) -> Bool {
        var isThere = false
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
        try connection.run(sql, [.text(name)]) { (_) throws(Failure) in
            isThere = true
            return false
        }
        return isThere
    }

    func quarantineCount() throws(Failure) -> Int64 {
        guard try hasQuarantine() else { return 0 }
        var count: Int64 = 0
        try connection.run("SELECT count(*) FROM quarantine", []) { (row) throws(Failure) in
            count = row.integer(0)
            return false
        }
        return count
    }

    func forEachQuarantined(behind number: Int64, _ body: (QuarantinedRow) throws(Failure) -> Bool) throws(Failure) {
        guard try hasQuarantine() else { return }
        // The columns of an item come first, so that `stored` reads them at the same indexes.
        let sql = "SELECT \(Schema.columns), entry, number FROM quarantine WHERE number > ? ORDER BY number"
        try connection.run(sql, [.integer(number)]) { (row) throws(Failure) in
            try body(QuarantinedRow(number: row.integer(12), entry: row.integer(11), row: stored(row)))
        }
    }

    func restore(_ row: StoredRow, from number: Int64) throws(Failure) {
        try connection.run("DELETE FROM quarantine WHERE number = ?", [.integer(number)])
        var isFree = true
        try connection.run("SELECT 1 FROM item WHERE position = ?", [.integer(row.position)]) { (_) throws(Failure) in
            isFree = false
            return false
        }
        let sql = """
            INSERT INTO item (id, class, key, grp, i0, i1, i2, version, attributes, secret, position)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        try connection.run(sql, try values(row) + [isFree ? .integer(row.position) : .null])
        try insertPairs(row)
    }

    func quarantine(position: Int64, entry: Int64) throws(Failure) {
        if try !hasQuarantine() { try connection.run(Schema.quarantine, []) }
        let sql = """
            INSERT INTO quarantine (entry, \(Schema.columns)) SELECT ?, \(Schema.columns) FROM item WHERE position = ?
            """
        try connection.run(sql, [.integer(entry), .integer(position)])
        try delete(position: position)
    }
}
