// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

extension Rows {
    private func hasQuarantine() throws(Failure) -> Bool {
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

    func forEachQuarantined(_ body: (QuarantinedRow) throws(Failure) -> Bool) throws(Failure) {
        guard try hasQuarantine() else { return }
        // The entry comes last, so that the columns before it stand where those of an item stand.
        let sql = "SELECT \(Schema.columns), entry FROM quarantine ORDER BY number"
        try connection.run(sql, []) { (row) throws(Failure) in
            try body(QuarantinedRow(entry: row.integer(11), row: stored(row)))
        }
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
