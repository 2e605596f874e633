// SPDX-License-Identifier: Apache-2.0

import CSQLite
package import LatchkeyModel

// Erasing what rows contained before. SQLite stores it in two places:
// - The log has every page as each commit left it. A checkpoint lets later commits overwrite the log from its beginning,
//   and only `TRUNCATE` shortens it (sqlite.org/pragma.html#pragma_wal_checkpoint).
// - `secure_delete` overwrites the content of a deleted row. It does not reach a copy in the unused part of a page, which
//   can be left when SQLite distributes the rows of full pages again (`rebuildPage` of btree.c). VACUUM builds every page
//   from the present rows.

extension SQLiteItemStore {
    /// Maximum size of a database that is built again: about 25,000 items. Twice the bytes are in memory and in the log
    /// meanwhile.
    static let rebuiltBytes: Int64 = 16 << 20

    package func eraseOldCopies(waits: Bool) throws(Failure) -> Bool {
        // A database in memory has no files, and one that was just created no old copies.
        if isShared { return true }
        return try writing.withLockForAnyResult { (_) throws(Failure) in
            if waits { return try eraseLocked(waits: true) }
            return try writer.withoutWaiting { () throws(Failure) in try eraseLocked(waits: false) }
        }
    }

    package func mergeLog() throws(Failure) -> Bool {
        if isShared { return true }
        return try writing.withLockForAnyResult { (_) throws(Failure) in
            try writer.withoutWaiting { () throws(Failure) in try truncateLog(waits: false) }
        }
    }

    private func eraseLocked(waits: Bool) throws(Failure) -> Bool {
        // The log is truncated first: while another connection needs it, the database is not built in vain.
        guard try truncateLog(waits: waits) else { return false }
        guard try writer.databaseBytes() <= Self.rebuiltBytes else { return true }
        try checkPages()
        do throws(Failure) {
            try writer.run("VACUUM", [])
        } catch {
            writer.rollBack()
            // The first error says more. Without the truncation a full disk would stay full.
            _ = try? truncateLog(waits: waits)
            guard error.status == .timedOut else { throw error }
            return false
        }
        // So that no read uses a transaction from before.
        commits.add(1, ordering: .releasing)
        return try truncateLog(waits: waits)
    }

    /// Throws for a database with damaged or lost pages: building it again would lose what could still be restored.
    private func checkPages() throws(Failure) {
        var isWhole = false
        try writer.run("PRAGMA quick_check(1)", []) { (row) throws(Failure) in
            isWhole = row.text(0) == "ok"
            return true
        }
        guard isWhole else { throw Connection.failure(SQLITE_CORRUPT) }
    }

    /// Merges the log into the database and truncates it; returns false while a read or another connection needs it.
    private func truncateLog(waits: Bool) throws(Failure) -> Bool {
        // An idle read transaction would hold up the copying.
        closeIdleRead()
        // Copies and syncs the pages while reads continue, so that they wait for the truncation only.
        _ = try checkpoint("PASSIVE")
        return try withoutReader(waits: waits) { () throws(Failure) in try checkpoint("TRUNCATE") } ?? false
    }

    /// Returns whether the checkpoint is complete.
    private func checkpoint(_ mode: String) throws(Failure) -> Bool {
        var isBusy = true
        try writer.run("PRAGMA wal_checkpoint(\(mode))", []) { (row) throws(Failure) in
            isBusy = row.integer(0) != 0
            return true
        }
        return !isBusy
    }
}
