// SPDX-License-Identifier: Apache-2.0

/// The output for a prompt drawn as a block of lines: shows it, updates it in place and removes it.
///
/// Uses the alternate screen if the terminal has one: there no terminal re-wraps lines when the window becomes
/// narrower, and the previous content reappears untouched. Otherwise draws below the cursor, with control sequences
/// that every terminal since the VT100 supports (ECMA-48: CUU, EL, ED, SGR).
package struct Block: Sendable {
    private static let hideCursor = "\u{1b}[?25l"
    private static let showCursor = "\u{1b}[?25h"
    private static let enterAlternateScreen = "\u{1b}[?1049h"
    private static let leaveAlternateScreen = "\u{1b}[?1049l"
    private static let home = "\u{1b}[H"
    private static let eraseLine = "\u{1b}[K"
    private static let eraseRest = "\u{1b}[J"

    private let look: Look
    private var drawn: [StyledLine] = []
    /// The size of the window for which the block was drawn.
    package private(set) var size = WindowSize(columns: 0, rows: 0)

    /// Creates a block that is not shown yet.
    package init(look: Look) { self.look = look }

    /// Returns the output that shows a state in place of the previous one; empty when nothing has changed.
    package mutating func show(_ state: PromptState, in size: WindowSize) -> String {
        let lines = BlockLayout(state, look: look, size: size).lines
        guard lines != drawn || size != self.size else { return "" }
        let start = drawn.isEmpty ? begin() : toTop()
        self.size = size
        drawn = lines
        // Erases the rest of each line after writing it, instead of everything first, so that nothing flickers.
        return start + lines.map { $0.rendered(colour: look.hasColour) + Block.eraseLine }.joined(separator: "\r\n")
            + Block.eraseRest
    }

    /// Returns the output that removes the block and puts the cursor where it was, or where the block began.
    package mutating func remove() -> String {
        defer { drawn = [] }
        return drawn.isEmpty ? "" : toTop() + Block.eraseRest + Block.end(look)
    }

    /// The output that restores a terminal after the process that drew the block was killed.
    package static func end(_ look: Look) -> String {
        guard !look.isPlain else { return "" }
        return showCursor + (look.hasAlternateScreen ? leaveAlternateScreen : "")
    }

    private func begin() -> String {
        // Without an alternate screen, the cursor may be in the middle of a line.
        (look.hasAlternateScreen ? Block.enterAlternateScreen + Block.home : "\r\n") + Block.hideCursor
    }

    private func toTop() -> String {
        if look.hasAlternateScreen { return Block.home }
        return drawn.count > 1 ? "\r\u{1b}[\(drawn.count - 1)A" : "\r"
    }
}

/// The size of a terminal's window.
package struct WindowSize: Equatable, Sendable {
    /// Number of cells in a line.
    package var columns: Int
    package var rows: Int

    /// Creates a size; unknown values (0) become 80 columns and 24 rows.
    package init(columns: Int, rows: Int) {
        self.columns = columns > 0 ? columns : 80
        self.rows = rows > 0 ? rows : 24
    }
}
