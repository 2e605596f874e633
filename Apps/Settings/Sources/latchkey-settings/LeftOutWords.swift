// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The lines of a message about items that something left out.
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
        if rest > 0 { lines.append(words("and \(rest) more.")) }
        return lines
    }
}
