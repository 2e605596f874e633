// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel

/// A word that the user types before data is deleted or accepted.
enum Confirmation {
    /// Shows what will happen and reads the word, from the terminal or as the first line of a pipe.
    static func ask(_ word: String, _ text: String) throws(CommandFailure) {
        Output.writeError(text)
        if isatty(STDIN_FILENO) == 1 { Output.writeError(localized("Type \(word) to continue: ")) }
        guard let line = readLine(), line == word else {
            throw .usage("\(word) was not typed", "Nothing was changed.")
        }
    }
}
