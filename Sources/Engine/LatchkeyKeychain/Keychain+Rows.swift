// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

// Every insertion, replacement and deletion of a row goes through these functions, because each changes the set hash.
// Quarantining and restoring a row do not change it: the set hash covers items and quarantine together, so that
// quarantining a row cannot hide damage.

extension RowMark {
    /// The columns that the row's hash covers, and the position.
    init(_ row: StoredRow) {
        self.init(
            position: row.position, itemClass: row.itemClass.rawValue, id: row.id, version: row.version,
            versionRandom: Envelopes.versionRandom(row))
    }
}

/// A row that is deleted as the item that it is.
struct DoomedRow {
    let mark: RowMark
    /// The identifier of an item of the Secret Service; nil for any other row.
    let secret: String?

    init(_ row: StoredRow, _ item: Item) {
        mark = RowMark(row)
        guard row.itemClass == .secret, !item.isOfSecretService, case .text(let name)? = item.attributes[.identifier]
        else {
            secret = nil
            return
        }
        secret = name
    }
}

extension Keychain {
    func insertRow(_ row: StoredRow, _ store: any ItemWriting) throws(Failure) {
        try checkRoom(for: row, in: store)
        var row = row
        try store.insert(row)
        row.position = try store.lastPosition()
        try changeSum(in: store, added: RowMark(row))
    }

    /// Replaces `old` by `row`, which has the same position.
    func replaceRow(_ old: StoredRow, by row: StoredRow, _ store: any ItemWriting) throws(Failure) {
        if row.isIndexed(like: old) { try store.replaceEnvelopes(of: row) } else { try store.replace(row) }
        try recordDeletion(in: store)
        try changeSum(in: store, added: RowMark(row), removed: RowMark(old))
    }

    func deleteRow(_ mark: RowMark, _ store: any ItemWriting) throws(Failure) {
        try store.delete(position: mark.position)
        try recordDeletion(in: store)
        try changeSum(in: store, removed: mark)
    }

    /// Deletes the row of an item, with an audit entry, and the answers about the item.
    func delete(_ row: DoomedRow, _ caller: Caller, _ store: any ItemWriting) throws(Failure) {
        try deleteRow(row.mark, store)
        try audit.append(.deleted, item: row.mark.id, caller: caller, to: store)
        guard let identifier = row.secret else { return }
        let answers: Attributes = [.collection: .text(SecretRows.answers(for: identifier))]
        try deleteAnswers(answers, about: row.mark.id, caller, store)
    }

    private func changeSum(in store: any ItemWriting, added: RowMark? = nil, removed: RowMark? = nil) throws(Failure) {
        let added = try added.map { (mark) throws(Failure) in (mark.position, try RowHash(mark, tree.setKey)) }
        let removed = try removed.map { (mark) throws(Failure) in (mark.position, try RowHash(mark, tree.setKey)) }
        try audit.change(in: store) { (numbers) throws(Failure) in
            if let added { numbers.sum?.add(added.1) }
            if let removed { numbers.sum?.subtract(removed.1) }
        }
        scan.update(added: added, removed: removed)
    }
}
