// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text in lines of at most `width` cells, broken between words, and within one only if it fills a line alone.
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
                // A character wider than the whole terminal cannot be shown at all.
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

    /// The same, of which at most `limit` lines are kept; the last one then ends with the ellipsis.
    package func lines(width: Int, limit: Int, ellipsis: String = "…") -> [String] {
        let all = lines(width: width)
        guard all.count > limit else { return all }
        var kept = Array(all.prefix(max(1, limit)))
        var last = kept.removeLast()
        while !last.isEmpty, CellWidth.of(last) + CellWidth.of(ellipsis) > max(1, width) { last.removeLast() }
        while last.hasSuffix(" ") { last.removeLast() }
        // A terminal narrower than the ellipsis gets what fits of it.
        kept.append(last + ellipsis.prefix(max(1, width)))
        return kept
    }
}
