// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
import LatchkeySeams

/// What became of the items that the system's keychain received from a user's own store.
package struct ReceivedItems: Equatable, Sendable {
    package var report: MigrationReport
    /// Whether the items were added; otherwise the report says what would have happened.
    package var areAdded: Bool
}

// The items that the system's keychain receives from a user's own store.

extension Keychain {
    /// Adds items of another store in one transaction: all of them, or none if this throws.
    ///
    /// Of two items with the same primary key, the one with the later modification date remains; with equal dates the one
    /// of this keychain. The dates and contents are those that the other store claims, so a date in the future counts as now.
    ///
    /// Neither the report nor what is added depends on the contents of an item of this keychain: the other store may be a
    /// program that guesses. Only names and dates are compared, which the passcode permits to see.
    ///
    /// - Parameters:
    ///   - items: items with attributes, access control and secret.
    ///   - caller: the program for which the user authorised the migration.
    ///   - proof: a proof of the passcode for `caller`.
    ///   - asksIfItemsRemain: whether to add nothing if the report would have a remaining item.
    ///   - map: returns the access group of this keychain for a group of the other store; throws if that cannot be
    ///     determined now.
    package func receive(
        _ items: HeldItems, caller: Caller, proof: Authorisation, asksIfItemsRemain: Bool = false,
        map: (String) throws(Failure) -> String
    ) throws(Failure) -> ReceivedItems {
        try checkReadable()
        try anchor.finish()
        guard !tree.lockState.isLocked else { throw Failure.locked }
        try checkPasscode(proof, of: caller)
        defer {
            reportDamage()
            reportOldCopies()
        }
        let targets = try targets(of: items, map)
        var incomplete: MigrationReport?
        do throws(Failure) {
            return try writeWithinQuota { (store) throws(Failure) in
                var receipt = Receipt()
                try items.visit { (found) throws(Failure) in
                    guard let target = targets[found.accessGroup ?? ""] else { throw Self.noGroup }
                    try receive(found, as: target, caller, &receipt, store)
                }
                if asksIfItemsRemain, receipt.report.remaining.count > 0 {
                    incomplete = receipt.report
                    throw Self.wouldLeaveItems
                }
                try checkRoom(for: .migrated, in: store)
                _ = try audit.append(.migrated, caller: caller, to: store)
                return ReceivedItems(report: receipt.report, areAdded: true)
            }
        } catch {
            // The transaction was rolled back. A failure to do so is another one, and is not hidden by the report.
            guard let incomplete, error == Self.wouldLeaveItems else { throw error }
            return ReceivedItems(report: incomplete, areAdded: false)
        }
    }

    private static var wouldLeaveItems: Failure { Failure(.userCancel) }

    /// The groups of the items in this keychain, by their groups in the other store. Determined before the transaction,
    /// because it reads files.
    private func targets(
        of items: HeldItems, _ map: (String) throws(Failure) -> String
    ) throws(Failure) -> [String: String] {
        var targets: [String: String] = [:]
        try items.visit { (item) throws(Failure) in
            guard let group = item.accessGroup else { throw Self.noGroup }
            guard targets[group] == nil else { return }
            guard targets.count < Limits.migratedGroups else {
                throw Failure(
                    .limitExceeded, "A migration has at most \(Limits.migratedGroups) access groups.",
                    hint: "Delete items that are not needed from the own store, then run latchkey migrate again.")
            }
            targets[group] = try map(group)
        }
        return targets
    }

    private static var noGroup: Failure {
        Failure(.invalidParameter, "An item of the migration has no access group.")
    }

    /// What a migration has done so far.
    private struct Receipt {
        var report = MigrationReport()
        var keys: Set<[UInt8]> = []
    }

