// SPDX-License-Identifier: Apache-2.0

import Foundation
import QuickNoteCore
@_spi(Apps) import Security

/// Runs the app in a window.
@main
enum Main {
    private static let help = """
        usage: quicknote [--times] [--test-biometry=success|cancel|failure (debug builds)]

        Stores notes that open with your finger, your face or a password. Shows them in a window.

          --times    report when the window and the notes were drawn (ms, CLOCK_MONOTONIC)
          --help     show this text

        Exit status: 2 unknown option, 64 an argument that is not UTF-8, 69 no display, 74 no output.

        """

    @MainActor static func main() {
        var arguments = ProgramState.begin()
        if arguments.contains("--help") {
            // Without a reader, or without an output, nothing can be shown.
            exit(ProgramState.write(help) ? 0 : 74)
        }
        let tellsTimes = arguments.contains("--times")
        arguments.removeAll { $0 == "--times" }
        var setup = QuickNoteSetup()
        if let complaint = setup.apply(arguments: arguments) { fail(complaint, hint: "quicknote --help", status: 2) }
        guard NotesApp.run(model: QuickNoteModel(setup: setup), tellsTimes: tellsTimes) else {
            fail("there is no display to show a window on", hint: "quicknote runs in a graphical session")
        }
    }

    private static func fail(_ words: String, hint: String, status: CInt = 69) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("error: \(words)\nhint: \(hint)\n".utf8))
        exit(status)
    }
}
