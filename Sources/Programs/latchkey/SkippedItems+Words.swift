// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import LatchkeyModel

extension SkippedItems {
    /// A line for each listed item, and one for the rest.
    var words: String {
        guard count > 0 else { return "" }
        let first = localized.count(
            Int(clamping: count), "\(count) item was left out:", "\(count) items were left out:")
        return first + "\n" + Self.lines(named, of: count)
    }

    /// A line for each of the named items, and one for the rest of `count`.
    static func lines(_ named: [SkippedItem], of count: UInt64) -> String {
        let rest = count - UInt64(named.count)
        return named.map { "  \($0.words)\n" }.joined() + (rest > 0 ? "  " + localized("and \(rest) more") + "\n" : "")
    }
}

extension SkippedItem {
    /// One line that names the item and the reason.
    var words: String {
        let name = [label, service, account].filter { !$0.isEmpty }.map(\.withoutControls).joined(separator: " ")
        return
            "\(group.isEmpty ? "?" : group.withoutControls)  \(itemClass.kind)\(name.isEmpty ? "" : "  " + name): "
            + localized(reason.words)
    }

    var json: JSON {
        .object([
            ("class", .text("\(itemClass)")), ("group", .text(group)), ("account", .text(account)),
            ("service", .text(service)), ("label", .text(label)), ("reason", .text("\(reason)")),
        ])
    }
}
