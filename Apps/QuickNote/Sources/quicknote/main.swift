// SPDX-License-Identifier: Apache-2.0

import Foundation
import QuickNoteCore

// The notes in a terminal. Everything it can do is the model's; here are words and lines alone.

var arguments = Array(CommandLine.arguments.dropFirst())
arguments.removeAll { $0 == "--tui" }
if arguments.contains("--help") {
    print("usage: quicknote [--tui] [--test-biometry=success|cancel|failure (debug builds)]")
    exit(0)
}
var setup = QuickNoteSetup()
if let complaint = setup.apply(arguments: arguments) {
    FileHandle.standardError.write(Data("error: \(complaint)\nhint: quicknote --help\n".utf8))
    exit(2)
}
let front = TerminalFront(model: QuickNoteModel(setup: setup))
exit(await front.run())
