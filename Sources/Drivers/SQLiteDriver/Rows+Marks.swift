// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

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
