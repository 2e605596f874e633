// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The items that the window has read since it started, also those that were deleted since.
///
/// The log has no names, because a name there would stay for ever. These are in the memory of this process only, and let the
/// page about activity name an item that was deleted while the window was open.
@MainActor final class SeenItems {
    private var items: [String: StoredItem] = [:]

    /// The item with this identifier; nil if the window has not read it.
    subscript(_ identifier: String) -> StoredItem? { items[identifier] }

    func add(_ read: [StoredItem]) {
        for item in read { items[item.id] = item }
    }

    func forget() { items = [:] }
}
