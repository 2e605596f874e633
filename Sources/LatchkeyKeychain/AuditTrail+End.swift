// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

// A chain tells that nothing was taken out of it, but not that its newest entries were cut off. What adds, changes or
// deletes an item shows in the items, which `StoreCheck` compares; every other entry writes down where the trail ends,
// so that neither can be cut away, and adding an item costs no further page.

extension AuditEvent {
    /// Whether an entry that is missing shows in the rows of the items.
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

    /// What is wrong with the end of the trail, or nil.
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

    /// Without the record no entry may be one that writes it.
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
            // What cannot be read is no end: the trail counts as cut.
            return try? reader.tuple(2) { (reader) throws(WireError) in
                (try reader.integer(), try reader.bytes(limit: 64))
            }
        }
    }
}
