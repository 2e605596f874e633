// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

// Behaviour KC-17, decision 008: an item that cannot be decoded is skipped as if it were absent, and moved out of the way
// in the background. Nothing is deleted: the row stays, as it was found, in a table of its own.

extension Keychain {
    /// Says how a call that met damaged rows has `quarantineDamaged` run where writes run.
    package func whenDamaged(_ handler: @escaping @Sendable () -> Void) { suspects.whenNoted(handler) }

    /// Number of rows in the quarantine.
    package func quarantineCount() throws(Failure) -> Int64 {
        try store.read { (store) throws(Failure) in try store.quarantineCount() }
    }

    /// Moves the rows that searches have met and that still fail authentication; one transaction, an entry for each.
    package func quarantineDamaged() throws(Failure) {
        let ids = suspects.take()
        guard !ids.isEmpty else { return }
        try write { (store) throws(Failure) in
            for id in ids.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                var damaged: [StoredRow] = []
                try store.forEachRow(.id(id)) { (row) throws(Failure) in
                    if try damage(of: row, opensProtected: true) != nil { damaged.append(row) }
                    return true
                }
                for row in damaged { try quarantine(row, in: store) }
            }
        }
    }

    func quarantine(_ row: StoredRow, in store: any ItemWriting) throws(Failure) {
        let entry = try audit.append(.quarantined, item: row.id, caller: nil, to: store)
        try store.quarantine(position: row.position, entry: entry)
        scan.restart()
    }

    /// What `open` gives; nil when the row fails authentication, which is then looked at by `quarantineDamaged`.
    func undamaged<R>(_ row: StoredRow, _ open: () throws(Failure) -> R) throws(Failure) -> R? {
        let opened = try unlessDamaged(open)
        if opened == nil { suspects.note(row.id) }
        return opened
    }

    private func unlessDamaged<R>(_ open: () throws(Failure) -> R) throws(Failure) -> R? {
        do throws(Failure) {
            return try open()
        } catch {
            guard error.status == .storeUnreadable else { throw error }
            return nil
        }
    }

    /// Has the damaged rows moved that this call has met. No transaction is open.
    func reportDamage() { suspects.report() }

    /// Which envelope of a row fails authentication, as far as the keys that are in memory can tell.
    ///
    /// - Parameter opensProtected: whether protected secrets are opened, since someone has just proven to be allowed to;
    ///   nothing of them leaves this call.
    func damage(of row: StoredRow, opensProtected: Bool) throws(Failure) -> Damage? {
        guard let item = try unlessDamaged({ () throws(Failure) in try envelopes.openAttributes(row) }) else {
            return .attributes
        }
        // What is bound to another enrolled set cannot be opened by anyone; that is no damage.
        guard !isDead(item) else { return nil }
        let checked: Void? = try unlessDamaged { () throws(Failure) in
            try envelopes.checkSecret(row, item, opensProtected: opensProtected)
        }
        return checked == nil ? .secret : nil
    }
}

/// Which envelope of a row fails authentication.
enum Damage: Sendable {
    case attributes, secret
}
