// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySystem

/// Tells the story of one secret, with the real engine across real processes.
///
/// In a terminal a person presses the keys. Without one the demo opens a pseudo-terminal, runs the very same program
/// in it and types: there is no other path.
@main
enum Main {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let isTold = CommandLine.arguments.dropFirst().allSatisfy { $0 == "--told" }
        guard isTold else {
            Screen.write("usage: latchkey-demo\n\nTells what Latchkey does, in a terminal or without one.")
            exit(CommandLine.arguments.contains("--help") ? 0 : 64)
        }
        do {
            if isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 {
                try Story().tell()
            } else {
                try Typist().run()
            }
        } catch {
            Screen.write(
                "\nerror: \(error)\nhint: This is a fault of Latchkey: the demo shows nothing it has not checked.")
            exit(1)
        }
    }
}

/// A step did not do what it was to show.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
