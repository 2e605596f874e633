// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The items that a backup passes by, for a person to read.
struct Staying {
    /// Named on the screen; the others are counted.
    private static let most = 1000
    private(set) var named: [StayingItem] = []
    private(set) var count: UInt64 = 0

    mutating func add(_ more: StayingItems) {
        count += more.count
        named += more.named.prefix(max(0, Self.most - named.count))
    }

    /// A line for each, by group, and one for the rest.
    var words: String {
        guard count > 0 else { return "" }
        var text = "\(count) \(count == 1 ? "item stays" : "items stay"):\n"
        for item in named { text += "  \(item.words)\n" }
        if count > UInt64(named.count) { text += "  and \(count - UInt64(named.count)) more\n" }
        return text
    }
}

extension StayingItem {
    fileprivate var words: String {
        let name = [label, service, account].filter { !$0.isEmpty }.map(Self.quoted).joined(separator: " ")
        return
            "\(group.isEmpty ? "?" : Self.quoted(group))  \(itemClass)\(name.isEmpty ? "" : "  " + name): \(reason.words)"
    }

    /// A name is an app's own text: no byte of it reaches the terminal as a control character.
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
