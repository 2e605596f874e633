// SPDX-License-Identifier: Apache-2.0

/// The window of a terminal.
package struct WindowSize: Equatable, Sendable {
    /// Cells of a line.
    package var columns: Int
    /// Lines.
    package var rows: Int

    /// Makes a size; a terminal that does not know its own (0) gets 80 by 24.
    package init(columns: Int, rows: Int) {
        self.columns = columns > 0 ? columns : 80
        self.rows = rows > 0 ? rows : 24
    }
}
