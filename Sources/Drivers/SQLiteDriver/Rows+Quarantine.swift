// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

extension Rows {
    func hasQuarantine() throws(Failure) -> Bool {
        var isThere = false
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'quarantine'"
        try connection.run(sql, []) { (_) throws(Failure) in
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
