// SPDX-License-Identifier: Apache-2.0

import CommandWords
import LatchkeyModel

/// Suggestions for a mistyped word.
enum Suggestion {
    /// The hint for an unknown word.
    ///
    /// - Parameter help: the command whose help lists the known words; nil for the overview.
    static func hint(_ word: String, _ known: [String], help: String?) -> Phrase {
        let see = help.map { localized("See: latchkey help \($0)") } ?? localized("See: latchkey help")
        guard let nearest = nearest(word, known) else { return "\(see)" }
        return "\(localized("Did you mean \(nearest)?")) \(see)"
    }

    /// What other programs call a command, or a person would try first.
    private static let synonyms = [
        "ls": "list", "rm": "delete", "remove": "delete", "del": "delete", "show": "get", "read": "get", "cat": "get",
        "add": "set", "store": "set", "put": "set", "info": "status", "verify": "check", "setup": "doctor",
    ]

    /// The known word that means the same, or the nearest one; nil if none is close enough.
    static func nearest(_ word: String, _ known: [String]) -> String? {
        if let same = synonyms[word], known.contains(same) { return same }
        return NearestWord.of(word, in: known)
    }
}
