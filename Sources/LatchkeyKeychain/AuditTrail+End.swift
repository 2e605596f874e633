// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

// The chain reveals a removed entry in the middle of the audit log, but not newest entries that were cut off its end.
// `StoreCheck` finds a missing entry for an item that was added, updated, deleted or invalidated by comparing the log
// with the rows. Every other entry also stores the end of the log in the record `audit.end`; the entries named above do
// not, so that adding an item writes no further page.

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
    func keepEnd(_ sequence: Int64, _ chain: [UInt8], in store: any ItemWriting) throws(Failure) {
        var writer = CBORWriter()
        writer.array(2)
        writer.integer(sequence)
        writer.bytes(chain)
        let sealed = try tree.recordKey.seal(
            writer.finish(), nonce: tree.nonce(), authenticating: tree.associatedData(.auditEnd))
        try store.setRecord(RecordName.auditEnd.rawValue, sealed)
    }

    /// Returns what is wrong with the end of the audit log, or nil.
    func checkEnd(in store: any ItemReading) throws(Failure) -> Finding? {
        guard let sealed = try store.record(.auditEnd) else { return try missingEnd(in: store) }
        guard let plain = try tree.recordKey.open(sealed, authenticating: tree.associatedData(.auditEnd)),
            let (sequence, chain) = decode(plain)
        else { return Finding(.trailEndUnknown) }
        let last = try store.lastAuditEntry()?.sequence ?? 0
        guard last >= sequence else { return Finding(.trailCut, number: last + 1) }
        var finding: Finding? = Finding(.entryMissing, number: sequence)
        try store.forEachAuditEntry(after: sequence &- 1) { (entry) throws(Failure) in
            if entry.sequence == sequence {
                finding = entry.chain == chain ? nil : Finding(.entryChanged, number: sequence)
            }
            return false
        }
        return finding
    }

    /// Returns a finding if the log has an entry that would have written the missing record.
    private func missingEnd(in store: any ItemReading) throws(Failure) -> Finding? {
        var finding: Finding?
        try store.forEachAuditEntry(after: 0) { (entry) throws(Failure) in
            if let event = try line(entry).event, !event.showsInItems { finding = Finding(.trailEndUnknown) }
            return finding == nil
        }
        return finding
    }

    private func decode(_ plain: SecretBytes) -> (Int64, [UInt8])? {
        plain.withBytes { bytes in
            var reader = CBORReader(bytes)
            // `checkEnd` reports an undecodable record as an unknown end.
            return try? reader.tuple(2) { (reader) throws(WireError) in
                (try reader.integer(), try reader.bytes(limit: 64))
            }
        }
    }
}
