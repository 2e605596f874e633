// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

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

    func forEachAuditEntry(
        after sequence: Int64, _ body: (AuditEntry) throws(Failure) -> Bool
    ) throws(Failure) {
        let sql = "SELECT sequence, sealed, chain FROM audit WHERE sequence > ? ORDER BY sequence"
        try connection.run(sql, [.integer(sequence)]) { (row) throws(Failure) in try body(stored(row)) }
    }

    private func stored(_ row: borrowing Connection.Row) -> AuditEntry {
        AuditEntry(sequence: row.integer(0), sealed: row.blob(1) ?? [], chain: row.blob(2) ?? [])
    }
}
