// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem

/// A word that the user types before data is deleted or accepted.
enum Confirmation {
    /// Shows what will happen and reads the word, from the terminal or as the first line of a pipe.
    static func ask(_ word: String, _ text: String) throws(CommandFailure) {
        Output.writeError(text)
        if StandardStream.input.isTerminal { Output.writeError(localized("Type \(word) to continue: ")) }
        let line: String?
        do throws(SystemError) { line = try StandardStream.input.line() } catch { throw .stream(.input, error) }
        guard line != nil || !StandardStream.input.isTerminal else {
            throw .failure(Failure(.userCancel, "\(word) was not typed.", hint: "Nothing was changed."))
        }
        guard line == word else { throw .usage("\(word) was not typed", "Nothing was changed.") }
    }
}
