// SPDX-License-Identifier: Apache-2.0

// What the rehearsal of a restore and of an upgrade needs besides them.

extension RelyingPartyService {
    /// Ends the use of the database by programs of earlier versions.
    ///
    /// - Throws: `unavailable`.
    package func finishUpgrade() throws(RelyingPartyError) { _ = try working { try storage.finishUpgrade() } }

    /// The version of the tables.
    ///
    /// - Throws: `unavailable`.
    package func schemaVersion() throws(RelyingPartyError) -> Int64 {
        try working {
            guard let marks = SchemaMarks(try storage.read(SchemaMarks.statement, []).first) else {
                throw StorageFailure.otherDatabase
            }
            return marks.version
        }
    }

    /// How many rows the tables have that an upgrade must not lose.
    ///
    /// - Throws: `unavailable`.
    package func rowCounts() throws(RelyingPartyError) -> [(table: String, count: Int64)] {
        try working {
            try Statements.rowCounts.map { table, statement in
                guard case .integer(let count)? = try storage.read(statement, []).first?.first else {
                    throw StorageFailure("The rows of \(table) cannot be counted.")
                }
                return (table, count)
            }
        }
    }
}
