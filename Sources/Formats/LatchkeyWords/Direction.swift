// SPDX-License-Identifier: Apache-2.0

/// The direction of languages and texts (Unicode Standard Annex 9).
enum Direction {
    /// Codes of languages whose usual script is written from right to left (ISO 639).
    private static let languages: Set<String> = [
        "ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "syr", "ug", "ur", "yi",
    ]
    /// Blocks of scripts that are written from right to left.
    private static let blocks: [ClosedRange<UInt32>] = [
        0x590...0x8ff, 0xfb1d...0xfdff, 0xfe70...0xfeff, 0x10800...0x10fff, 0x1e800...0x1efff,
    ]
    /// Embeddings, overrides and isolates, and what ends them.
    private static let controls: [ClosedRange<UInt32>] = [0x202a...0x202e, 0x2066...0x2069]

    static func isRightToLeft(language: String) -> Bool {
        languages.contains(String(language.prefix { $0 != "_" && $0 != "@" }))
    }

    static func hasRightToLeft(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in blocks.contains { $0.contains(scalar.value) } }
    }

    static func isControl(_ scalar: Unicode.Scalar) -> Bool { controls.contains { $0.contains(scalar.value) } }

    /// The text between FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE: its direction is its own, and it does not
    /// affect the text around it. A control in the text, which could end the isolate early, is replaced; complete
    /// isolates stay, since a value can be a text of Latchkey that contains some.
    static func isolated(_ text: String) -> String {
        var scalars = String.UnicodeScalarView(["\u{2068}"])
        let isComplete = hasCompleteIsolates(text)
        for scalar in text.unicodeScalars { scalars.append(!isComplete && isControl(scalar) ? "\u{fffd}" : scalar) }
        scalars.append("\u{2069}")
        return String(scalars)
    }

    /// Whether every isolate ends within the text, none is ended that has not begun, and there is no other control.
    private static func hasCompleteIsolates(_ text: String) -> Bool {
        var depth = 0
        for scalar in text.unicodeScalars where isControl(scalar) {
            switch scalar {
            case "\u{2068}": depth += 1
            case "\u{2069}" where depth > 0: depth -= 1
            default: return false
            }
        }
        return depth == 0
    }
}
