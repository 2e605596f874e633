// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyDesktop
import LatchkeyModel

extension FoundItem {
    var protection: String { accessControl?.protection ?? "none" }

    /// The class as tables show it, such as `password`.
    var kind: String { itemClass.kind }
}

extension ItemClass {
    /// The class in plain words, such as `password`.
    var kind: String {
        switch self {
        case .genericPassword: localized("password")
        case .internetPassword: localized("internet password")
        case .certificate: localized("certificate")
        case .key: localized("key")
        case .secret: localized("secret of a program")
        }
    }
}

/// Names of the items of this command's own groups, by their names in the audit log.
struct ItemNames {
    private let names: [[UInt8]: String]

    /// Reads the names without a prompt. Deleted items and those of other groups have none. If the store cannot be
    /// read, no item has a name, and the audit log is shown without names.
    init() {
        let items = ItemClass.allCases.flatMap { itemClass in
            (try? Client.command.items(ItemQuery(itemClass: itemClass))) ?? []
        }
        names = items.reduce(into: [:]) { names, item in
            guard let id = item.auditName else { return }
            let place = item.place.isEmpty || item.place == "latchkey" ? "" : item.place + " "
            names[id] = place + item.name
        }
    }

    subscript(_ id: [UInt8]) -> String? { names[id] }
}

/// The items that a command deletes, listed before the user confirms.
struct DoomedItems {
    private static let most = 20
    let items: [FoundItem]

    /// Those of a list of items for which `isDoomed` returns true.
    init(of all: [FoundItem], where isDoomed: (FoundItem) -> Bool) { items = all.filter(isDoomed) }

    /// "2 items are deleted:" and a line for each of at most 20 items.
    var words: String {
        guard !items.isEmpty else { return localized("No item is deleted.") + "\n" }
        return localized.count(items.count, "One item is deleted:", "\(items.count) items are deleted:") + "\n" + lines
    }

    /// A line for each of at most 20 items, and one for the rest.
    var lines: String {
        var text = ""
        for item in items.prefix(Self.most) {
            text += Table.text([["  " + localized("\(item.title), \(item.kind) of \(item.text(.accessGroup))")]])
        }
        if items.count > Self.most {
            text += "  " + localized("and \(items.count - Self.most) more, see: latchkey list --all") + "\n"
        }
        return text
    }
}
