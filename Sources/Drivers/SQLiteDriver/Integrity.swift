// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Checks a database below the level of items: its pages, its indexes, and that the schema is complete.
enum Integrity {
    /// Maximum number of problems of each kind.
    private static let limit = 100
    private static let known = [
        "record", "item", "audit", "item_key", "item_id", "item_grp", "item_i0", "item_i1", "item_i2",
    ]
    /// Created when they are first needed.
    private static let later = ["quarantine", "pair", "pair_position"]

    /// Returns descriptions of the problems, for the report of `latchkey check`.
    static func problems(_ connection: Connection) throws(Failure) -> [String] {
        do throws(Failure) {
            return try pages(connection) + parts(connection) + duplicates(connection)
        } catch {
            guard error.status == .storeUnreadable else { throw error }
            return [error.message.description]
        }
    }

    private static func pages(_ connection: Connection) throws(Failure) -> [String] {
        var lines: [String] = []
        try connection.run("PRAGMA integrity_check(\(limit))", []) { (row) throws(Failure) in
            if let line = row.text(0), line != "ok" { lines.append(line) }
            return true
        }
        return lines
    }

    /// Compares tables and indexes with the schema: no unique index may be missing, and no trigger may have been added.
    private static func parts(_ connection: Connection) throws(Failure) -> [String] {
        var names: [String] = []
        try connection.run("SELECT name FROM sqlite_schema", []) { (row) throws(Failure) in
            names.append(row.text(0) ?? "")
            return true
        }
        let needed = names.contains("pair") ? known + ["pair_position"] : known
        let missing = needed.filter { !names.contains($0) }
        let strange = names.filter { !(known + later).contains($0) && !$0.hasPrefix("sqlite_") }
        return missing.map { "\($0) is missing" } + strange.prefix(limit).map { "\($0) is not part of the schema" }
    }

    /// Lists rows that violate uniqueness, which is possible only if a unique index was missing.
    private static func duplicates(_ connection: Connection) throws(Failure) -> [String] {
        var lines: [String] = []
        for (column, words) in [("key", "the same primary key"), ("id", "the same identifier")] {
            let sql = "SELECT min(position), max(position) FROM item GROUP BY \(column) HAVING count(*) > 1 LIMIT ?"
            try connection.run(sql, [.integer(Int64(limit))]) { (row) throws(Failure) in
                lines.append("rows \(row.integer(0)) and \(row.integer(1)) have \(words)")
                return true
            }
        }
        return lines
    }
}
