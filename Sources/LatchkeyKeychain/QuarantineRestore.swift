// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// Brings back the rows of the quarantine that authenticate again: the right root key or enrolment record was put back.
///
/// Nothing is deleted and nothing is replaced. A row goes back as it was sealed, with an audit entry in the same
/// transaction; it stays where it is, and is named, while it fails authentication, while there is another item with its
/// primary key, and when the trail does not say that it was put aside: someone else put it there.
package struct QuarantineRestore {
    /// Rows of one transaction.
    private static let slice = 64

    private let keychain: Keychain
    private let caller: Caller
    private var number = Int64.min
    private var done: UInt64 = 0
    private var findingCount = 0

    /// Begins at the row that was put aside first.
    package init(_ keychain: Keychain, caller: Caller) {
        self.keychain = keychain
        self.caller = caller
    }

    /// Looks at the next rows, and brings back those that may come.
    /// - Returns: what became of each, and whether more follow.
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

    /// As many findings as a check lists; the last part counts the others.
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
    /// What becomes of one row.
    fileprivate func restore(
        _ aside: QuarantinedRow, caller: Caller, in store: any ItemWriting
    ) throws(Failure) -> Finding.Kind {
        var row = aside.row
        guard try damage(of: row, opensProtected: false) == nil else { return .quarantined }
        guard try trailExplains(aside, in: store) else { return .asideUnexplained }
        var isTaken = false
        for filter in [RowFilter.primaryKey(row.primaryKey), .id(row.id)] {
            try store.forEachRow(filter, columns: .withoutSecret) { (_) throws(Failure) in
                isTaken = true
                return false
            }
        }
        guard !isTaken else { return .placeTaken }
        // Group and attribute indexes are under no seal: they are derived anew, or searches would miss it.
        try index.fill(&row, envelopes.openAttributes(row))
        guard row.primaryKey == aside.row.primaryKey else { return .quarantined }
        try store.restore(row, from: aside.number)
        scan.restart()
        try audit.append(.restored, item: row.id, caller: caller, to: store)
        return .restored
    }

    /// Whether the entry that a row in the quarantine names tells of it.
    private func trailExplains(_ aside: QuarantinedRow, in store: any ItemReading) throws(Failure) -> Bool {
        var line: AuditLine?
        try store.forEachAuditEntry(after: aside.entry &- 1) { (entry) throws(Failure) in
            if entry.sequence == aside.entry { line = try audit.line(entry) }
            return false
        }
        return line?.event == .quarantined && line?.item == aside.row.id
    }
}
