// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
import LatchkeySeams

/// One page of an export.
package struct BackupPage: Sendable {
    /// The position to begin with. Positions start at 1, but an edited file may hold smaller ones.
    package static let start = Int64.min

    package var items: [FoundItem] = []
    package var skipped = SkippedItems()
    /// Position after which the next page begins; nil after the last page.
    package var next: Int64?
}

/// The result of importing one item of a backup.
package enum Restored: Equatable, Sendable {
    case added
    /// An item with the same primary key exists and is unchanged.
    case present
    /// The item was not imported, for that reason.
    case skipped(SkipReason)
}

extension Keychain {
    /// Limits of one page: rows read, and bytes of its items.
    private static let pageRows = 256
    private static let pageBytes = Limits.exportedBytes

    /// Returns the groups whose items the caller may export or import: all groups (nil) when a passcode is set, else
    /// the caller's own groups.
    ///
    /// Throws if a passcode is set and `proof` is not a proof of it for this caller, also when the passcode was set
    /// after the export began. Throws `passcodeNotSet` if none is set and the tier is `file` or `tpm`.
    private func backupGroups(_ caller: Caller, _ proof: Authorisation) throws(Failure) -> [String]? {
        try checkReadable()
        // While a security event is unfinished, protected items are not exported.
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

    /// Checks whether an export or import may begin. Throws if it would be refused even with the passcode.
    /// - Returns: whether a proof of the passcode is required.
    package func backupNeedsPasscode(_ caller: Caller) throws(Failure) -> Bool {
        if isPasscodeSet {
            try checkReadable()
            guard !tree.lockState.isLocked else { throw Failure.locked }
            return true
        }
        _ = try backupGroups(caller, .none)
        return false
    }

    /// Returns the next page of items, in insertion order.
    ///
    /// - Parameters:
    ///   - position: the `next` of the previous page; `BackupPage.start` for the first page.
    ///   - proof: a proof of the passcode, if one is set.
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

    /// Adds a row to the page, as an item or with the reason why it is not exported.
    /// - Returns: the weight of the item in the page, in bytes.
    private func add(_ row: StoredRow, of groups: [String]?, to page: inout BackupPage) throws(Failure) -> Int {
        // A damaged row is listed with its class, and the export continues.
        let item = try undamaged(row) { () throws(Failure) in try envelopes.openAttributes(row) }
        if let groups {
            // Without a passcode, items of other apps are not even listed.
            guard let item, groups.containsBytes(of: item.accessGroup) else { return 0 }
        }
        guard let item else {
            page.skipped.add(SkippedItem(row.itemClass, nil, .unreadable))
            return 0
        }
        if let reason = item.accessControl.skipReason(isInToken: item.isInToken) {
            page.skipped.add(SkippedItem(row.itemClass, item.attributes, reason))
            return 0
        }
        let opened = try undamaged(row) { () throws(Failure) in try found(row, item, [.attributes, .data]) }
        guard let opened else {
            page.skipped.add(SkippedItem(row.itemClass, item.attributes, .unreadable))
            return 0
        }
        page.items.append(opened)
        return opened.weight
    }

    /// Adds an item of a backup with its group and its dates. An existing item with the same primary key is not
    /// replaced.
    package func restore(_ found: FoundItem, caller: Caller, proof: Authorisation) throws(Failure) -> Restored {
        let groups = try backupGroups(caller, proof)
        guard var attributes = found.attributes, let control = found.accessControl,
            case .text(let group) = attributes[.accessGroup]
        else { throw Failure(.invalidParameter, "The item of the backup lacks its group or its access control.") }
        if let groups, !groups.containsBytes(of: group) { return .skipped(.foreignGroup) }
        guard canBelong(to: group) else { return .skipped(.impossibleGroup) }
        if let reason = control.skipReason(isInToken: attributes[.tokenID] != nil) { return .skipped(reason) }
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

extension Keychain {
    /// The group of smart cards (`kSecAttrAccessGroupToken`), which no app has (behaviour KC-16).
    private static let tokenGroup = "com.apple.token"

    /// Whether an app of this user can have the access group. No program would find, list or delete an item of any other one.
    private func canBelong(to group: String) -> Bool {
        guard (1...Limits.applicationBytes).contains(group.utf8.count), group != Self.tokenGroup else { return false }
        switch tree.header.tier {
        // An app names its groups itself.
        case .user, .simulated: return true
        case .file, .tpm: break
        }
        let isPlain = group.utf8.allSatisfy { (0x20...0x7e).contains($0) }
        if group.begins(with: "/") {
            let parts = group.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            return isPlain
                && !parts.contains { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
        }
        if group.begins(with: "user:") { return group == "user:\(tree.header.userID)" }
        if group.begins(with: "unit:") { return isPlain && group.ends(with: ".service") }
        // The name or a group of a declaration, which may be installed later.
        return group == group.withoutControls
    }
}
