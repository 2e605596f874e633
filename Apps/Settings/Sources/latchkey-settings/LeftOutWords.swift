// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The lines about items that something left out.
enum LeftOutWords {
    private static let limit = 10

    /// The name of an item, and of its app.
    static func name(_ item: KeychainControl.LeftOut) -> String {
        words("“\(item.name.isEmpty ? AppsWords.noName : item.name)” of \(AppsWords.app(item.app, nil))")
    }

    /// A line for each of at most ten items, and one for the others.
    static func lines(_ items: [KeychainControl.LeftOut], of count: UInt64) -> [String] {
        let shown = items.prefix(limit)
        var lines = shown.map { words("\(name($0)): \(words($0.reason))") }
        let rest = count - UInt64(shown.count)
        if rest > 0 { lines.append(more(Int(clamping: rest))) }
        return lines
    }

    static func more(_ count: Int) -> String { words("and \(count) more.") }

    /// A line for each reason, with the names of at most ten items.
    static func reasons(_ items: [KeychainControl.LeftOut]) -> [String] {
        var order: [String] = []
        var names: [String: [String]] = [:]
        for item in items {
            let reason = words(item.reason)
            if names[reason] == nil { order.append(reason) }
            names[reason, default: []].append("“\(item.name.isEmpty ? AppsWords.noName : item.name)”")
        }
        return order.map { reason in
            let all = names[reason] ?? []
            let rest = all.count - limit
            let shown = (all.prefix(limit) + (rest > 0 ? [more(rest)] : [])).joined(separator: ", ")
            return words("\(shown): \(reason)")
        }
    }
}
