// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Whether the files of the store may have what rows contained before they were deleted or replaced. The record `copies` says
/// the same after a kill.
struct OldCopies: Sendable {
    /// The values of the record. It is not sealed: an attacker who can write the files could keep a copy of them as well.
    enum Record {
        /// Rows were sealed under more keys than before; the earlier ones are erased within a minute.
        static let weaker: [UInt8] = []
        /// Rows were deleted or replaced; the earlier ones are erased at the next clean stop.
        static let deleted: [UInt8] = [1]
    }

    /// Whether there are copies of rows from before they were sealed under more keys.
    var exist: Bool
    /// Whether there may be rows that were deleted or replaced.
    var areDeleted: Bool
    /// Changes with each of them, so that one that comes during an erasure is not forgotten with the earlier ones.
    var changes = 0
    /// Called after an update that leaves such a copy.
    var handler: (@Sendable () -> Void)?
    /// Whether the handler was called since the copies were last erased.
    var isReported = false

    /// - Parameter record: the value of the record; nil if there is none.
    init(_ record: [UInt8]?) {
        areDeleted = record != nil
        // Any other value is not ours; erasing sooner does no harm.
        exist = record != nil && record != Record.deleted
    }
}

extension Keychain {
    /// Whether the files have copies of rows from before they were sealed under more keys.
    package var hasOldCopies: Bool { oldCopies.withLock { $0.exist } }

    /// Whether the files may have what rows contained before they were deleted or replaced.
    package var hasDeletedRows: Bool { oldCopies.withLock { $0.areDeleted } }

    /// Sets the callback for the first update that leaves such a copy. It is not called when rows are sealed for a new
    /// passcode.
    package func whenOldCopiesExist(_ handler: @escaping @Sendable () -> Void) {
        oldCopies.withLock { $0.handler = handler }
    }

    /// Records that this transaction replaced `old` by `new`, if that leaves a copy which is sealed under fewer keys.
    ///
    /// The record lasts until the copies are erased, also when the daemon is killed before.
    func recordOldCopy(of old: Item, replacedBy new: Item, in store: any ItemWriting) throws(Failure) {
        let isSealedMore =
            (needsPasscodeKey(new) && !needsPasscodeKey(old)) || (new.asksForAppPassword && !old.asksForAppPassword)
        guard isSealedMore else { return }
        // If the transaction is rolled back, there is nothing to erase, which does no harm.
        oldCopies.withLock { state in
            state.exist = true
            state.changes += 1
        }
        if try store.record(.oldCopies) != OldCopies.Record.weaker {
            try store.setRecord(RecordName.oldCopies.rawValue, OldCopies.Record.weaker)
        }
    }

    /// Records that this transaction deletes or replaces a row, which `root.key` opens as long as its bytes are in a file.
    func recordDeletion(in store: any ItemWriting) throws(Failure) {
        oldCopies.withLock { state in
            state.areDeleted = true
            state.changes += 1
        }
        if try store.record(.oldCopies) == nil {
            try store.setRecord(RecordName.oldCopies.rawValue, OldCopies.Record.deleted)
        }
    }

    /// Calls the handler if there are old copies that it was not called for.
    func reportOldCopies() {
        let handler = oldCopies.withLock { state -> (@Sendable () -> Void)? in
            guard state.exist, !state.isReported else { return nil }
            state.isReported = true
            return state.handler
        }
        handler?()
    }

    /// Erases from the files what rows contained before they were deleted, replaced or sealed again.
    ///
    /// - Parameter waits: whether to wait for reads in progress, and for some seconds for other readers of the database.
    /// - Returns: false if a reader of the database prevents it for now.
    package func eraseOldCopies(waits: Bool = false) throws(Failure) -> Bool {
        let changes = oldCopies.withLock { $0.changes }
        guard try store.eraseOldCopies(waits: waits) else { return false }
        let isErased = try write { (store) throws(Failure) in
            // No row is deleted or replaced during this transaction.
            guard oldCopies.withLock({ $0.changes }) == changes else { return false }
            try store.setRecord(RecordName.oldCopies.rawValue, nil)
            return true
        }
        oldCopies.withLock { state in
            // A later transaction has set the record again.
            guard isErased, state.changes == changes else { return }
            (state.exist, state.areDeleted) = (false, false)
            state.isReported = false
        }
        return isErased
    }

    /// Moves all commits from the log of the database to its file, before the daemon exits. Without a reader the log is empty
    /// afterwards.
    package func mergeLog() throws(Failure) { _ = try store.mergeLog() }
}
