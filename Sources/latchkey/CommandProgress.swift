// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A line on standard error that counts the items of a long command, if standard error is a terminal.
struct Progress {
    private let word: String
    private let isShown = isatty(STDERR_FILENO) == 1
    private(set) var count = 0
    private var shown = 0

    init(_ word: String) { self.word = word }

    /// Sets the count; the line is rewritten after every 100 items.
    mutating func reach(_ total: Int) {
        count = total
        guard isShown, count - shown >= 100 else { return }
        shown = count
        Output.writeError("\r\(count) items \(word)")
    }

    /// Clears the line.
    func end() { if isShown, shown > 0 { Output.writeError("\r\u{1b}[K") } }
}
