// SPDX-License-Identifier: Apache-2.0

/// One line of the block: pieces of text, each with one style.
struct StyledLine: Equatable, Sendable {
    /// The style of a piece, as the parameter of Select Graphic Rendition (ECMA-48, section 8.3.117).
    enum Style: String, Sendable {
        case plain = ""
        case strong = "1"
        case faint = "2"
        case warning = "33"
    }

    private(set) var pieces: [(text: String, style: Style)] = []

    init(_ text: String = "", _ style: Style = .plain) { add(text, style) }

    mutating func add(_ text: String, _ style: Style = .plain) { if !text.isEmpty { pieces.append((text, style)) } }

    /// The text without styles.
    var text: String { pieces.map(\.text).joined() }

    /// The text with its styles, or without them.
    func rendered(colour: Bool) -> String {
        guard colour else { return text }
        return pieces.map { $0.style == .plain ? $0.text : "\u{1b}[\($0.style.rawValue)m\($0.text)\u{1b}[0m" }.joined()
    }

    static func == (one: StyledLine, other: StyledLine) -> Bool {
        one.pieces.elementsEqual(other.pieces) { $0.text == $1.text && $0.style == $1.style }
    }
}

/// The width of text in terminal cells. Where terminals disagree, the larger value is used, so that no line is wider
/// than computed.
package enum CellWidth {
    /// Code points of East Asian width W and F (Unicode Standard Annex 11) that are not emoji. Unassigned code points
    /// between two wide blocks count as wide, as the annex recommends.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2329...0x232a, 0x2630...0x2637, 0x268a...0x268f, 0x2e80...0x303e, 0x3041...0xa4cf,
        0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff00...0xff60,
        0xffe0...0xffe6, 0x16fe0...0x18cff, 0x18d00...0x1b2ff, 0x1d300...0x1d37f, 0x1f200...0x1f320,
        0x1f32d...0x1f5ff, 0x1f600...0x1f64f, 0x1f680...0x1f6ff, 0x1f7e0...0x1f7ff, 0x1f90c...0x1faff,
        0x20000...0x3fffd,
    ]

    package static func of(_ scalar: Unicode.Scalar) -> Int {
        // The fast path for most text; no code point below U+0300 is wide or combining.
        if scalar.value < 0x300 { return 1 }
        // Variation selector 16 (emoji presentation) makes some terminals widen the character before it.
        if scalar.value == 0xfe0f { return 1 }
        // Isolates and marks of a direction, which prompts put around a program's own text.
        if (0x2066...0x2069).contains(scalar.value) || (0x200e...0x200f).contains(scalar.value) { return 0 }
        // Regional indicators are one cell each when drawn separately, and two cells together when drawn as a flag.
        if (0x1f1e6...0x1f1ff).contains(scalar.value) { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The width of a character: the sum over its code points.
    package static func of(_ character: Character) -> Int { character.unicodeScalars.reduce(0) { $0 + of($1) } }

    package static func of(_ text: some StringProtocol) -> Int { text.unicodeScalars.reduce(0) { $0 + of($1) } }
}

extension String {
    /// Wraps the text into lines of at most `width` cells, between words, and within a word only if it exceeds a line.
    package func lines(width: Int) -> [String] {
        let width = max(1, width)
        var lines: [String] = []
        var line = ""
        var used = 0
        func end() {
            lines.append(line)
            line = ""
            used = 0
        }
        for word in split(separator: " ") {
            let cells = CellWidth.of(word)
            if used > 0 {
                if used + 1 + cells <= width || (cells > width && used + 3 < width) {
                    line += " "
                    used += 1
                } else {
                    end()
                }
            }
            for var character in word {
                // A character wider than the terminal cannot be shown.
                if CellWidth.of(character) > width { character = "?" }
                let cells = CellWidth.of(character)
                if used + cells > width { end() }
                line.append(character)
                used += cells
            }
        }
        if used > 0 { end() }
        return lines
    }

    /// The same, but at most `limit` lines; if some are omitted, the last one ends with the ellipsis.
    package func lines(width: Int, limit: Int, ellipsis: String = "…") -> [String] {
        let all = lines(width: width)
        guard all.count > limit else { return all }
        var shown = Array(all.prefix(max(1, limit)))
        var last = shown.removeLast()
        while !last.isEmpty, CellWidth.of(last) + CellWidth.of(ellipsis) > max(1, width) { last.removeLast() }
        while last.hasSuffix(" ") { last.removeLast() }
        // On a terminal narrower than the ellipsis, a part of it is shown.
        shown.append(last + ellipsis.prefix(max(1, width)))
        return shown
    }
}
