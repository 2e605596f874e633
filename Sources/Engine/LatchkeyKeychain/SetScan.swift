// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Compares all rows with the set hash of the newest audit entry, in slices of 500 rows between which other requests
/// read and write. Detects rows that were restored, removed or inserted.
///
/// A slice runs inside a transaction, so no other write runs meanwhile. A write between two slices updates the sum if
/// its row was scanned already.
final class SetScan: Sendable {
    /// Rows of one slice; a slice takes about a millisecond.
    static let slice = 500

    fileprivate enum Table: Sendable { case items, quarantine, done }
    fileprivate struct State: Sendable {
        var table = Table.items
        var position = Int64.min
        var sum = StoreSum()
        /// Changes of the open transaction; dropped when it is rolled back.
        var pending: [(hash: RowHash, isAdded: Bool)] = []
    }

    /// nil: no scan is running.
    fileprivate let state = Mutex<State?>(nil)

    /// Records the changes of an open transaction to rows that were scanned already.
    func update(added: (position: Int64, hash: RowHash)?, removed: (position: Int64, hash: RowHash)?) {
        state.withLock { state in
            guard let passed = state?.passed else { return }
            if let added, added.position <= passed { state?.pending.append((added.hash, true)) }
            if let removed, removed.position <= passed { state?.pending.append((removed.hash, false)) }
        }
    }

    /// Applies the recorded changes when the transaction is committed; drops them otherwise.
    func finish(committed: Bool) {
        state.withLock { state in
            guard var scan = state, !scan.pending.isEmpty else { return }
            if committed {
                for change in scan.pending {
                    if change.isAdded { scan.sum.add(change.hash) } else { scan.sum.subtract(change.hash) }
                }
            }
            scan.pending = []
            state = scan
        }
    }

    /// Starts the scan again, if one is running: a row has moved between the tables, or the set hash was replaced.
    func restart() { state.withLock { if $0 != nil { $0 = State() } } }

    func begin() { state.withLock { $0 = State() } }

    /// Scans the next slice, inside a transaction.
    /// - Returns: the sum of all rows when the scan is complete, else nil.
    func next(_ key: AuthenticationKey, in store: any ItemReading) throws(Failure) -> StoreSum? {
        guard var scan = state.withLock({ $0 }) else { return nil }
        var count = 0
        let collect: (RowMark) throws(Failure) -> Bool = { (mark) throws(Failure) in
            scan.sum.add(try RowHash(mark, key))
            scan.position = mark.position
            count += 1
            return count < Self.slice
        }
        switch scan.table {
        case .items: try store.forEachRowMark(behind: scan.position, collect)
        case .quarantine: try store.forEachQuarantinedMark(behind: scan.position, collect)
        case .done: break
        }
        if count < Self.slice {
            scan.position = .min
            scan.table = scan.table == .items ? .quarantine : .done
        }
        let isDone = if case .done = scan.table { true } else { false }
        let (sum, next) = (scan.sum, scan)
        state.withLock { $0 = isDone ? nil : next }
        return isDone ? sum : nil
    }
}

extension SetScan.State {
    /// The position up to which rows of `item` were scanned; the maximum while `quarantine` is scanned.
    fileprivate var passed: Int64 { if case .items = table { position } else { .max } }
}

extension Keychain {
    /// Starts comparing all rows with the set hash; `continueSetCheck` scans the slices.
    package func beginSetCheck() { scan.begin() }

    /// Scans the next 500 rows. Must be called on the writer thread.
    /// - Returns: nil while more rows follow, then whether the set hash matches.
    package func continueSetCheck() throws(Failure) -> Bool? {
        try store.write { (store) throws(Failure) in
            guard let sum = try scan.next(tree.setKey, in: store) else {
                // Another check shared the scan and has taken its result: this one begins again.
                if !scan.isUnderWay { scan.begin() }
                return nil
            }
            return try audit.end(in: store).numbers.sum == sum
        }
    }

    /// Commits an audit entry for rows that another program removed, restored or inserted.
    package func recordSetMismatch() throws(Failure) { try record(.rowsChanged, caller: nil) }

    /// Replaces the set hash by that of the current rows.
    func rebaseSum(in store: any ItemWriting) throws(Failure) {
        var sum = StoreSum()
        let key = tree.setKey
        let collect: (RowMark) throws(Failure) -> Bool = { (mark) throws(Failure) in
            sum.add(try RowHash(mark, key))
            return true
        }
        try store.forEachRowMark(behind: .min, collect)
        try store.forEachQuarantinedMark(behind: .min, collect)
        scan.restart()
        let counted = sum
        try audit.change(in: store) { (numbers) throws(Failure) in numbers.sum = counted }
    }
}

extension SetScan {
    var isUnderWay: Bool { state.withLock { $0 != nil } }
}
