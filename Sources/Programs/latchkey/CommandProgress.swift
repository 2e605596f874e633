// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem

/// A line on standard error that counts the items of a long command, if standard error is a terminal.
struct Progress {
    private let words: (Int) -> String
    private let isShown = StandardStream.error.isTerminal
    private(set) var count = 0
    private var shown = 0

    /// Creates a line that is not shown yet.
    ///
    /// - Parameter words: the line for a number of items.
    init(_ words: @escaping (Int) -> String) { self.words = words }

    /// Sets the count; the line is rewritten after every 100 items.
    mutating func reach(_ total: Int) {
        count = total
        guard isShown, count - shown >= 100 else { return }
        shown = count
        Output.control(.start)
        Output.writeError(words(count))
    }

    func end() { if isShown, shown > 0 { Output.control(.clearLine) } }
}
