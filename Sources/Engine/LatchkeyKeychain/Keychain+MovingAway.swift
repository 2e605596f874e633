// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
import LatchkeySeams

/// The next items of a migration.
package struct MovingPage: Sendable {
    package var items: [FoundItem] = []
    package var report = MigrationReport()
    /// Position after which the next page begins; nil after the last page.
    package var next: Int64?
}

// The items that a user's own store hands to the system's keychain.

extension Keychain {
    /// Throws if no item may be moved now, even with the passcode: the store is locked, or in a state in which it
    /// refuses requests.
    package func checkMovingAway() throws(Failure) {
        try checkReadable()
        // While a security event is unfinished, protected items stay closed.
        try anchor.finish()
        guard !tree.lockState.isLocked else { throw Failure.locked }
    }

    /// Reports what a migration would do, without opening a protected secret.
    package func movingReport() throws(Failure) -> MigrationReport {
        try checkMovingAway()
        var report = MigrationReport()
        try store.read { (store) throws(Failure) in
            try store.forEachRow(.all) { (row) throws(Failure) in
                guard let item = try movable(row, &report) else { return true }
                let checked: Void? = try undamaged(row) { () throws(Failure) in
                    try envelopes.checkSecret(row, item, opensProtected: false)
                }
                guard checked != nil else {
                    report.lost.add(SkippedItem(row.itemClass, item.attributes, .unreadable))
                    return true
                }
                report.add(item.accessControl)
                report.add(group: item.accessGroup, as: "")
                return true
            }
            try addQuarantined(store, to: &report)
        }
        return report
    }

    /// Returns the next page of items to move, in insertion order.
    ///
    /// - Parameters:
    ///   - position: the `next` of the previous page; `BackupPage.start` for the first page.
    ///   - proof: a proof of the passcode, if one is set.
    package func movingPage(after position: Int64, caller: Caller, proof: Authorisation) throws(Failure) -> MovingPage {
        try checkMovingAway()
        if isPasscodeSet { try checkPasscode(proof, of: caller) }
        var page = MovingPage()
        var bytes = 0
        try store.read { (store) throws(Failure) in
            if position == BackupPage.start { try addQuarantined(store, to: &page.report) }
            try store.forEachRow(.all, behind: position) { (row) throws(Failure) in
                guard bytes < Limits.migratedPageBytes, page.items.count < Limits.migratedPageItems else {
                    return false
                }
                // A page with one large item may have nothing else, so that it fits a frame.
                let size = (row.secret?.count ?? 0) + row.attributes.count
                guard bytes == 0 || bytes + size <= Limits.migratedItemBytes else { return false }
                page.next = row.position
                bytes += try move(row, to: &page)
                return true
            }
        }
        return page
    }

    /// Adds a row to the page, as an item or with the reason why it is not moved.
    ///
    /// - Returns: the weight of the item in the page, in bytes.
    private func move(_ row: StoredRow, to page: inout MovingPage) throws(Failure) -> Int {
        guard let item = try movable(row, &page.report) else { return 0 }
        let opened = try undamaged(row) { () throws(Failure) in try found(row, item, [.attributes, .data]) }
        guard let opened else {
            page.report.lost.add(SkippedItem(row.itemClass, item.attributes, .unreadable))
            return 0
        }
        page.items.append(opened)
        return opened.weight
    }

    /// Returns the item of a row that can be moved; nil, with an entry in the report, for any other row.
    private func movable(_ row: StoredRow, _ report: inout MigrationReport) throws(Failure) -> Item? {
        guard let item = try undamaged(row, { () throws(Failure) in try envelopes.openAttributes(row) }) else {
            report.lost.add(SkippedItem(row.itemClass, nil, .unreadable))
            return nil
        }
        if isDead(item) {
            report.lost.add(SkippedItem(row.itemClass, item.attributes, .invalidated))
            return nil
        }
        let weight = FoundItem(itemClass: row.itemClass, attributes: item.attributes).weight + (row.secret?.count ?? 0)
        let reason = weight > Limits.migratedItemBytes ? .tooLarge : item.skippedInMove
        guard let reason else { return item }
        report.remaining.add(SkippedItem(row.itemClass, item.attributes, reason))
        return nil
    }

    private func addQuarantined(_ store: any ItemReading, to report: inout MigrationReport) throws(Failure) {
        try store.forEachQuarantined { (quarantined) throws(Failure) in
            report.lost.add(SkippedItem(quarantined.row.itemClass, nil, .unreadable))
            return true
        }
    }
}

extension Item {
    /// Why the item cannot be sealed by another keychain of the same machine; nil if it can.
    var skippedInMove: SkipReason? {
        if isInToken { return .inToken }
        // Sealing the secret again would need the application password.
        if asksForAppPassword { return .applicationPassword }
        // The other keychain has not seen the fingers for which the item was made.
        return accessControl.constraints.contains(.biometryCurrentSet) ? .boundToEnrolment : nil
    }
}
