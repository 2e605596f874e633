// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Lays out a prompt as lines for a window: the request at the top, then instruction and feedback, then the keys.
///
/// Each line keeps its position while the prompt is shown, so that nothing moves when an attempt fails. There is no
/// border on the right: terminals disagree about the width of characters, so it would be uneven.
struct BlockLayout {
    /// Maximum width of text in cells: longer lines are hard to read.
    private static let longestText = 72
    /// Minimum number of columns for the bar on the left.
    private static let columnsForABar = 12

    private let state: PromptState
    private let look: Look
    private let bar: String
    private let width: Int
    private let size: WindowSize

    init(_ state: PromptState, look: Look, size: WindowSize) {
        self.state = state
        self.look = look
        self.size = size
        bar = size.columns < BlockLayout.columnsForABar ? "" : look.isUTF8 ? "│ " : "| "
        // The last column stays empty: terminals disagree about the cursor's position after writing there.
        width = max(1, min(BlockLayout.longestText, size.columns - 1 - bar.count))
    }

    /// The lines, at most as many as the window has rows.
    var lines: [StyledLine] {
        for economy in Economy.allCases {
            let lines = lines(economy)
            if lines.count <= size.rows { return lines }
        }
        // Instruction and keys, which matter most, are at the end.
        return Array(lines(.words).suffix(size.rows))
    }

    /// What is omitted, step by step, when the window has too few rows.
    private enum Economy: Int, CaseIterable {
        case nothing, blankLines, reason, notes, words
    }

    private func lines(_ economy: Economy) -> [StyledLine] {
        let blank = economy == .nothing ? [StyledLine()] : []
        var body = text(state.question, .strong, limit: Limits.otherLines)
        // Only the caller's reason is shortened; the action that follows is always shown in full.
        let isShort = economy.rawValue >= Economy.reason.rawValue && state.action == nil
        let reasonLines = isShort ? 1 : Limits.reasonLines
        if let reason = state.reason { body += text(reason, limit: reasonLines) }
        body += blank
        if economy != .words {
            body += text(state.programLine, .faint, limit: Limits.otherLines)
            // A terminal without UTF-8 has no arrow.
            let programs = look.isUTF8 ? state.startedByLine : state.spokenStartedByLine
            if let programs { body += text(programs, .faint, limit: Limits.otherLines) }
            if let name = state.ownNameLine { body += text(name, .faint, limit: 2) }
            body += blank
        }
        if let usage = state.usage { body += text(usage, limit: reasonLines) }
        body += text(state.wish, .strong, limit: Limits.otherLines)
        if let code = state.recoveryCode { body += text(code, .strong, limit: Limits.reasonLines) }
        if let field = state.field { body += text(field, limit: 2) }
        if economy.rawValue < Economy.notes.rawValue {
            let notes = state.answerNotes(inWindow: false).joined(separator: " ")
            body += text(notes, .faint, limit: 2 * Limits.reasonLines)
        }
        // This line has its place even when there is no feedback.
        let feedback = text(state.feedback, state.isFailure ? .warning : .plain, limit: Limits.otherLines)
        body += feedback.isEmpty ? blank : feedback
        body += blank + keys(state.keys)
        if let simulation = state.simulation {
            body += text(simulation, .faint, limit: Limits.otherLines) + keys(state.simulatedKeys)
        }
        if economy == .words { return body.map(barred) }
        return [rule("╭", state.title, .strong)] + body.map(barred) + [rule("╰", state.endingLine, .faint)]
    }

    // MARK: - Parts

    private func text(_ words: String, _ style: StyledLine.Style = .plain, limit: Int) -> [StyledLine] {
        look.shown(words).lines(width: width, limit: limit, ellipsis: look.ellipsis).map { StyledLine($0, style) }
    }

    /// Places keys with their titles side by side; starts a new line when one does not fit.
    private func keys(_ keys: [(key: String, title: String)]) -> [StyledLine] {
        var lines: [StyledLine] = []
        var used = 0
        for (key, title) in keys {
            let title = look.shown(title)
            let key = look.shown(key)
            let cells = CellWidth.of(key) + 1 + CellWidth.of(title)
            if used > 0, used + 3 + cells <= width {
                lines[lines.count - 1].add("   ")
                used += 3 + cells
            } else if cells <= width {
                lines.append(StyledLine())
                used = cells
            } else {
                // Too long for one line: it is wrapped like other text.
                lines += text("\(key) \(title)", limit: Limits.otherLines)
                used = width
                continue
            }
            lines[lines.count - 1].add(key, .strong)
            lines[lines.count - 1].add(" " + title)
        }
        return lines
    }

    private func barred(_ line: StyledLine) -> StyledLine {
        var result = StyledLine(line.pieces.isEmpty ? String(bar.prefix { $0 != " " }) : bar, .faint)
        for (text, style) in line.pieces { result.add(text, style) }
        return result
    }

    /// A horizontal line across the block with a text, which is left out if it is too long.
    private func rule(_ corner: String, _ text: String, _ style: StyledLine.Style) -> StyledLine {
        let length = min(width + bar.count, size.columns - 1)
        let dash: Character = look.isUTF8 ? "─" : "-"
        guard !bar.isEmpty else { return StyledLine(String(repeating: dash, count: max(1, length)), .faint) }
        let corner = look.isUTF8 ? corner : "+"
        let title = look.shown(" \(text) ")
        let cells = CellWidth.of(title)
        guard cells + 3 <= length else {
            return StyledLine(corner + String(repeating: dash, count: length - 1), .faint)
        }
        var line = StyledLine(corner + String(dash), .faint)
        line.add(title, style)
        line.add(String(repeating: dash, count: length - 2 - cells), .faint)
        return line
    }
}
