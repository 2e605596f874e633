// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the reader of compiled catalogues; `scripts/fuzz 60 words` runs it. The tests of LatchkeyWords
// check the same property for the corpus and for their own inputs.

import LatchkeyModel
import LatchkeyWords

/// Reads one input and describes how it violates the property; nil when it does not.
///
/// Whatever a catalogue contains, a text has the program's name once, in quotation marks, and no control character; and
/// every number has a text of its plural.
func complaint(aboutCatalogue bytes: [UInt8]) -> String? {
    guard let catalogue = Catalogue(bytes) else { return nil }
    let words = Words(language: "xx", catalogue: catalogue, isolates: false)
    let name = "7q7"
    let texts =
        [words("“\(name)” asks"), words(Phrase(template: "“%1$s” asks", arguments: [name]))]
        + [0, 1, 2, 5, 11, 100, Int.max, Int.min].map { words.count($0, "\(name) try", "\(name) tries of \($0)") }
    for text in texts {
        // By scalars: a joiner that follows the name is one character with its end.
        guard Array(text.unicodeScalars).contains(Array(name.unicodeScalars)) else { return "drops the name: \(text)" }
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) }
        guard isPlain, text.unicodeScalars.count < 200 else { return "controls the display: \(text.debugDescription)" }
    }
    for text in texts[..<2] where !isQuoted(name, in: text) { return "takes the name out of its quotation: \(text)" }
    return nil
}

/// Whether some occurrence of the name is in quotation marks.
private func isQuoted(_ name: String, in text: String) -> Bool {
    let marks: Set<Unicode.Scalar> = ["“", "”", "„", "«", "»", "「", "」", "『", "』", "״"]
    let blanks: Set<Unicode.Scalar> = ["\u{a0}", "\u{202f}"]
    let scalars = Array(text.unicodeScalars)
    let wanted = Array(name.unicodeScalars)
    return scalars.indices.contains { start in
        guard scalars[start...].starts(with: wanted) else { return false }
        let before = scalars[..<start].last { !blanks.contains($0) }
        let after = scalars[(start + wanted.count)...].first { !blanks.contains($0) }
        return before.map(marks.contains) == true && after.map(marks.contains) == true
    }
}
