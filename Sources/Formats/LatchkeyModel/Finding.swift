// SPDX-License-Identifier: Apache-2.0

/// One inconsistency that a check of a store found.
package struct Finding: Equatable, Sendable {
    /// The kind of inconsistency. Raw values are part of the wire format and never reused.
    package enum Kind: UInt8, CaseIterable, Sendable {
        /// SQLite or the schema reports a problem; `words` describes it.
        case database = 1
        /// The attributes of a row fail authentication; `number` is the row's position.
        case attributesDamaged = 2
        /// The secret of a row fails authentication; `number` is the row's position.
        case secretDamaged = 3
        /// The blind indexes of a row do not match its attributes, so searches may miss it.
        case indexWrong = 4
        /// The audit log records an item that has no row.
        case itemMissing = 5
        /// A row exists whose addition the audit log does not record, or whose deletion it records.
        case itemUnexplained = 6
        /// The version of a row differs from the version that the audit log implies.
        case itemOlder = 7
        /// A record of the store's own was changed; `words` is its name.
        case recordChanged = 8
        /// The anchor does not match the database, or is not the anchor that was written last.
        case anchor = 9
        /// The rows differ from those that were stored; other findings identify them.
        case setChanged = 10
        /// The audit log has no entry with that `number`.
        case entryMissing = 20
        /// The entry with that `number` was changed or moved.
        case entryChanged = 21
        /// The audit log ends before the entry with that `number`, which was written.
        case trailCut = 22
        /// The record of the audit log's last entry was removed or changed.
        case trailEndUnknown = 23
        /// The entry with that `number` records that the log did not match the record of its end before.
        case trailWasCut = 24
        /// A damaged row is in the quarantine; `number` is the audit log entry that records the move.
        case quarantined = 30
        /// There are `number` more findings than a check lists.
        case unlisted = 31
        /// A quarantined row was moved back; `number` is the audit log entry that recorded its quarantine.
        case restored = 32
        /// A quarantined row authenticates again but stays there, since another item has its primary key.
        case placeTaken = 33
        /// A row is in the quarantine although the audit log does not record that it was moved there.
        case asideUnexplained = 34
    }

    package var kind: Kind
    /// A position, an entry number or a count, depending on `kind`; 0 if it has no meaning.
    package var number: Int64
    /// The 16-byte identifier of the item; empty if the finding concerns no item.
    package var item: [UInt8]
    /// A description or a record name, depending on `kind`; empty if it has no meaning.
    package var words: Phrase

    package init(_ kind: Kind, number: Int64 = 0, item: [UInt8] = [], words: Phrase = "") {
        (self.kind, self.number, self.item, self.words) = (kind, number, item, words)
    }
}

/// A partial reply to `check` or `restoreRows`.
package struct CheckReport: Equatable, Sendable {
    /// Whether another partial reply follows.
    package var more: Bool
    /// Number of rows and entries checked so far.
    package var done: UInt64
    /// Number of rows and entries to check in all.
    package var total: UInt64
    package var findings: [Finding]

    package init(more: Bool, done: UInt64, total: UInt64, findings: [Finding]) {
        (self.more, self.done, self.total, self.findings) = (more, done, total, findings)
    }
}
