// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Unbuffered standard output: the prompt, another process, writes to the same terminal.
enum Screen {
    static func write(_ text: String, terminator: String = "\n") {
        FileHandle.standardOutput.write(Data((text + terminator).utf8))
    }
}
