// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

// The chain reveals a removed entry in the middle of the audit log, but not newest entries that were cut off its end.
// `StoreCheck` finds a missing entry for an item that was added, updated, deleted or invalidated by comparing the log
// with the rows. Every other entry also stores the end of the log in the record `audit.end`; the entries named above do
// not, so that adding an item writes no further page.
//
// Without a comparison the next entry would overwrite that record, and with it the only trace of a cut. So the record is
// compared whenever the end is read from the database, which is at least once before the record is written. A mismatch is
// an entry of its own, before any other, and a verification reports that entry for ever.

extension AuditEvent {
    /// Whether the rows of the items show that this entry is missing.
    var showsInItems: Bool {
        switch self {
        case .added, .updated, .deleted, .invalidated: true
        default: false
        }
    }
}

extension AuditTrail {
    func storeEnd(_ sequence: Int64, _ chain: [UInt8], in store: any ItemWriting) throws(Failure) {
        let sealed = try tree.recordKey.seal(
            Self.encode(sequence, chain), nonce: tree.nonce(), authenticating: tree.associatedData(.auditEnd))
        try store.setRecord(RecordName.auditEnd.rawValue, sealed)
    }

    /// Returns what is wrong with the end of the audit log, or nil.
    func checkEnd(in store: any ItemReading) throws(Failure) -> Finding? {
        try mismatch(in: store, last: store.lastAuditEntry()?.sequence ?? 0)?.finding
    }

    /// A difference between the log and the record of its end.
    struct Mismatch: Equatable, Sendable {
        var finding: Finding
        /// The number in the record; 0 if the record is missing or was changed.
        var sequence: Int64
    }

    /// Compares the log, whose newest entry has the number `last`, with the record of its end.
    func mismatch(in store: any ItemReading, last: Int64) throws(Failure) -> Mismatch? {
        // A store is created with this record, so a missing one was removed.
        guard let sealed = try store.record(.auditEnd),
            let plain = try tree.recordKey.open(sealed, authenticating: tree.associatedData(.auditEnd)),
            let (sequence, chain) = Self.decode(plain)
        else { return Mismatch(finding: Finding(.trailEndUnknown), sequence: 0) }
        guard last >= sequence else {
            return Mismatch(finding: Finding(.trailCut, number: last + 1), sequence: sequence)
        }
        guard sequence > 0 else { return nil }
        var finding: Finding? = Finding(.entryMissing, number: sequence)
        try store.forEachAuditEntry(after: sequence - 1) { (entry) throws(Failure) in
            if entry.sequence == sequence {
                finding = entry.chain == chain ? nil : Finding(.entryChanged, number: sequence)
            }
            return false
        }
        return finding.map { Mismatch(finding: $0, sequence: sequence) }
    }

    /// The record of a log without entries.
    static var emptyEnd: SecretBytes { encode(0, []) }

    private static func encode(_ sequence: Int64, _ chain: [UInt8]) -> SecretBytes {
        var writer = CBORWriter()
        writer.array(2)
        writer.integer(sequence)
        writer.bytes(chain)
        return writer.finish()
    }

    private static func decode(_ plain: SecretBytes) -> (Int64, [UInt8])? {
        plain.withBytes { bytes in
            var reader = CBORReader(bytes)
            // `mismatch` reports an undecodable record as an unknown end.
            let end = try? reader.tuple(2) { (reader) throws(WireError) in
                (try reader.integer(), try reader.bytes(limit: 64))
            }
            return end.flatMap { $0.0 < 0 ? nil : $0 }
        }
    }
}

extension Keychain {
    /// Whether the record of the log's end does not match the log, and no entry says so yet.
    package func isTrailCut() throws(Failure) -> Bool {
        try store.read { (store) throws(Failure) in try audit.end(in: store).mismatch != nil }
    }

    /// Commits the entry that says so. Any other entry would be preceded by it too.
    package func recordTrailCut() throws(Failure) {
        try write { (store) throws(Failure) in try audit.recordMismatch(in: store) }
    }
}
