// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

// Every change of a row goes through here, since each changes the set hash. Putting a row aside and bringing it back change
// nothing: the sum is over items and quarantine together, so that damage cannot be hidden by putting it aside.

extension RowMark {
    /// The parts of a row that its hash covers.
    init(_ row: StoredRow) {
        self.init(
            position: row.position, itemClass: row.itemClass.rawValue, id: row.id, version: row.version,
            versionRandom: Envelopes.versionRandom(row))
    }
}

extension Keychain {
    func insertRow(_ row: StoredRow, _ store: any ItemWriting) throws(Failure) {
        var row = row
        try store.insert(row)
        row.position = try store.lastPosition()
        try changeSum(in: store, added: RowMark(row))
    }

    /// Replaces `old` by `row`, which has its position.
    func replaceRow(_ old: StoredRow, by row: StoredRow, _ store: any ItemWriting) throws(Failure) {
        if row.isIndexed(like: old) { try store.replaceEnvelopes(of: row) } else { try store.replace(row) }
        try changeSum(in: store, added: RowMark(row), removed: RowMark(old))
    }

    func deleteRow(_ mark: RowMark, _ store: any ItemWriting) throws(Failure) {
        try store.delete(position: mark.position)
        try changeSum(in: store, removed: mark)
    }

    private func changeSum(
        in store: any ItemWriting, added: RowMark? = nil, removed: RowMark? = nil
    ) throws(Failure) {
        let added = try added.map { (mark) throws(Failure) in (mark.position, try RowHash(mark, tree.setKey)) }
        let removed = try removed.map { (mark) throws(Failure) in (mark.position, try RowHash(mark, tree.setKey)) }
        try audit.change(in: store) { (numbers) throws(Failure) in
            if let added { numbers.sum?.add(added.1) }
            if let removed { numbers.sum?.subtract(removed.1) }
        }
        scan.note(added: added, removed: removed)
    }
}
