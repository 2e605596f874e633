// SPDX-License-Identifier: Apache-2.0

// Two programs of different versions use one database while an upgrade replaces one by the other: the later one expands the
// tables when it starts, and the operator contracts them when no earlier one runs any more. The marks `version` and `least`
// say which programs may use the tables, and every transaction reads them.

/// The version of the tables, and the least version of a program that may use them.
package struct SchemaMarks: Equatable, Sendable {
    package let version: Int64
    package let least: Int64

    /// Reads the row of ``statement``; nil for another one.
    package init?(_ row: [SQLValue]?) {
        guard let row, row.count == 2, case .integer(let version) = row[0], case .integer(let least) = row[1] else {
            return nil
        }
        (self.version, self.least) = (version, least)
    }

    package static let statement = "SELECT \(columns)"
    package static let columns = """
        (SELECT value FROM marks WHERE name = 'version'), (SELECT value FROM marks WHERE name = 'least')
        """

    /// Refuses a program that must not use the tables.
    ///
    /// - Parameter program: the version of the tables that the program makes.
    package func require(_ program: Int64) throws(StorageFailure) {
        guard least <= program else {
            throw StorageFailure(
                "The database is for programs of version \(least) or later, and this one has \(program): upgrade it.")
        }
        guard version >= program else {
            throw StorageFailure(
                "The database has version \(version) and not \(program): it was replaced by an earlier one. Restart.")
        }
    }
}

extension SQLConnection {
    /// Makes the tables, or expands those of an earlier version, in one transaction. One process at a time does this. Tables
    /// of a later version that admit this program are left as they are.
    ///
    /// - Parameter versions: the versions that the program knows.
    /// - Returns: whether the tables are now of the last of these versions, and not of a later one.
    @discardableResult
    package func expand(to versions: [SchemaVersion]) throws(StorageFailure) -> Bool {
        let newest = Int64(versions.count)
        // Almost always: a connection that has nothing to change does not wait for one that writes.
        if try hasTables(), let marks = try schemaMarks(), marks.version >= newest {
            try marks.require(newest)
            return marks.version == newest
        }
        var isNewest = true
        try change(alone: false) { () throws(StorageFailure) in
            let marks = try hasTables() ? schemaMarks() : nil
            let isNew = try isEmpty()
            guard marks != nil || isNew else { throw StorageFailure.otherDatabase }
            let stored = marks?.version ?? 0
            guard stored < newest else {
                try marks?.require(newest)
                isNewest = stored == newest
                return
            }
            for version in versions.dropFirst(Int(clamping: stored)) {
                for statement in version.expand { _ = try run(statement, []) }
            }
            _ = try run(Statements.setVersion, [.integer(newest)])
        }
        return isNewest
    }

    /// Ends the use of the tables by programs of earlier versions, and removes what only those need, in one transaction, beside
    /// which there is no other one: a transaction that has read the marks before would go on with tables that it does not know.
    ///
    /// - Returns: whether there was anything to end.
    package func contract(to versions: [SchemaVersion]) throws(StorageFailure) -> Bool {
        let newest = Int64(versions.count)
        if let marks = try schemaMarks(), marks.least == newest, marks.version == newest { return false }
        var isNew = false
        try change(alone: true) { () throws(StorageFailure) in
            guard let marks = try schemaMarks() else { throw StorageFailure.otherDatabase }
            try marks.require(newest)
            guard marks.version == newest else {
                throw StorageFailure(
                    "The database has version \(marks.version): run this with the program that made it.")
            }
            guard marks.least < newest else { return }
            for version in versions.dropFirst(Int(clamping: marks.least)) {
                for statement in version.contract { _ = try run(statement, []) }
            }
            _ = try run(Statements.setLeast, [.integer(newest)])
            isNew = true
        }
        return isNew
    }

    private func schemaMarks() throws(StorageFailure) -> SchemaMarks? {
        SchemaMarks(try run(SchemaMarks.statement, []).first)
    }

    /// Runs a function in a transaction that no other process changes the tables in.
    private func change(alone: Bool, _ body: () throws(StorageFailure) -> Void) throws(StorageFailure) {
        try transaction(begin: { () throws(StorageFailure) in try beginChange(alone: alone) }, body)
    }

    /// Runs a function in a transaction of the database itself, not of a request.
    ///
    /// - Parameter begin: begins it.
    package func transaction(
        begin: () throws(StorageFailure) -> Void, _ body: () throws(StorageFailure) -> Void
    ) throws(StorageFailure) {
        try begin()
        do throws(StorageFailure) {
            try body()
            try commit()
        } catch {
            // After a failed COMMIT there may be no transaction, and a connection that stays in one is not used again.
            _ = try? run("ROLLBACK", [])
            throw error
        }
    }
}

extension StorageFailure {
    /// The tables are not those of this program.
    package static let otherDatabase = StorageFailure("The database is not one of this program.")
}
