// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPrompts

/// A table of text whose columns are as wide on a terminal as their widest cell.
enum Table {
    /// The heads of the columns of items: of every group, and of the own one.
    static let heads = (
        all: [
            localized("GROUP"), localized("KIND"), localized("NAME"), localized("SERVICE"), localized("PROTECTION"),
            localized("CHANGED"), localized("LABEL"),
        ],
        own: [
            localized("NAME"), localized("SERVICE"), localized("PROTECTION"), localized("CHANGED"), localized("LABEL"),
        ]
    )

    /// The rows as lines, two spaces between columns.
    ///
    /// - Parameter widths: minimum widths, for tables that are written in parts.
    static func text(_ rows: [[String]], widths: [Int] = []) -> String {
        var widths = widths
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], CellWidth.of(cell.withoutControls))
            }
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let cell = cell.withoutControls
                line += cell
                guard column < row.count - 1 else { continue }
                line += String(repeating: " ", count: widths[column] - CellWidth.of(cell) + 2)
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
