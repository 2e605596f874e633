// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The texts about items that apps get without a question.
enum OpenWords {
    /// An open padlock.
    static let icon = "changes-allow-symbolic"
    /// At the end of the row of an item.
    static let mark = words("No Question")
    static let name = words("Items without a question")
    static let askName = words("What is asked")
    static let askTitle = words("Ask before it is read")
    static let askText = words("Each time, for your finger, your face or the passcode.")
    private static let secretAdvice = words("Choose it in Apps to have Latchkey ask before it is read.")
    private static let appAdvice = words(
        "Only their apps can change that. What you can type again, delete in Apps, and type it in its app.")

    /// What a person can do about an item whose rule is its app's choice.
    static func advice(_ app: String) -> String {
        words(
            """
            Only \(app) can have Latchkey ask before it is read. If you can type it again, such as a password, delete it here and \
            type it in \(app): with a passcode set, an app can protect what it stores.
            """)
    }

    static func wasChanged(_ item: StoredItem, asks: Bool) -> String {
        let name = AppsWords.name(item)
        return asks
            ? words("Latchkey now asks before “\(name)” is read.")
            : words("Programs that may read “\(name)” now get it without a question.")
    }

    /// How many items are open.
    static func count(_ count: Int) -> String {
        words.count(count, "\(count) item opens without a question", "\(count) items open without a question")
    }

    /// Neutral: many apps store such items on purpose.
    static func text(_ open: OpenItems) -> String {
        open.areOlderThanPasscode
            ? words("Stored while no passcode was set. Apps shows which, and what you can do.")
            : words("Many apps store such items on purpose. Apps shows which, and what you can do.")
    }

    /// What a first passcode does not change.
    ///
    /// - Parameters:
    ///   - overview: the keychain since then; nil if it cannot be read.
    ///   - items: the items; nil if the keychain does not list them without a prompt.
    static func report(_ overview: KeychainOverview?, _ items: [StoredItem]?) -> [Operation.Outcome.Line] {
        let first = Operation.Outcome.Line(words: PasscodeWords.wasSet)
        guard let items else {
            guard let overview, !overview.listsItems, overview.itemCount > 0 else { return [] }
            let text = words("What apps stored before may still open without a question.")
            let more = words("Apps shows which items do, and what you can do.")
            return [first, Operation.Outcome.Line(words: text, more: more, mark: .open, page: .apps)]
        }
        let open = items.filter(\.isOpen)
        guard !open.isEmpty else { return [] }
        let text = words.count(
            open.count, "\(open.count) item still opens without a question.",
            "\(open.count) items still open without a question.")
        // What a person can do follows what it is about.
        var more: [String] = []
        for (items, advice) in [
            (open.filter { !$0.canBeProtected }, appAdvice), (open.filter(\.canBeProtected), secretAdvice),
        ] where !items.isEmpty { more += AppsWords.names(items) + [advice] }
        let line = Operation.Outcome.Line(words: text, more: more.joined(separator: "\n"), mark: .open, page: .apps)
        return [first, line]
    }
}
