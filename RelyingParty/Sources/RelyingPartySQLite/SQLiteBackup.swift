// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty

/// Copies of a database that is in use.
package enum SQLiteBackup {
    /// Copies the database as of one moment, and verifies the copy: its pages and indices, its version, and the chain of
    /// its audit log. Writers are not stopped meanwhile.
    ///
    /// - Parameters:
    ///   - source: the database.
    ///   - target: an empty file.
    /// - Returns: the number of rows of the audit log.
    package static func make(of source: String, at target: String) throws -> Int64 {
        _ = try SQLiteConnection(source).run("VACUUM INTO $1", [.text(target)])
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
