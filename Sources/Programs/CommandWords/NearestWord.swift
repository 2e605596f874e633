// SPDX-License-Identifier: Apache-2.0

/// The known word that a mistyped one stands for.
public enum NearestWord {
    /// The known word that one error makes from a short word and two make from a longer one, or the only one that begins so;
    /// nil if there is none: with more errors, a suggestion would mislead.
    public static func of(_ word: String, in known: [String]) -> String? {
        // A mistyped word is short; a long pasted one must not use much time.
        guard word.utf8.count <= 64 else { return nil }
        let measured = known.map { (word: $0, errors: errors(Array(word.utf8), Array($0.utf8))) }
        if let best = measured.min(by: { $0.errors < $1.errors }), best.errors <= (word.count < 4 ? 1 : 2) {
            return best.word
        }
        let longer = known.filter { $0.hasPrefix(word) }
        return word.count > 1 && longer.count == 1 ? longer.first : nil
    }

    /// The optimal string alignment distance in bytes: the least insertions, deletions, replacements and exchanges of
    /// neighbours that make one word of the other.
    private static func errors(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var (before, last) = ([Int](), Array(0...right.count))
        for (row, byte) in left.enumerated() {
            var line = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(line[column] + 1, last[column + 1] + 1, last[column] + (byte == other ? 0 : 1))
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                    cost = min(cost, before[column - 1] + 1)
                }
                line.append(cost)
            }
            (before, last) = (last, line)
        }
        return last[right.count]
    }
}

/// The output for the completion of a shell: each line is a candidate, a tab and its meaning.
public enum CompletionLines {
    /// The line that means names of files.
    public static let files = ":files"

    /// The lines of the candidates that begin as what was typed.
    public static func matching(_ typed: String, _ candidates: [(word: String, meaning: String)]) -> [String] {
        candidates.filter { $0.word.hasPrefix(typed) }.map { word, meaning in
            word + (meaning.isEmpty ? "" : "\t" + meaning)
        }
    }

    /// The number of arguments before the one that is typed.
    ///
    /// - Parameters:
    ///   - words: the words between the command and the one that is typed.
    ///   - takesValue: whether a word is an option that takes the next one as its value.
    public static func argumentCount(_ words: some Sequence<String>, takesValue: (String) -> Bool) -> Int {
        var (given, isValue) = (0, false)
        for word in words {
            if isValue {
                isValue = false
            } else if word.hasPrefix("-"), word != "-" {
                isValue = takesValue(word)
            } else {
                given += 1
            }
        }
        return given
    }
}
