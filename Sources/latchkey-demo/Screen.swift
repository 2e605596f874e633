// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

/// Unbuffered standard output: the prompt, another process, writes to the same terminal. A message of a failure may have a
/// name that another app chose, which must not control the terminal.
enum Screen {
    static func write(_ text: String, terminator: String = "\n") {
        FileHandle.standardOutput.write(Data((text + terminator).linesWithoutControls.utf8))
    }
}
