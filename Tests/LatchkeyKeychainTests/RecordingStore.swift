// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization
import TestSupport

/// A store that records the audit entries of committed transactions and fails at a chosen write.
final class RecordingStore: ItemStore {
    private struct State: Sendable {
        var entries: [AuditEntry] = []
        var writes = 0
        var failsAt: Int?
        var secretsRead = 0
    }
    private let inner: any ItemStore
    private let state = Mutex(State())

    init(_ inner: any ItemStore) { self.inner = inner }

    /// The entries in the order in which they were committed.
    var entries: [AuditEntry] { state.withLock { $0.entries } }

    /// Makes the `number`-th write from now fail, 0 being the first; nil: none.
    func fail(at number: Int?) {
        state.withLock { state in
            state.writes = 0
            state.failsAt = number
        }
    }

    /// Returns the number of rows read with their secret since the last call.
    func takeSecretsRead() -> Int {
        state.withLock { state in
            defer { state.secretsRead = 0 }
            return state.secretsRead
        }
    }

    fileprivate func handedOut(_ row: StoredRow) {
        if row.secret != nil { state.withLock { $0.secretsRead += 1 } }
    }

    func read<R>(_ body: (any ItemReading) throws(Failure) -> R) throws(Failure) -> R {
        try inner.read { (rows) throws(Failure) in try body(ReadingRecorder(rows: rows, store: self)) }
    }

    func problems() throws(Failure) -> [String] { try inner.problems() }

    func releaseMemory() { inner.releaseMemory() }

    func eraseOldCopies(waits: Bool) throws(Failure) -> Bool { try inner.eraseOldCopies(waits: waits) }

    func mergeLog() throws(Failure) -> Bool { try inner.mergeLog() }

    func write<R>(_ body: (any ItemWriting) throws(Failure) -> R) throws(Failure) -> R {
        let entries = Recorder<AuditEntry>()
        let result = try inner.write { (rows) throws(Failure) in
            let result = try body(WritingRecorder(rows: rows, store: self) { entries.add($0) })
            // The commit itself counts as a write.
            try step()
            return result
        }
        state.withLock { $0.entries += entries.all }
        return result
    }

    fileprivate func step() throws(Failure) {
        let fails = state.withLock { state in
            defer { state.writes += 1 }
            return state.writes == state.failsAt
        }
        if fails { throw Failure(.diskFull, "This write fails.") }
    }
}

private struct ReadingRecorder: ItemReading {
    let rows: any ItemReading
    let store: RecordingStore

    func record(_ name: String) throws(Failure) -> [UInt8]? { try rows.record(name) }
    func forEachRow(
        _ filter: RowFilter, behind position: Int64, columns: RowColumns,
        _ body: (StoredRow) throws(Failure) -> Bool
    ) throws(Failure) {
        try rows.forEachRow(filter, behind: position, columns: columns) { (row) throws(Failure) in
            store.handedOut(row)
            return try body(row)
        }
    }
    func lastPosition() throws(Failure) -> Int64 { try rows.lastPosition() }
    func itemCount() throws(Failure) -> Int64 { try rows.itemCount() }
    func pairCount(_ hash: [UInt8], limit: Int) throws(Failure) -> Int { try rows.pairCount(hash, limit: limit) }
    func pairs(at position: Int64) throws(Failure) -> [[UInt8]] { try rows.pairs(at: position) }
    func usage() throws(Failure) -> StoreUsage { try rows.usage() }
    func lastAuditEntry() throws(Failure) -> AuditEntry? { try rows.lastAuditEntry() }
    func forEachAuditEntry(after sequence: Int64, _ body: (AuditEntry) throws(Failure) -> Bool) throws(Failure) {
        try rows.forEachAuditEntry(after: sequence, body)
    }
    func forEachRowMark(behind position: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure) {
        try rows.forEachRowMark(behind: position, body)
    }
    func forEachQuarantinedMark(behind number: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure) {
        try rows.forEachQuarantinedMark(behind: number, body)
    }
    func quarantineCount() throws(Failure) -> Int64 { try rows.quarantineCount() }
    func forEachQuarantined(
        behind number: Int64, _ body: (QuarantinedRow) throws(Failure) -> Bool
    ) throws(Failure) {
        try rows.forEachQuarantined(behind: number, body)
    }
}

private struct WritingRecorder: ItemWriting {
    let rows: any ItemWriting
    let store: RecordingStore
    let appended: (AuditEntry) -> Void

    private var reading: ReadingRecorder { ReadingRecorder(rows: rows, store: store) }

    func record(_ name: String) throws(Failure) -> [UInt8]? { try rows.record(name) }
    func forEachRow(
        _ filter: RowFilter, behind position: Int64, columns: RowColumns,
        _ body: (StoredRow) throws(Failure) -> Bool
    ) throws(Failure) {
        try reading.forEachRow(filter, behind: position, columns: columns, body)
    }
    func lastPosition() throws(Failure) -> Int64 { try rows.lastPosition() }
    func itemCount() throws(Failure) -> Int64 { try rows.itemCount() }
    func pairCount(_ hash: [UInt8], limit: Int) throws(Failure) -> Int { try rows.pairCount(hash, limit: limit) }
    func pairs(at position: Int64) throws(Failure) -> [[UInt8]] { try rows.pairs(at: position) }
    func usage() throws(Failure) -> StoreUsage { try rows.usage() }
    func lastAuditEntry() throws(Failure) -> AuditEntry? { try rows.lastAuditEntry() }
    func forEachAuditEntry(after sequence: Int64, _ body: (AuditEntry) throws(Failure) -> Bool) throws(Failure) {
        try rows.forEachAuditEntry(after: sequence, body)
    }
    func forEachRowMark(behind position: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure) {
        try rows.forEachRowMark(behind: position, body)
    }
    func forEachQuarantinedMark(behind number: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure) {
        try rows.forEachQuarantinedMark(behind: number, body)
    }
    func quarantineCount() throws(Failure) -> Int64 { try rows.quarantineCount() }
    func forEachQuarantined(
        behind number: Int64, _ body: (QuarantinedRow) throws(Failure) -> Bool
    ) throws(Failure) {
        try rows.forEachQuarantined(behind: number, body)
    }
    func restore(_ row: StoredRow, from number: Int64) throws(Failure) {
        try store.step()
        try rows.restore(row, from: number)
    }
    func quarantine(position: Int64, entry: Int64) throws(Failure) {
        try store.step()
        try rows.quarantine(position: position, entry: entry)
    }
    func setRecord(_ name: String, _ value: [UInt8]?) throws(Failure) {
        try store.step()
        try rows.setRecord(name, value)
    }
    func insert(_ row: StoredRow) throws(Failure) {
        try store.step()
        try rows.insert(row)
    }
    func replace(_ row: StoredRow) throws(Failure) {
        try store.step()
        try rows.replace(row)
    }
    func replaceEnvelopes(of row: StoredRow) throws(Failure) {
        try store.step()
        try rows.replaceEnvelopes(of: row)
    }
    func delete(position: Int64) throws(Failure) {
        try store.step()
        try rows.delete(position: position)
    }
    func append(_ entry: AuditEntry) throws(Failure) {
        try store.step()
        try rows.append(entry)
        appended(entry)
    }
}
