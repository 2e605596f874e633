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

    mutating func add(_ text: String, _ style: Style = .plain) {
        if !text.isEmpty { pieces.append((text, style)) }
    }

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
