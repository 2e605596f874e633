// SPDX-License-Identifier: Apache-2.0

/// What the completion of a shell is told: each line is a candidate, a tab and its meaning.
package enum CompletionLines {
    /// The line that means names of files.
    package static let files = ":files"

    package static func matching(_ typed: String, _ candidates: [(word: String, meaning: String)]) -> [String] {
        candidates.filter { $0.word.hasPrefix(typed) }.map { word, meaning in
            word + (meaning.isEmpty ? "" : "\t" + meaning)
        }
    }

    /// The number of arguments before the one that is typed.
    ///
    /// - Parameters:
    ///   - words: the words between the command and the one that is typed.
    ///   - takesValue: whether a word is an option that takes the next one as its value.
    package static func argumentCount(_ words: some Sequence<String>, takesValue: (String) -> Bool) -> Int {
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
