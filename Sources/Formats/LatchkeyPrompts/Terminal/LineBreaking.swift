// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Wraps the text into lines of at most `width` cells, between words, and within a word only if it exceeds a line.
    package func lines(width: Int) -> [String] {
        let width = max(1, width)
        var lines: [String] = []
        var line = ""
        var used = 0
        func end() {
            lines.append(line)
            line = ""
            used = 0
        }
        for word in split(separator: " ") {
            let cells = CellWidth.of(word)
            if used > 0 {
                if used + 1 + cells <= width || (cells > width && used + 3 < width) {
                    line += " "
                    used += 1
                } else {
                    end()
                }
            }
            for var character in word {
                // A character wider than the terminal cannot be shown.
                if CellWidth.of(character) > width { character = "?" }
                let cells = CellWidth.of(character)
                if used + cells > width { end() }
                line.append(character)
                used += cells
            }
        }
        if used > 0 { end() }
        return lines
    }

    /// The same, but at most `limit` lines; if some are omitted, the last one ends with the ellipsis.
    package func lines(width: Int, limit: Int, ellipsis: String = "…") -> [String] {
        let all = lines(width: width)
        guard all.count > limit else { return all }
        var kept = Array(all.prefix(max(1, limit)))
        var last = kept.removeLast()
        while !last.isEmpty, CellWidth.of(last) + CellWidth.of(ellipsis) > max(1, width) { last.removeLast() }
        while last.hasSuffix(" ") { last.removeLast() }
        // On a terminal narrower than the ellipsis, a part of it is shown.
        kept.append(last + ellipsis.prefix(max(1, width)))
        return kept
    }
}
