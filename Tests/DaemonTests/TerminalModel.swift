// SPDX-License-Identifier: Apache-2.0

import Glibc

/// wcwidth(3), which Swift's Glibc module does not declare.
@_silgen_name("wcwidth")
private func wcwidth(_ character: wchar_t) -> CInt

/// A model of a terminal: two screens of cells and a cursor. It implements the control sequences that a prompt may
/// use; any other one is recorded in `unknown`, so that a test notices.
///
/// The width of characters comes from the C library, not from the code under test. Lines are clipped when the window
/// becomes narrower, as in xterm.
struct TerminalModel {
    private struct Page {
        var cells: [[String]] = []
        var row = 0
        var column = 0
    }
    private static let hasWidths = setlocale(LC_CTYPE, "C.UTF-8") != nil

    private(set) var columns: Int
    private(set) var rows: Int
    private var page = Page()
    private var otherPage: Page?
    private var sequence: String?
    private(set) var unknown: [String] = []
    /// Whether any line exceeded the last column.
    private(set) var hasWrapped = false
    private(set) var isCursorVisible = true
    /// Number of sequences that set a colour or another style.
    private(set) var styles = 0

    init(columns: Int, rows: Int) {
        precondition(TerminalModel.hasWidths, "the C library has no UTF-8 locale")
        self.columns = columns
        self.rows = rows
        resize(columns: columns, rows: rows)
    }

    var isOnAlternateScreen: Bool { otherPage != nil }

    /// The visible lines, without trailing spaces and trailing empty lines.
    var lines: [String] {
        var lines = page.cells.map { row in
            var text = row.joined()
            while text.hasSuffix(" ") { text.removeLast() }
            return text
        }
        while lines.last == "" { lines.removeLast() }
        return lines
    }

    mutating func resize(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        fit(&page)
        if var other = otherPage {
            fit(&other)
            otherPage = other
        }
    }

    private func fit(_ page: inout Page) {
        page.cells = page.cells.map { Array(($0 + Array(repeating: " ", count: columns)).prefix(columns)) }
        while page.cells.count < rows { page.cells.append(Array(repeating: " ", count: columns)) }
        while page.cells.count > rows {
            // Removes lines below the cursor first, then those at the top.
            if page.row < page.cells.count - 1 {
                page.cells.removeLast()
            } else {
                page.cells.removeFirst()
                page.row -= 1
            }
        }
        page.column = min(page.column, columns - 1)
    }

    // MARK: - Writing

    mutating func write(_ text: String) { for scalar in text.unicodeScalars { write(scalar) } }

    private mutating func write(_ scalar: Unicode.Scalar) {
        if let begun = sequence {
            sequence = begun + String(scalar)
            guard begun.isEmpty ? scalar != "[" : (0x40...0x7e).contains(scalar.value) else { return }
            perform(begun + String(scalar))
            sequence = nil
            return
        }
        switch scalar {
        case "\u{1b}": sequence = ""
        case "\r": page.column = 0
        case "\n": lineFeed()
        case "\u{0}"..<" ", "\u{7f}"..."\u{9f}": unknown.append("control \(scalar.value)")
        default: put(scalar)
        }
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        let width = Int(wcwidth(wchar_t(scalar.value)))
        guard width > 0 else { return }
        if page.column + width > columns {
            hasWrapped = true
            page.column = 0
            lineFeed()
        }
        page.cells[page.row][page.column] = String(scalar)
        for extra in 1..<max(width, 1) where page.column + extra < columns {
            page.cells[page.row][page.column + extra] = ""
        }
        page.column += width
    }

    private mutating func lineFeed() {
        if page.row < rows - 1 {
            page.row += 1
        } else {
            page.cells.removeFirst()
            page.cells.append(Array(repeating: " ", count: columns))
        }
    }

    private mutating func perform(_ sequence: String) {
        switch sequence {
        case "[H": (page.row, page.column) = (0, 0)
        case "[K": erase(from: page.column)
        case "[J":
            erase(from: page.column)
            for row in (page.row + 1)..<max(rows, page.row + 1) {
                page.cells[row] = Array(repeating: " ", count: columns)
            }
        case "[?25l": isCursorVisible = false
        case "[?25h": isCursorVisible = true
        case "[?1049h":
            guard otherPage == nil else { return unknown.append("alternate screen twice") }
            otherPage = page
            page = Page()
            fit(&page)
        case "[?1049l":
            guard let other = otherPage else { return unknown.append("no alternate screen to leave") }
            page = other
            otherPage = nil
        case _ where sequence.hasSuffix("m"): styles += 1
        case _ where sequence.hasSuffix("A"):
            page.row = max(0, page.row - (Int(sequence.dropFirst().dropLast()) ?? 1))
        default: unknown.append(sequence)
        }
    }

    private mutating func erase(from column: Int) {
        for cell in min(column, columns)..<columns { page.cells[page.row][cell] = " " }
    }
}
