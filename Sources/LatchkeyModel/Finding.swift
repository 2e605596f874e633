// SPDX-License-Identifier: Apache-2.0

/// One thing that is not as it should be in a store.
package struct Finding: Equatable, Sendable {
    /// What it is. Numbers are part of the wire format and never reused.
    package enum Kind: UInt8, CaseIterable, Sendable {
        /// What SQLite or the schema complains of, in `words`.
        case database = 1
        /// A row whose attributes, or secret, fail authentication; `number` is its position.
        case attributesDamaged = 2
        case secretDamaged = 3
        /// A row whose blind indexes are not those of its attributes: searches may miss it.
        case indexWrong = 4
        /// The trail says that there is such an item, and there is no row.
        case itemMissing = 5
        /// A row that the trail does not say was added, or says is gone.
        case itemUnexplained = 6
        /// A row whose version is not the one that the trail leads to.
        case itemOlder = 7
        /// A record of the store's own that was changed; `words` is its name.
        case recordChanged = 8
        /// The anchor does not fit the database, or is not the one that was last written.
        case anchor = 9
        /// The rows are not those that were stored; other findings name them.
        case setChanged = 10
        /// The trail has no entry of that `number`.
        case entryMissing = 20
        /// The entry of that `number` was changed, or stands in another's place.
        case entryChanged = 21
        /// The trail ends before the entry of that `number`, which was written.
        case trailCut = 22
        /// The record that says where the trail ends was taken away or changed.
        case trailEndUnknown = 23
        /// A damaged row that was put aside; `number` is the entry that tells of it.
        case quarantined = 30
        /// There are that many more findings than a check lists.
        case unlisted = 31
        /// A row that had been put aside is back in its place; `number` is the entry that told of it.
        case restored = 32
        /// A row that authenticates stays aside: there is another item with its primary key.
        case placeTaken = 33
        /// A row stays aside that the trail does not say was put there.
        case asideUnexplained = 34
    }

    package var kind: Kind
    package var number: Int64
    /// The 16 bytes that name the item, or none.
    package var item: [UInt8]
    package var words: String

    /// Makes a finding.
    package init(_ kind: Kind, number: Int64 = 0, item: [UInt8] = [], words: String = "") {
        self.kind = kind
        self.number = number
        self.item = item
        self.words = words
    }
}

/// A part of the answer to `check` and to `restoreRows`.
package struct CheckReport: Equatable, Sendable {
    /// Whether another part follows.
    package var more: Bool
    /// Rows and entries that were looked at, and how many there are.
    package var done: UInt64
    package var total: UInt64
    package var findings: [Finding]

    /// Makes a part.
    package init(more: Bool, done: UInt64, total: UInt64, findings: [Finding]) {
        self.more = more
        self.done = done
        self.total = total
        self.findings = findings
    }
}
