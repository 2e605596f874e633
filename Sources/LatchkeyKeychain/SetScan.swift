// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Compares the rows of the store with the set hash of the newest audit row, in slices of 500 rows between which others
/// read and write: an old or deleted row that was put back shows here.
///
/// A slice runs inside a transaction that writes nothing, so no other writer runs; writes between slices apply their
/// difference to rows that were passed already.
final class SetScan: Sendable {
    /// Rows of one slice: about a millisecond.
    static let slice = 500

    fileprivate enum Table: Sendable { case items, quarantine, done }
    fileprivate struct State: Sendable {
        var table = Table.items
        var position = Int64.min
        var sum = StoreSum()
        /// Differences of the transaction that is open; dropped when it is undone.
        var pending: [(hash: RowHash, isAdded: Bool)] = []
    }

    /// nil: no scan is under way.
    fileprivate let state = Mutex<State?>(nil)

    /// Notes the changes of an open transaction, as far as they concern rows that were passed.
    func note(added: (position: Int64, hash: RowHash)?, removed: (position: Int64, hash: RowHash)?) {
        state.withLock { state in
            guard let passed = state?.passed else { return }
            if let added, added.position <= passed { state?.pending.append((added.hash, true)) }
            if let removed, removed.position <= passed { state?.pending.append((removed.hash, false)) }
        }
    }

    /// Ends the open transaction.
    func settle(committed: Bool) {
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

    /// A row that is put aside or brought back changes its table: the scan begins again.
    func restart() { state.withLock { if $0 != nil { $0 = State() } } }

    /// Begins a scan.
    func begin() { state.withLock { $0 = State() } }

    /// Goes through the next slice, in a transaction of its own.
    /// - Returns: the sum of all rows as soon as the scan is complete.
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
    /// The position up to which items were counted.
    fileprivate var passed: Int64 {
        if case .items = table { position } else { .max }
    }
}

extension Keychain {
    /// Begins to compare all rows with the set hash; `continueSetCheck` does the work.
    package func beginSetCheck() { scan.begin() }

    /// Goes through the next 500 rows. Called where writes run.
    /// - Returns: nil while more follow, and in the end whether the rows are those that were stored.
    package func continueSetCheck() throws(Failure) -> Bool? {
        try store.write { (store) throws(Failure) in
            guard let sum = try scan.next(tree.setKey, in: store) else { return scan.isUnderWay ? nil : true }
            return try audit.end(in: store).numbers.sum == sum
        }
    }

    /// Writes down that rows were put back or taken out by something else than this program.
    package func recordSetMismatch() throws(Failure) { try record(.rowsChanged, caller: nil) }

    /// Takes the rows as they are now for the set that is checked from now on.
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
    /// Whether slices are left.
    var isUnderWay: Bool { state.withLock { $0 != nil } }
}
