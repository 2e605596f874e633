// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// Checks everything in a store, slice by slice, and changes nothing.
///
/// Other requests read and write meanwhile; items that they change are left to the next check.
package struct StoreCheck {
    /// Rows or audit entries of one slice: the reader is busy for a few milliseconds.
    private static let slice = 256

    private enum Stage {
        case beginning
        case rows(after: Int64)
        case quarantine, trail, records, finished
    }

    let keychain: Keychain
    private var stage = Stage.beginning
    private var done: UInt64 = 0
    private var total: UInt64 = 0
    private var findings: [Finding] = []
    private var findingCount = 0
    private var balance = ItemBalance()
    private var verifier: AuditTrail.ChainVerifier?
    /// Sequence number of the newest audit entry when the check began.
    private var beginning: Int64 = 0

    /// Makes a check that begins with the first `next`.
    package init(_ keychain: Keychain) { self.keychain = keychain }

    /// Checks the next slice.
    /// - Returns: the findings of this slice, and whether another follows.
    package mutating func next() throws(Failure) -> CheckReport {
        switch stage {
        case .beginning: try begin()
        case .rows(let position): try checkRows(after: position)
        case .quarantine: try listQuarantine()
        case .trail: try checkTrail()
        case .records: try checkRecords()
        case .finished: break
        }
        var more = true
        if case .finished = stage { more = false }
        defer { findings = [] }
        return CheckReport(more: more, done: done, total: max(done, total), findings: findings)
    }

    private mutating func add(_ finding: Finding) {
        // Limits the report, for example of a store in which every row is damaged.
        findingCount += 1
        if findingCount <= Limits.findings { findings.append(finding) }
    }

    private mutating func begin() throws(Failure) {
        // An empty write makes the database read changes that other programs made to the file since our last
        // commit. It changes nothing, so it needs neither the keychain's rules for writing nor its thread. A store that
        // cannot be written is checked as it was last read.
        try? keychain.store.write { (_) throws(Failure) in }
        (beginning, total) = try keychain.store.read { (store) throws(Failure) in
            let last = try store.lastAuditEntry()?.sequence ?? 0
            return (last, UInt64(clamping: try store.itemCount()) + UInt64(clamping: last))
        }
        for line in try keychain.store.problems() { add(Finding(.database, words: "\(line.prefix(240))")) }
        stage = .rows(after: .min)
    }

    // MARK: - Rows

    private mutating func checkRows(after position: Int64) throws(Failure) {
        var rows: [StoredRow] = []
        try keychain.store.read { (store) throws(Failure) in
            try store.forEachRow(.all, behind: position) { (row) throws(Failure) in
                rows.append(row)
                return rows.count < Self.slice
            }
        }
        for row in rows { try check(row) }
        done += UInt64(rows.count)
        stage = rows.count < Self.slice ? .quarantine : .rows(after: rows[rows.count - 1].position)
    }

    private mutating func check(_ row: StoredRow) throws(Failure) {
        balance.found(row.id, version: row.version)
        switch try keychain.damage(of: row, opensProtected: false) {
        case .attributes: add(Finding(.attributesDamaged, number: row.position, item: row.id))
        case .secret: add(Finding(.secretDamaged, number: row.position, item: row.id))
        case nil:
            var expected = row
            try keychain.index.fill(&expected, keychain.envelopes.openAttributes(row))
            // The table has three index columns; a class may use fewer.
            let indexes = expected.indexes + Array(repeating: nil, count: max(0, 3 - expected.indexes.count))
            let pairs = try keychain.store.read { (store) throws(Failure) in try store.pairs(at: row.position) }
            guard
                expected.primaryKey != row.primaryKey || expected.group != row.group || indexes != row.indexes
                    || Set(expected.pairs) != Set(pairs)
            else { return }
            add(Finding(.indexWrong, number: row.position, item: row.id))
        }
    }

    private mutating func listQuarantine() throws(Failure) {
        var rows: [Finding] = []
        try keychain.store.read { (store) throws(Failure) in
            try store.forEachQuarantined { (row) throws(Failure) in
                rows.append(Finding(.quarantined, number: row.entry, item: row.row.id))
                return rows.count < Limits.findings
            }
        }
        for row in rows { add(row) }
        stage = .trail
    }

    // MARK: - The audit log

    private mutating func checkTrail() throws(Failure) {
        var entries: [(AuditLine, Finding?)] = []
        let (known, trail) = (verifier, keychain.audit)
        verifier = try keychain.store.read { (store) throws(Failure) -> AuditTrail.ChainVerifier in
            var verifier: AuditTrail.ChainVerifier
            if let known {
                verifier = known
            } else {
                verifier = try AuditTrail.ChainVerifier(trail, after: 0, in: store)
            }
            try store.forEachAuditEntry(after: verifier.sequence) { (entry) throws(Failure) in
                entries.append((try trail.line(entry), try verifier.verify(entry)))
                return entries.count < Self.slice
            }
            return verifier
        }
        for (line, finding) in entries {
            if let finding { add(finding) }
            if let finding = line.finding { add(finding) }
            balance.take(line, isNew: line.sequence > beginning)
        }
        done += UInt64(entries.count)
        if entries.count < Self.slice { stage = .records }
    }

    // MARK: - Records

    private mutating func checkRecords() throws(Failure) {
        let keychain = keychain
        let tree = keychain.tree
        let end = try keychain.store.read { (store) throws(Failure) in try keychain.audit.checkEnd(in: store) }
        if let end { add(end) }
        for finding in balance.findings { add(finding) }
        try check(.recordChanged, "header") { () throws(Failure) in try tree.checkHeader() }
        try check(.recordChanged, "\(RecordName.state.rawValue)") { () throws(Failure) in
            _ = try keychain.store.read { (store) throws(Failure) in try keychain.stateValues(in: store) }
        }
        try check(.recordChanged, "counters") { () throws(Failure) in try keychain.checkCounters() }
        try check(.anchor) { () throws(Failure) in try keychain.anchor.check() }
        if try !rowsAreThoseStored() { add(Finding(.setChanged)) }
        if findingCount > Limits.findings {
            findings.append(Finding(.unlisted, number: Int64(findingCount - Limits.findings)))
        }
        stage = .finished
    }

    /// Compares all rows with the set hash.
    private func rowsAreThoseStored() throws(Failure) -> Bool {
        keychain.beginSetCheck()
        while true {
            if let isSame = try keychain.continueSetCheck() { return isSame }
        }
    }

    private mutating func check(
        _ kind: Finding.Kind, _ name: Phrase = "", _ body: () throws(Failure) -> Void
    ) throws(Failure) {
        do throws(Failure) {
            try body()
        } catch {
            guard error.status == .storeUnreadable else { throw error }
            add(Finding(kind, words: name.isEmpty ? error.message : name))
        }
    }
}
