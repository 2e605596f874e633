// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySystem

/// Demonstrates how one secret is stored, refused and released, with the real engine in real processes.
///
/// In a terminal the user presses the keys. Without one the demo opens a pseudo-terminal, runs the same program in it
/// and types the keys, so that both cases run the same code.
@main
enum Main {
    static func main() {
        let arguments = ProgramStart.begin()
        let isTold = arguments.allSatisfy { $0 == "--told" }
        guard isTold else {
            Screen.write("usage: latchkey-demo\n\nDemonstrates Latchkey, in a terminal or without one.")
            exit(arguments.contains("--help") ? 0 : 64)
        }
        do {
            if isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 {
                try Story().tell()
            } else {
                try Typist().run()
            }
        } catch {
            Screen.write(
                "\nerror: \(error)\nhint: This is a bug in Latchkey: the demo checks everything that it shows.")
            exit(1)
        }
    }
}

/// A step did not have the expected result.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
