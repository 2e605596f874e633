// SPDX-License-Identifier: Apache-2.0

/// The languages that a person prefers, from the environment variables of locale(7) and of GNU gettext.
package enum LocaleName {
    package static let variables = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"]
    /// Maximum number of languages of `LANGUAGE` that are considered.
    private static let languageLimit = 16

    /// The names of catalogues to look for, the preferred one first; English, which needs none, ends the list.
    ///
    /// `LANGUAGE` is a list with precedence over the locale, but has no effect in the locale `C`, which programs set to
    /// get texts that other programs can read (gettext manual, "The LANGUAGE variable"). `C.UTF-8` is treated as `C`.
    package static func languages(_ variable: (String) -> String?) -> [String] {
        let locale = value("LC_MESSAGES", variable) ?? ""
        guard !["", "C", "POSIX"].contains(language(of: locale)) else { return [] }
        let list = variable("LANGUAGE").flatMap { $0.isEmpty ? nil : $0 } ?? locale
        var found: [String] = []
        for entry in list.split(separator: ":").prefix(languageLimit) {
            let candidates = catalogues(of: String(entry))
            if let last = candidates.last, ["en", "C", "POSIX"].contains(last) { break }
            for name in candidates where !found.contains(name) { found.append(name) }
        }
        return found
    }

    /// Whether the locale's characters are encoded in UTF-8; nil when no locale is set.
    package static func isUTF8(_ variable: (String) -> String?) -> Bool? {
        value("LC_CTYPE", variable).map { ["utf-8", "utf8"].contains(codeset(of: $0)) }
    }

    /// The value of a category, in the order of locale(7).
    private static func value(_ category: String, _ variable: (String) -> String?) -> String? {
        for name in ["LC_ALL", category, "LANG"] {
            if let value = variable(name), !value.isEmpty { return value }
        }
        return nil
    }

    /// The part before the codeset and the modifier.
    private static func language(of locale: String) -> String { String(locale.prefix { $0 != "." && $0 != "@" }) }

    /// The part between the dot and the at sign.
    private static func codeset(of locale: String) -> String {
        guard let dot = locale.firstIndex(of: ".") else { return "" }
        return locale[locale.index(after: dot)...].prefix { $0 != "@" }.lowercased()
    }

    /// The names of catalogues for a locale, the most specific one first; none for a name of another form, which could
    /// lead to another folder.
    private static func catalogues(of locale: String) -> [String] {
        let parts = language(of: locale).split(separator: "_", omittingEmptySubsequences: false).map(String.init)
        let modifier = locale.split(separator: "@", maxSplits: 1).dropFirst().first.map(String.init)
        guard (1...2).contains(parts.count), isWord(parts[0], 1...8), parts.count < 2 || isWord(parts[1], 1...8),
            modifier.map({ isWord($0, 1...16) }) ?? true
        else { return [] }
        let names = parts.count == 2 ? [parts.joined(separator: "_"), parts[0]] : [parts[0]]
        return (modifier.map { modifier in names.map { $0 + "@" + modifier } } ?? []) + names
    }

    private static func isWord(_ text: String, _ length: ClosedRange<Int>) -> Bool {
        length.contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0 & 0xdf) }
    }
}
