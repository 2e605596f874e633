// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Testing

@testable import SQLiteDriver

/// Checks the query plan of each statement, as SQLite explains it.
@Suite struct QueryPlanTests {
    /// Statements about all items, which must read the whole table.
    private static let ofEveryItem = ["SELECT count(*) FROM item"]
    /// Reads the last row of the table, which SQLite also calls a scan.
    private static let ofTheLastEntry = "SELECT sequence, sealed, chain FROM audit ORDER BY sequence DESC LIMIT 1"

    /// Returns a connection that has prepared every statement.
    private func used() throws -> Connection {
        let connection = try Connection(":memory:", .create)
        try connection.execute(Schema.settings + Schema.tables)
        let rows = Rows(connection: connection)
        var row = StoredRow(
            id: [1], itemClass: .genericPassword, primaryKey: [2], group: [3], indexes: [[4], [5], [6]], version: 1,
            attributes: [7], secret: [8])
        try rows.insert(row)
        row.position = 1
        try rows.replace(row)
        try rows.replaceEnvelopes(of: row)
        try rows.setRecord("name", [1])
        try rows.setRecord("name", nil)
        try rows.append(AuditEntry(sequence: 1, sealed: [1], chain: [2]))
        _ = try rows.record("name")
        _ = try rows.lastAuditEntry()
        #expect(try rows.itemCount() == 1)
        #expect(try rows.lastPosition() == 1)
        let filters: [RowFilter] = [
            .primaryKey([2]), .id([1]), .group([3]), .indexed(number: 0, [4]), .indexed(number: 1, [5]),
            .indexed(number: 2, [6]), .all,
        ]
        for filter in filters {
            var count = 0
            try rows.forEachRow(filter) { (_) throws(Failure) in
                count += 1
                return true
            }
            #expect(count == 1, "\(filter)")
        }
        try rows.delete(position: 1)
        return connection
    }

    private func plan(_ sql: String, _ connection: Connection) throws -> [String] {
        var steps: [String] = []
        try connection.run("EXPLAIN QUERY PLAN " + sql, []) { (row) throws(Failure) in
            steps.append(row.text(3) ?? "")
            return true
        }
        return steps
    }

    @Test func noStatementScansATableOrSorts() throws {
        let connection = try used()
        let statements = connection.preparedStatements
        #expect(statements.count >= 15)
        for sql in statements where !Self.ofEveryItem.contains(sql) && sql != Self.ofTheLastEntry {
            for step in try plan(sql, connection) {
                #expect(!step.hasPrefix("SCAN") && !step.contains("TEMP B-TREE"), "\(sql): \(step)")
            }
        }
    }

    @Test func eachFilterIsAnsweredByItsIndex() throws {
        let connection = try used()
        let indexes: [(RowFilter, String)] = [
            (.primaryKey([2]), "INDEX item_key (key=?)"), (.id([1]), "INDEX item_id (id=?)"),
            (.group([3]), "INDEX item_grp (grp=? AND rowid>?)"),
            (.indexed(number: 0, [4]), "INDEX item_i0 (i0=? AND rowid>?)"),
            (.indexed(number: 1, [5]), "INDEX item_i1 (i1=? AND rowid>?)"),
            (.indexed(number: 2, [6]), "INDEX item_i2 (i2=? AND rowid>?)"),
            (.all, "INTEGER PRIMARY KEY (rowid>?)"),
        ]
        for (filter, index) in indexes {
            let sql = Rows.selection(filter, behind: 0).sql
            let steps = try plan(sql, connection)
            #expect(steps == ["SEARCH item USING \(index)"])
        }
    }
}
