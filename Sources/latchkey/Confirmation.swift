// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel

/// A word that the person types before something is lost.
enum Confirmation {
    /// Shows what will happen and has the word typed; a pipe may give it as its first line.
    static func ask(_ word: String, _ text: String) throws(CommandFailure) {
        Output.writeError(text)
        if isatty(STDIN_FILENO) == 1 { Output.writeError("Type \(word) to go on: ") }
        guard let line = readLine(), line == word else {
            throw .usage("\(word) was not typed", "Nothing was changed.")
        }
    }
}