    private func receive(
        _ found: FoundItem, as target: String, _ caller: Caller, _ receipt: inout Receipt, _ store: any ItemWriting
    ) throws(Failure) {
        let item = try incoming(found, target, caller)
        guard let attributes = found.attributes, let group = found.accessGroup else { throw Self.noGroup }
        // Checked again here: the other store decides what it sends.
        if let reason = item.skippedInMove {
            return receipt.report.remaining.add(SkippedItem(found.itemClass, attributes, reason))
        }
        let row = try sealed(item, found.itemClass, found.secret, .none)
        guard receipt.keys.insert(row.primaryKey).inserted else {
            return receipt.report.remaining.add(SkippedItem(found.itemClass, attributes, .nameTaken))
        }
        switch try existing(row.primaryKey, store) {
        case nil:
            try insertRow(row, store)
            _ = try audit.append(.added, item: row.id, caller: caller, to: store)
        case (let old, let oldItem)?:
            switch try order(item, old, oldItem) {
            case .present:
                receipt.report.present += 1
                return receipt.report.add(group: group, as: target)
            case .skipped(let reason):
                return receipt.report.remaining.add(SkippedItem(found.itemClass, attributes, reason))
            case .newer:
                try replace(old, by: item, found.secret, store)
                if old.secret != nil { try recordOldCopy(of: oldItem, replacedBy: item, in: store) }
                _ = try audit.append(.updated, item: old.id, caller: caller, to: store)
                receipt.report.replaced.add(SkippedItem(found.itemClass, attributes, .olderThere))
            }
        }
        receipt.report.add(item.accessControl)
        receipt.report.add(group: group, as: target)
    }

    private func incoming(_ found: FoundItem, _ target: String, _ caller: Caller) throws(Failure) -> Item {
        guard var attributes = found.attributes, let control = found.accessControl else {
            throw Failure(.invalidParameter, "An item of the migration lacks its attributes or its access control.")
        }
        let now = clock.wallTime
        var dates: Attributes = [:]
        for code in [AttributeCode.creationDate, .modificationDate] {
            if case .date(let date)? = attributes[code] { dates[code] = .date(min(date, now)) }
            attributes[code] = nil
        }
        // A key of an enclave is left out before it is sealed; nothing else may pass for one.
        if attributes[.tokenID] != nil || attributes[.publicKey] != nil {
            return Item(attributes: attributes, accessControl: control)
        }
        attributes[.accessGroup] = .text(target)
        var owner = caller
        owner.groups = [target]
        let request = Request.AddItem(
            itemClass: found.itemClass, attributes: attributes, accessControl: control, secret: found.secret,
            returns: [], authentication: Authentication())
        var item = try newItem(request, owner, .none)
        item.attributes.merge(dates)
        return item
    }

    /// How an incoming item compares with the one of this keychain.
    private enum Order {
        /// Both were modified at the same time: the item of an earlier, interrupted migration.
        case present
        case newer
        /// The one of this keychain remains.
        case skipped(SkipReason)
    }

    private func order(_ item: Item, _ row: StoredRow, _ other: Item) throws(Failure) -> Order {
        // An item that a migration cannot bring is never replaced by one.
        guard other.skippedInMove == nil else { return .skipped(.irreplaceableThere) }
        let opened = try undamaged(row) { () throws(Failure) in try envelopes.openSecret(row, other) }
        // A damaged secret is left to the quarantine and not overwritten.
        guard opened != nil else { return .skipped(.unreadableThere) }
        // The opened secret is compared with nothing. "Equal" or "different" for each item, in a transaction that is rolled
        // back, would tell every secret of the keychain to a program that guesses.
        guard case .date(let date)? = item.attributes[.modificationDate],
            case .date(let otherDate)? = other.attributes[.modificationDate], date >= otherDate
        else { return .skipped(.newerThere) }
        return date == otherDate ? .present : .newer
    }

    private func replace(
        _ row: StoredRow, by item: Item, _ secret: SecretBytes?, _ store: any ItemWriting
    ) throws(Failure) {
        var next = row
        next.version &+= 1
        try index.fill(&next, item)
        next.secret = nil
        try envelopes.begin(&next)
        if let secret { next.secret = try envelopes.sealSecret(secret, item, next) }
        next.attributes = try envelopes.sealAttributes(item, next)
        try checkRoom(for: next, insteadOf: row, in: store)
        try replaceRow(row, by: next, store)
    }
}

extension FoundItem {
    fileprivate var accessGroup: String? {
        if case .text(let group)? = attributes?[.accessGroup] { group } else { nil }
    }
}
