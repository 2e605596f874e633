// SPDX-License-Identifier: Apache-2.0

/// Suggestions for a mistyped word.
enum Suggestion {
    /// The hint for an unknown word.
    ///
    /// - Parameter help: the command whose help lists the known words; nil for the overview.
    static func hint(_ word: String, _ known: [String], help: String?) -> String {
        let see = help.map { localized("See: latchkey help \($0)") } ?? localized("See: latchkey help")
        guard let nearest = nearest(word, known) else { return see }
        return localized("Did you mean \(nearest)?") + " " + see
    }

    /// What other programs call a command, or a person would try first.
    private static let synonyms = [
        "ls": "list", "rm": "delete", "remove": "delete", "del": "delete", "show": "get", "read": "get", "cat": "get",
        "add": "set", "store": "set", "put": "set", "info": "status", "verify": "check", "setup": "doctor",
    ]

    /// The known word that means the same, or the one with the smallest distance; nil if none is close enough.
    static func nearest(_ word: String, _ known: [String]) -> String? {
        if let same = synonyms[word], known.contains(same) { return same }
        // One error in a short word, two in a longer one; with more, a suggestion would mislead.
        let most = word.count < 4 ? 1 : 2
        let measured = known.map { (word: $0, distance: distance(Array(word.utf8), Array($0.utf8))) }
        if let best = measured.min(by: { $0.distance < $1.distance }), best.distance <= most { return best.word }
        let longer = known.filter { $0.hasPrefix(word) }
        return word.count > 1 && longer.count == 1 ? longer[0] : nil
    }

    /// The Damerau-Levenshtein distance: insertions, deletions, substitutions and transpositions of neighbours. `.max`
    /// for a word of more than 64 bytes.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        // A mistyped word is short; a long pasted one must not use memory of its squared length.
        guard left.count <= 64, right.count <= 64 else { return .max }
        var rows = [Array(0...right.count)]
        for (row, a) in left.enumerated() {
            var line = [row + 1]
            for (column, b) in right.enumerated() {
                var cost = min(line[column] + 1, rows[row][column + 1] + 1, rows[row][column] + (a == b ? 0 : 1))
                if row > 0, column > 0, a == right[column - 1], left[row - 1] == b {
                    cost = min(cost, rows[row - 1][column - 1] + 1)
                }
                line.append(cost)
            }
            rows.append(line)
        }
        return rows[left.count][right.count]
    }
}
