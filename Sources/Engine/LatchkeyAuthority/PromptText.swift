// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Sanitises a caller's text for prompts: one line of limited length, without control characters, direction marks or
/// quotation marks, which could end the quotation in which a prompt shows it (abuse case 19). The name and the path of
/// a program are sanitised too, since the caller chose its file.
enum PromptText {
    /// Replaces characters that are not shown, so that the user sees that the text contained them.
    private static let replacement = "\u{fffd}"
    /// Replaces every quotation mark; prompts use double quotation marks around the text.
    private static let apostrophe = "'"

    /// Sanitises a text and clips it to `limit` characters.
    static func clean(_ text: String, characters limit: Int) -> String {
        var result = ""
        var count = 0
        // Runs of spaces, replacements and apostrophes are collapsed; two apostrophes would look like a double
        // quotation mark.
        var last = " "
        for character in text {
            let next = shown(character)
            if next == last, [" ", replacement, apostrophe].contains(next) { continue }
            guard count < limit else { return result + "…" }
            result += next
            last = next
            count += 1
        }
        if last == " " { result = String(result.dropLast()) }
        return result
    }

    private static func shown(_ character: Character) -> String {
        if character.isWhitespace || character.isNewline { return " " }
        var scalars = String.UnicodeScalarView()
        if let first = character.unicodeScalars.first, isQuotationMark(first) { return apostrophe }
        for scalar in character.unicodeScalars.prefix(8) {
            if isShown(scalar) {
                scalars.append(scalar)
            } else if !(isJoiner(scalar) && !scalars.isEmpty) {
                return replacement
            }
        }
        return String(scalars)
    }

    /// Joiners and variation selectors within a character (UAX 29), which are dropped without a replacement.
    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\u{200c}" || scalar == "\u{200d}" || scalar.properties.isVariationSelector
    }

    /// Quotation marks and characters that look like one.
    private static func isQuotationMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isQuotationMark || lookalikes.contains { $0.contains(scalar) }
    }

    private static let lookalikes: [ClosedRange<Unicode.Scalar>] = [
        "\u{60}"..."\u{60}", "\u{a8}"..."\u{a8}", "\u{b4}"..."\u{b4}", "\u{2b9}"..."\u{2bf}", "\u{2c8}"..."\u{2cb}",
        "\u{2dd}"..."\u{2dd}", "\u{2ee}"..."\u{2ee}", "\u{2f4}"..."\u{2f6}", "\u{374}"..."\u{375}",
        "\u{384}"..."\u{385}", "\u{55a}"..."\u{55d}", "\u{5f3}"..."\u{5f4}", "\u{7f4}"..."\u{7f5}",
        "\u{1fbd}"..."\u{1fbf}", "\u{1fef}"..."\u{1fef}", "\u{1ffd}"..."\u{1ffe}", "\u{2032}"..."\u{2037}",
        "\u{2057}"..."\u{2057}", "\u{226a}"..."\u{226b}", "\u{275b}"..."\u{2760}", "\u{276e}"..."\u{276f}",
        "\u{2e00}"..."\u{2e0d}", "\u{2e1c}"..."\u{2e1d}", "\u{2e20}"..."\u{2e21}", "\u{3003}"..."\u{3003}",
        "\u{a78b}"..."\u{a78c}", "\u{ff40}"..."\u{ff40}", "\u{1f676}"..."\u{1f678}",
    ]

    /// Letters and symbols without a visible glyph that are not default ignorable code points.
    private static let blanks: Set<Unicode.Scalar> = [
        "\u{2800}", "\u{16fe4}", "\u{13441}", "\u{13442}", "\u{1d159}",
    ]

    /// False for control, format (bidi, zero width), private, unassigned, surrogate and blank code points.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isDefaultIgnorableCodePoint || blanks.contains(scalar) { return false }
        return switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    /// Returns the title of the fallback button; nil if there is no button.
    static func fallbackTitle(_ prompting: Prompting, plan: AuthenticationPlan) -> String? {
        switch prompting.fallbackTitle {
        case nil: plan.stages.contains { $0.contains(.passcode) } ? "Enter Passcode" : "Enter Password"
        case "": nil
        case let title?: clean(title, characters: Limits.titleCharacters)
        }
    }

    static func cancelTitle(_ prompting: Prompting) -> String {
        let title = clean(prompting.cancelTitle ?? "", characters: Limits.titleCharacters)
        return title.isEmpty ? "Cancel" : title
    }
}
