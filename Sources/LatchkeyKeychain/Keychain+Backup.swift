// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
import LatchkeySeams

/// Some items of a keychain for a backup.
package struct BackupPage: Sendable {
    package var items: [FoundItem] = []
    package var staying = StayingItems()
    /// Where the next page begins; nil after the last.
    package var next: Int64?
}

/// What became of an item of a backup.
package enum Restored: Equatable, Sendable {
    case added
    /// There is one with its primary key, which stays as it is.
    case present
    case stays(StayReason)
}

extension Keychain {
    /// Rows that one page looks at, and bytes of what it holds.
    private static let pageRows = 256
    private static let pageBytes = Limits.exportedBytes

    /// The groups whose items a backup holds: with the passcode, proven for that session, those of every app (nil); without
    /// one the caller's own, and in tiers with an account nothing.
    ///
    /// Throws unless `proof` is what this store asks for now: a passcode that was set meanwhile is asked for.
    private func backupGroups(_ caller: Caller, _ proof: Authorisation) throws(Failure) -> [String]? {
        try checkReadable()
        // While a security event is unfinished no protected item leaves.
        try anchor.finish()
        guard !tree.lockState.isLocked else { throw Failure.locked }
        if isPasscodeSet {
            try checkPasscode(proof, of: caller)
            return nil
        }
        switch tree.header.tier {
        case .user, .simulated: break
        case .file, .tpm:
            throw Failure(
                .passcodeNotSet, "A backup needs a passcode here, and none is set.",
                hint: "Set one with: latchkey passcode set")
        }
        guard !caller.groups.isEmpty else { throw Failure(.missingEntitlement, "The caller has no access group.") }
        return caller.groups
    }

    /// Throws unless an export or import may begin, once the passcode is proven where one is set.
    /// - Returns: whether the passcode is asked for.
    package func backupNeedsPasscode(_ caller: Caller) throws(Failure) -> Bool {
        if isPasscodeSet {
            try checkReadable()
            guard !tree.lockState.isLocked else { throw Failure.locked }
            return true
        }
        _ = try backupGroups(caller, .none)
        return false
    }

    /// The items behind a position, in the order in which they were added.
    package func page(after position: Int64, caller: Caller, proof: Authorisation) throws(Failure) -> BackupPage {
        let groups = try backupGroups(caller, proof)
        var page = BackupPage()
        var bytes = 0
        var rows = 0
        try store.read { (store) throws(Failure) in
            try store.forEachRow(.all, behind: position) { (row) throws(Failure) in
                guard bytes < Self.pageBytes, rows < Self.pageRows else { return false }
                rows += 1
                page.next = row.position
                bytes += try add(row, of: groups, to: &page)
                return true
            }
        }
        return page
    }

    /// Adds an item of those groups, or why it stays.
    /// - Returns: the bytes that it takes.
    private func add(_ row: StoredRow, of groups: [String]?, to page: inout BackupPage) throws(Failure) -> Int {
        // What cannot be opened is named by its class: the backup of the rest goes on.
        let item = try undamaged(row) { () throws(Failure) in try envelopes.openAttributes(row) }
        if let groups {
            // Without a passcode nothing is said about items of other apps.
            guard let item, groups.contains(item.accessGroup) else { return 0 }
        }
        guard let item else {
            page.staying.add(StayingItem(row.itemClass, nil, .unreadable))
            return 0
        }
        if let reason = item.accessControl.staying(isInToken: item.isInToken) {
            page.staying.add(StayingItem(row.itemClass, item.attributes, reason))
            return 0
        }
        let opened = try undamaged(row) { () throws(Failure) in try found(row, item, [.attributes, .data]) }
        guard let opened else {
            page.staying.add(StayingItem(row.itemClass, item.attributes, .unreadable))
            return 0
        }
        page.items.append(opened)
        return opened.weight
    }

    /// Adds an item of a backup with its group and its dates. One whose primary key exists stays as it is.
    package func restore(_ found: FoundItem, caller: Caller, proof: Authorisation) throws(Failure) -> Restored {
        let groups = try backupGroups(caller, proof)
        guard var attributes = found.attributes, let control = found.accessControl,
            case .text(let group) = attributes[.accessGroup]
        else { throw Failure(.invalidParameter, "The item of the backup lacks its group or its rule.") }
        if let groups, !groups.contains(group) { return .stays(.foreignGroup) }
        if let reason = control.staying(isInToken: attributes[.tokenID] != nil) { return .stays(reason) }
        let dates: Attributes = attributes.filter { [.creationDate, .modificationDate].contains($0.key) }
        for code in dates.keys { attributes[code] = nil }
        var owner = caller
        owner.groups = [group]
        let request = Request.AddItem(
            itemClass: found.itemClass, attributes: attributes, accessControl: control, secret: found.secret,
            returns: [], authentication: Authentication())
        do throws(Failure) {
            _ = try add(request, caller: owner, password: .none, dates: dates)
        } catch {
            guard error.status == .duplicateItem else { throw error }
            return .present
        }
        return .added
    }
}
