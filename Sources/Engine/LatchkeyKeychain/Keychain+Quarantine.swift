// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Synchronization

// Behaviour KC-17, decision 008: an item that fails authentication is skipped as if it were absent, and its row is
// moved to the table `quarantine` in the background, unchanged. Nothing is deleted.

extension Keychain {
    /// Sets the callback that schedules `quarantineDamaged` on the writer thread after a call has found damaged rows.
    package func whenDamaged(_ handler: @escaping @Sendable () -> Void) { suspects.onReport(handler) }

    package func quarantineCount() throws(Failure) -> Int64 {
        try store.read { (store) throws(Failure) in try store.quarantineCount() }
    }

    /// Quarantines the rows that searches have found damaged and that still fail authentication, in one transaction
    /// with an audit entry for each.
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

    /// Returns the result of `open`; nil when the row fails authentication. Such a row is noted for
    /// `quarantineDamaged`.
    func undamaged<R>(_ row: StoredRow, _ open: () throws(Failure) -> R) throws(Failure) -> R? {
        let opened = try unlessDamaged(open)
        if opened == nil { suspects.insert(row.id) }
        return opened
    }

    /// Schedules the quarantine of the damaged rows that this call has found. Must be called outside a transaction.
    func reportDamage() { suspects.report() }

    /// Returns which envelope of a row fails authentication, as far as the keys in memory can tell.
    ///
    /// - Parameter opensProtected: whether protected secrets are opened too. Nothing of them leaves this call.
    func damage(of row: StoredRow, opensProtected: Bool) throws(Failure) -> Damage? {
        guard let item = try unlessDamaged({ () throws(Failure) in try envelopes.openAttributes(row) }) else {
            return .attributes
        }
        let checked: Void? = try unlessDamaged { () throws(Failure) in
            try envelopes.checkHash(row, item)
            // A secret bound to another enrolment set cannot be opened; that is not damage.
            guard !isDead(item) else { return }
            try envelopes.checkSecret(row, item, opensProtected: opensProtected)
        }
        return checked == nil ? .secret : nil
    }
}

/// The envelope of a row that fails authentication.
enum Damage: Sendable {
    case attributes, secret
}

/// Opens a row or a record; nil if it fails authentication. Every other failure is thrown.
func unlessDamaged<R>(_ open: () throws(Failure) -> R) throws(Failure) -> R? {
    do throws(Failure) {
        return try open()
    } catch {
        guard error.status == .storeUnreadable else { throw error }
        return nil
    }
}

/// The identifiers of rows that failed authentication in a search and wait for `quarantineDamaged`.
final class Suspects: Sendable {
    private struct State: Sendable {
        var ids: Set<[UInt8]> = []
        var handler: (@Sendable () -> Void)?
    }
    /// Maximum number of identifiers; a later search finds the other rows again.
    private static let limit = 1024
    private let state = Mutex(State())

    func insert(_ id: [UInt8]) { state.withLock { if $0.ids.count < Self.limit { $0.ids.insert(id) } } }

    func onReport(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.handler = handler } }

    /// Calls the handler if identifiers are waiting.
    func report() { state.withLock { $0.ids.isEmpty ? nil : $0.handler }?() }

    /// Returns the identifiers and clears them.
    func take() -> Set<[UInt8]> {
        state.withLock { state in
            defer { state.ids = [] }
            return state.ids
        }
    }
}
