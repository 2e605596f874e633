// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

extension FoundItem {
    func text(_ code: AttributeCode) -> String {
        switch attributes?[code] {
        case .text(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self) ?? Hexadecimal.encode(bytes)
        default: ""
        }
    }

    var protection: String { accessControl?.protection ?? "none" }

    /// The name shown to the user: the account, the tag of a key, or else the label.
    var name: String {
        let names = [text(.account), itemClass == .key ? text(.applicationTag) : "", text(.label)]
        return names.first { !$0.isEmpty } ?? ""
    }

    /// The class as tables show it, such as `password`.
    var kind: String {
        switch itemClass {
        case .genericPassword: "password"
        case .internetPassword: "internet password"
        case .certificate: "certificate"
        case .key: "key"
        }
    }

    /// The service, or the server of an internet password.
    var place: String { itemClass == .internetPassword ? text(.server) : text(.service) }

    /// The item's name in the audit log: bytes 2 to 17 of its persistent reference (`PersistentReference` of the
    /// daemon).
    fileprivate var auditName: [UInt8]? {
        guard let reference = persistentReference, reference.count == 34 else { return nil }
        return Array(reference[2..<18])
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

    /// The items of every group for whose access control `isDoomed` returns true.
    init(where isDoomed: (AccessControl) -> Bool) throws(Failure) {
        items = try Client.command.items(nil).filter { $0.accessControl.map(isDoomed) ?? false }
    }

    /// "2 items are deleted:" and a line for each of at most 20 items.
    var words: String {
        guard !items.isEmpty else { return "No item is deleted.\n" }
        var text = items.count == 1 ? "One item is deleted:\n" : "\(items.count) items are deleted:\n"
        for item in items.prefix(Self.most) {
            // The default service of the command is left out.
            let place = item.place == "latchkey" ? "" : item.place
            let name = [place, item.name].filter { !$0.isEmpty }.joined(separator: " ")
            text += Table.text([["  \(name), \(item.kind) of \(item.text(.accessGroup))"]])
        }
        if items.count > Self.most { text += "  and \(items.count - Self.most) more, see: latchkey list --all\n" }
        return text
    }
}
