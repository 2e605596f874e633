// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The items that a backup leaves out, listed for the user.
struct Staying {
    /// Maximum number of items that are listed; the others are only counted.
    private static let most = 1000
    private(set) var named: [StayingItem] = []
    private(set) var count: UInt64 = 0

    mutating func add(_ more: StayingItems) {
        count += more.count
        named += more.named.prefix(max(0, Self.most - named.count))
    }

    /// A line for each listed item, and one for the rest.
    var words: String {
        guard count > 0 else { return "" }
        var text = "\(count) \(count == 1 ? "item was" : "items were") left out:\n"
        for item in named { text += "  \(item.words)\n" }
        if count > UInt64(named.count) { text += "  and \(count - UInt64(named.count)) more\n" }
        return text
    }
}

extension StayingItem {
    /// One line that names the item and the reason.
    var words: String {
        let name = [label, service, account].filter { !$0.isEmpty }.map(Self.quoted).joined(separator: " ")
        return
            "\(group.isEmpty ? "?" : Self.quoted(group))  \(itemClass)\(name.isEmpty ? "" : "  " + name): \(reason.words)"
    }

    /// Replaces control characters: a name is text of an app and must not control the terminal.
    private static func quoted(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                    Character("\u{fffd}")
                default: Character(scalar)
                }
            })
    }

    var json: JSON {
        .object([
            ("class", .text("\(itemClass)")), ("group", .text(group)), ("account", .text(account)),
            ("service", .text(service)), ("label", .text(label)), ("reason", .text("\(reason)")),
        ])
    }
}
