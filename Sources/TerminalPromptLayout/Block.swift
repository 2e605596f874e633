// SPDX-License-Identifier: Apache-2.0

package import LatchkeyPromptWords

/// The block on a screen: writes it, changes it in place and takes it away again.
///
/// On the alternate screen, if the terminal has one, since there no terminal breaks lines anew when the window becomes
/// narrower, and what was shown before comes back untouched. Elsewhere below the cursor, in control sequences that
/// every terminal since the VT100 knows (ECMA-48: CUU, EL, ED, SGR).
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
    /// The window the block was drawn for.
    package private(set) var size = WindowSize(columns: 0, rows: 0)

    /// A block that is not there yet.
    package init(look: Look) { self.look = look }

    /// Shows a state, in the place of the one before.
    package mutating func show(_ state: PromptState, in size: WindowSize) -> String {
        let lines = BlockLayout(state, look: look, size: size).lines
        guard lines != drawn || size != self.size else { return "" }
        let start = drawn.isEmpty ? begin() : toTop()
        self.size = size
        drawn = lines
        // Erasing behind what is written instead of all before it: nothing flickers.
        return start + lines.map { $0.rendered(colour: look.hasColour) + Block.eraseLine }.joined(separator: "\r\n")
            + Block.eraseRest
    }

    /// Takes the block away and leaves the cursor where it was, or where the block began.
    package mutating func remove() -> String {
        defer { drawn = [] }
        return drawn.isEmpty ? "" : toTop() + Block.eraseRest + Block.end(look)
    }

    /// What a block leaves to be done on a terminal if its process is killed.
    package static func end(_ look: Look) -> String {
        guard !look.isPlain else { return "" }
        return showCursor + (look.hasAlternateScreen ? leaveAlternateScreen : "")
    }

    private func begin() -> String {
        // Below, nobody knows whether the cursor is at the start of a line.
        (look.hasAlternateScreen ? Block.enterAlternateScreen + Block.home : "\r\n") + Block.hideCursor
    }

    private func toTop() -> String {
        if look.hasAlternateScreen { return Block.home }
        return drawn.count > 1 ? "\r\u{1b}[\(drawn.count - 1)A" : "\r"
    }
}
