// SPDX-License-Identifier: Apache-2.0

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
