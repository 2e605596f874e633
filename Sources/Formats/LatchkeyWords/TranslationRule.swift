// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// What a translation must have in common with its English text. A prompt shows texts that a program has chosen between
/// Latchkey's own words, so a catalogue must not be able to drop them, to move them out of their quotation marks, or to
/// control the terminal. `scripts/check words` checks the same for the catalogues of the project.
enum TranslationRule {
    /// A translation can be this many times as long as the English text, and `extraScalars` longer.
    private static let longest = 4
    private static let extraScalars = 40

    /// Whether a translation is used; `originals` is the English text, or its singular and its plural.
    static func allows(_ translation: String, for originals: [String]) -> Bool {
        guard !translation.isEmpty, let length = originals.map(\.unicodeScalars.count).max() else { return false }
        let isShort = translation.unicodeScalars.count <= length * longest + extraScalars
        return isShort && hasNoControls(translation, lines: originals.contains { $0.contains("\n") })
            && originals.contains { original in
                Template(original).numbers == Template(translation).numbers
                    && quoted(original).isSubset(of: quoted(translation))
            }
    }

    /// Whether the text has no control characters but line feeds where the English text has some, and no embedding,
    /// override or isolate. The marks of a direction, which other scripts need, have no effect beyond themselves.
    private static func hasNoControls(_ text: String, lines: Bool) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            if scalar == "\n" { return lines }
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
            default: return !Direction.isControl(scalar)
            }
        }
    }

    /// The placeholders in double quotation marks.
    private static func quoted(_ text: String) -> Set<Int> {
        let parts = Template(text).parts
        var numbers: Set<Int> = []
        for (place, part) in parts.enumerated() {
            guard case .argument(let number) = part, place > 0, place + 1 < parts.count,
                case .text(let before) = parts[place - 1], case .text(let after) = parts[place + 1],
                isMark(before.unicodeScalars.last { !isSpace($0) }),
                isMark(after.unicodeScalars.first { !isSpace($0) })
            else { continue }
            numbers.insert(number)
        }
        return numbers
    }

    /// French has a space that does not break within its quotation marks.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{a0}" || scalar == "\u{202f}" }

    private static func isMark(_ scalar: Unicode.Scalar?) -> Bool {
        scalar.map { ["“", "”", "„", "«", "»", "「", "」", "『", "』", "״"].contains($0) } ?? false
    }
}
