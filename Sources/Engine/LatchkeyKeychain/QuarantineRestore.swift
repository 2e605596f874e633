// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// Restores the rows of the quarantine that authenticate again, for example after the right root key was put back.
///
/// Nothing is deleted or replaced. A row is restored as it was sealed, with an audit entry in the same transaction.
/// It remains in the quarantine, and is reported, while it fails authentication or another item has its primary key.
/// A row that the audit log does not record as quarantined remains too: another program inserted it.
package struct QuarantineRestore {
    /// Maximum number of rows in one transaction.
    private static let slice = 64

    private let keychain: Keychain
    private let caller: Caller
    private var number = Int64.min
    private var done: UInt64 = 0
    private var findingCount = 0

    /// Starts at the row that was quarantined first.
    package init(_ keychain: Keychain, caller: Caller) { (self.keychain, self.caller) = (keychain, caller) }

    /// Checks the next rows and restores those that can be restored.
    /// - Returns: the result for each row, and whether more follow.
    package mutating func next() throws(Failure) -> CheckReport {
        let (keychain, caller, start) = (keychain, caller, number)
        try keychain.checkReadable()
        let (end, count, total, findings) = try keychain.write { (store) throws(Failure) in
            var rows: [QuarantinedRow] = []
            try store.forEachQuarantined(behind: start) { (row) throws(Failure) in
                rows.append(row)
                return rows.count < Self.slice
            }
            var findings: [Finding] = []
            for row in rows {
                let kind = try keychain.restore(row, caller: caller, in: store)
                findings.append(Finding(kind, number: row.entry, item: row.row.id))
            }
            return (rows.last?.number, rows.count, try store.quarantineCount(), findings)
        }
        done += UInt64(count)
        number = end ?? number
        let more = count == Self.slice
        return CheckReport(
            more: more, done: done, total: max(done, done + UInt64(clamping: total)), findings: listed(findings, more))
    }

    /// Limits the findings like a check; the last report counts the omitted ones.
    private mutating func listed(_ findings: [Finding], _ more: Bool) -> [Finding] {
        let room = max(0, Limits.findings - findingCount)
        findingCount += findings.count
        var listed = Array(findings.prefix(room))
        if !more, findingCount > Limits.findings {
            listed.append(Finding(.unlisted, number: Int64(findingCount - Limits.findings)))
        }
        return listed
    }
}

extension Keychain {
    /// Restores one row, or returns why it remains in the quarantine.
    fileprivate func restore(
        _ quarantined: QuarantinedRow, caller: Caller, in store: any ItemWriting
    ) throws(Failure) -> Finding.Kind {
        var row = quarantined.row
        guard try damage(of: row, opensProtected: false) == nil else { return .quarantined }
        guard try trailExplains(quarantined, in: store) else { return .asideUnexplained }
        var isTaken = false
        for filter in [RowFilter.primaryKey(row.primaryKey), .id(row.id)] {
            try store.forEachRow(filter, columns: .withoutSecret) { (_) throws(Failure) in
                isTaken = true
                return false
            }
        }
        guard !isTaken else { return .placeTaken }
        // The group and attribute indexes are not authenticated, so they are computed again.
        try index.fill(&row, envelopes.openAttributes(row))
        guard row.primaryKey == quarantined.row.primaryKey else { return .quarantined }
        try store.restore(row, from: quarantined.number)
        scan.restart()
        try audit.append(.restored, item: row.id, caller: caller, to: store)
        return .restored
    }

    /// Whether the audit entry that a quarantined row names records that the row was quarantined.
    private func trailExplains(_ quarantined: QuarantinedRow, in store: any ItemReading) throws(Failure) -> Bool {
        var line: AuditLine?
        try store.forEachAuditEntry(after: quarantined.entry &- 1) { (entry) throws(Failure) in
            if entry.sequence == quarantined.entry { line = try audit.line(entry) }
            return false
        }
        return line?.event == .quarantined && line?.item == quarantined.row.id
    }
}
