// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Whether the files of the store have copies of rows from before they were sealed under more keys.
struct OldCopies: Sendable {
    var exist: Bool
    /// Called after an update that leaves such a copy.
    var handler: (@Sendable () -> Void)?
    /// Whether the handler was called since the copies were last erased.
    var isReported = false
}

extension Keychain {
    /// Whether the files have copies of rows from before they were sealed under more keys.
    package var hasOldCopies: Bool { oldCopies.withLock { $0.exist } }

    /// Sets the callback for the first update that leaves such a copy. It is not called when rows are sealed for a new
    /// passcode.
    package func whenOldCopiesExist(_ handler: @escaping @Sendable () -> Void) {
        oldCopies.withLock { $0.handler = handler }
    }

    /// Records that this transaction replaced `old` by `new`, if that leaves a copy which is sealed under fewer keys.
    ///
    /// The record lasts until the copies are erased, also when the daemon is killed before. It is not sealed: an attacker
    /// who can write the files could keep a copy of them as well.
    func noteOldCopy(of old: Item, replacedBy new: Item, in store: any ItemWriting) throws(Failure) {
        let isSealedMore =
            (needsPasscodeKey(new) && !needsPasscodeKey(old)) || (new.asksForAppPassword && !old.asksForAppPassword)
        guard isSealedMore else { return }
        // If the transaction is rolled back, there is nothing to erase, which does no harm.
        oldCopies.withLock { $0.exist = true }
        if try store.record(.oldCopies) == nil { try store.setRecord(RecordName.oldCopies.rawValue, []) }
    }

    /// Whether only the passcode opens the secret for an attacker who has the files. These contain the key of the current
    /// enrolment set, but not that of an earlier one.
    private func needsPasscodeKey(_ item: Item) -> Bool {
        item.accessControl.accessibility == .whenPasscodeSetThisDeviceOnly
            || (item.isSealedForPair && (item.passcodeSealing == .always || isStale(item)))
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

    /// Erases from the files what rows contained before they were sealed again.
    ///
    /// - Returns: false if a reader of the database prevents it for now.
    package func eraseOldCopies() throws(Failure) -> Bool {
        guard try store.eraseOldCopies() else { return false }
        try write { (store) throws(Failure) in try store.setRecord(RecordName.oldCopies.rawValue, nil) }
        oldCopies.withLock { state in
            state.exist = false
            state.isReported = false
        }
        return true
    }
}
