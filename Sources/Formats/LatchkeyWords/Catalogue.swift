// SPDX-License-Identifier: Apache-2.0

/// The translations of one language, from the bytes of a compiled catalogue (GNU gettext manual, "The format of GNU MO
/// files").
///
/// The bytes are untrusted: every offset is checked, and a catalogue whose structure is damaged is refused as a whole. A
/// single translation that could mislead the reader of a prompt is omitted, see `TranslationRule`; its text is then
/// English.
package final class Catalogue: Sendable {
    /// Maximum size of a catalogue in bytes.
    package static let byteLimit = 1 << 20
    /// Maximum number of texts in a catalogue.
    static let textLimit = 10_000

    /// The translations by their names in the file: context and U+0004, if there is a context, the English text, and for a
    /// plural a zero byte and the English plural. gettext looks a plural up by its first text alone; here both must be
    /// those of the source, because they decide which placeholders a translation needs.
    private let texts: [String: [String]]
    private let rule: PluralRule?

    /// Reads a catalogue; nil when it is damaged, is not in UTF-8, or has an invalid rule for plurals.
    package init?(_ bytes: [UInt8]) {
        guard let pairs = Self.pairs(bytes), let header = pairs.first(where: { $0.0.isEmpty })?.1,
            Self.isUTF8(header)
        else { return nil }
        let plural = Self.field("Plural-Forms", of: header)
        let rule = plural.flatMap { PluralRule($0) }
        guard plural == nil || rule != nil else { return nil }
        self.rule = rule
        var texts: [String: [String]] = [:]
        for (key, value) in pairs where !key.isEmpty {
            let english = key.split(separator: "\0", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let forms = value.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
            guard let name = english.first, forms.count == (english.count == 1 ? 1 : rule?.count ?? 0) else { continue }
            // A context is not part of the text.
            let text = name.split(separator: "\u{4}", maxSplits: 1).last.map(String.init) ?? name
            let originals = [text] + english.dropFirst()
            guard forms.allSatisfy({ TranslationRule.allows($0, for: originals) }) else { continue }
            texts[key] = forms
        }
        self.texts = texts
    }

    /// The translation of a text; nil if there is none.
    func text(_ english: String, context: String?) -> String? {
        texts[(context.map { $0 + "\u{4}" } ?? "") + english]?.first
    }

    /// The translation of a plural for a number; nil if there is none.
    func text(_ one: String, _ other: String, _ number: Int) -> String? {
        guard let forms = texts["\(one)\0\(other)"], let form = rule?.form(number), forms.indices.contains(form) else {
            return nil
        }
        return forms[form]
    }

    // MARK: - Format

    /// The English texts and their translations in the order of the file; nil if the structure is damaged.
    private static func pairs(_ bytes: [UInt8]) -> [(String, String)]? {
        guard bytes.count <= byteLimit, bytes.count >= 28 else { return nil }
        let isBig: Bool
        switch Array(bytes[..<4]) {
        case [0xde, 0x12, 0x04, 0x95]: isBig = false
        case [0x95, 0x04, 0x12, 0xde]: isBig = true
        default: return nil
        }
        func number(_ place: Int) -> Int? {
            guard place >= 0, place <= bytes.count - 4 else { return nil }
            let four = bytes[place..<(place + 4)].map { Int($0) }
            return (isBig ? four : four.reversed()).reduce(0) { $0 << 8 | $1 }
        }
        func text(_ table: Int, _ index: Int) -> String? {
            guard let length = number(table + index * 8), let start = number(table + index * 8 + 4),
                length < bytes.count, start < bytes.count - length, bytes[start + length] == 0
            else { return nil }
            return String(validating: bytes[start..<(start + length)], as: UTF8.self)
        }
        // Revision 0.0; 0.1 and 1.1 have strings that depend on the system, which this catalogue never has.
        guard number(4) == 0, let count = number(8), let originals = number(12), let translations = number(16),
            count <= textLimit
        else { return nil }
        var pairs: [(String, String)] = []
        for index in 0..<count {
            guard let original = text(originals, index), let translation = text(translations, index) else { return nil }
            pairs.append((original, translation))
        }
        return pairs
    }

    private static func field(_ name: String, of header: String) -> String? {
        for line in header.split(separator: "\n") where line.hasPrefix(name + ":") {
            return String(line.dropFirst(name.count + 1).drop { $0 == " " })
        }
        return nil
    }

    private static func isUTF8(_ header: String) -> Bool {
        field("Content-Type", of: header)?.lowercased() == "text/plain; charset=utf-8"
    }
}
