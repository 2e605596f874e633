// SPDX-License-Identifier: Apache-2.0

package import RelyingParty

/// A copy of a database that is in use.
package struct SQLiteBackup {
    private let source: SQLiteConnection
    /// The version of the tables.
    package let version: Int64

    /// Opens the database.
    ///
    /// - Parameter path: an absolute path.
    package init(of path: String) throws(StorageFailure) {
        source = try SQLiteConnection(copying: path)
        guard let marks = SchemaMarks(try source.run(SchemaMarks.statement, []).first) else {
            throw StorageFailure.otherDatabase
        }
        version = marks.version
    }

    /// Copies the database as of one moment. Writers are not stopped meanwhile.
    ///
    /// - Parameter target: an empty file.
    package func copy(to target: String) throws(StorageFailure) {
        _ = try source.run("VACUUM INTO $1", [.text(target)])
    }

    /// Copies the database as of one moment, and verifies the copy: its pages and indices, its version, and the chain of
    /// its audit log. Writers are not stopped meanwhile.
    ///
    /// - Parameter target: an empty file.
    /// - Returns: the number of rows of the audit log.
    package func write(to target: String) throws -> Int64 {
        try copy(to: target)
        // Only read: the copy stays one file, as it was written.
        let copy = Storage(try SQLiteDatabase(reading: target))
        guard try copy.read("PRAGMA integrity_check", []) == [[.text("ok")]] else {
            throw StorageFailure("The copy is damaged.")
        }
        let (count, firstWrong) = try AuditVerification.verify(copy)
        if let firstWrong {
            throw StorageFailure("Row \(firstWrong.number) of the audit log is missing or was changed.")
        }
        return count
    }
}
