// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem

/// Unbuffered standard output: the prompt, another process, writes to the same terminal. A message of a failure may have a
/// name that another app chose, which must not control the terminal.
enum Screen {
    static func write(_ text: String, terminator: String = "\n") {
        // Without a reader the demonstration goes on, and its status says how it ended.
        try? StandardStream.output.write(all: Array((text + terminator).linesWithoutControls.utf8))
    }
}
