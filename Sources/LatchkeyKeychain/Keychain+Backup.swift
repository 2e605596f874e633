// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// Some items of a keychain for a backup.
package struct BackupPage: Sendable {
    package var items: [FoundItem] = []
    /// Items that stay: bound to this device, to the enrolled fingers, to a password of the app's own, or unreadable.
    package var leftOut: UInt64 = 0
    /// Where the next page begins; nil after the last.
    package var next: Int64?
}

extension Keychain {
    /// Bytes of secrets in one page, about.
    private static let pageBytes = 256 << 10
    private static let pageItems = 256

    /// The items behind a position, of every group, in the order in which they were added.
    package func page(after position: Int64) throws(Failure) -> BackupPage {
        try checkReadable()
        guard !tree.lockState.isLocked else { throw Failure.locked }
        var page = BackupPage()
        var bytes = 0
        try store.read { (store) throws(Failure) in
            try store.forEachRow(.all, behind: position) { (row) throws(Failure) in
                guard bytes < Self.pageBytes, page.items.count < Self.pageItems else { return false }
                page.next = row.position
                guard let item = try? envelopes.openAttributes(row), isPortable(item),
                    let found = try? found(row, item, [.attributes, .data])
                else {
                    page.leftOut += 1
                    return true
                }
                bytes += 512 + (found.secret?.count ?? 0)
                page.items.append(found)
                return true
            }
        }
        return page
    }

    private func isPortable(_ item: Item) -> Bool {
        !item.accessControl.accessibility.isThisDeviceOnly && item.enrolment == nil && !item.isInToken
            && !item.accessControl.constraints.contains(.applicationPassword)
    }

    /// Adds an item of a backup with its group and its dates; throws `duplicateItem` when there is one already.
    package func restore(_ found: FoundItem, caller: Caller) throws(Failure) {
        guard var attributes = found.attributes, let control = found.accessControl,
            case .text(let group) = attributes[.accessGroup]
        else { throw Failure(.invalidParameter, "The item of the backup lacks its group or its rule.") }
        guard !control.accessibility.isThisDeviceOnly else {
            throw Failure(.invalidParameter, "An item of the backup is bound to another device.")
        }
        let dates: Attributes = attributes.filter { [.creationDate, .modificationDate].contains($0.key) }
        for code in dates.keys { attributes[code] = nil }
        var owner = caller
        owner.groups = [group]
        let request = Request.AddItem(
            itemClass: found.itemClass, attributes: attributes, accessControl: control, secret: found.secret,
            returns: [], authentication: Authentication())
        _ = try add(request, caller: owner, dates: dates)
    }
}
