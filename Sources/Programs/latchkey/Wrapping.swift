// SPDX-License-Identifier: Apache-2.0

import LatchkeyPrompts
import LatchkeySystem

extension String {
    private static let narrowest = 80

    /// The text wrapped between words for a terminal, which may be as narrow as 80 columns; unchanged elsewhere, where a
    /// program reads lines.
    func wrapped(for stream: StandardStream) -> String {
        stream.columns.map { lines(width: max(Self.narrowest, $0)).joined(separator: "\n") } ?? self
    }

    /// The paragraphs of a text, which blank lines separate, each wrapped to `width` cells. Lines that begin with two
    /// spaces, such as examples and tables, stay as they are.
    func paragraphs(width: Int) -> String {
        var (done, paragraph): ([String], [Substring]) = ([], [])
        func end() {
            done += paragraph.joined(separator: " ").lines(width: width)
            paragraph = []
        }
        for line in split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.isEmpty || line.hasPrefix("  ") else {
                paragraph.append(line)
                continue
            }
            end()
            done.append(String(line))
        }
        end()
        return done.joined(separator: "\n")
    }
}
