// SPDX-License-Identifier: Apache-2.0

internal import CommandWords

/// A suggestion for a mistyped word.
enum Suggestion {
    /// The hint for an unknown word.
    ///
    /// - Parameter help: the command line whose output lists the known words.
    static func hint(_ word: String, _ known: [String], help: String) -> String {
        (NearestWord.of(word, in: known).map { "Did you mean \($0)? " } ?? "") + "See: \(help)"
    }
}
