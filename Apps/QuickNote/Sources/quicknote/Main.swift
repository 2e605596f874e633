// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import QuickNoteCore
@_spi(Apps) import Security

#if WINDOW
import NoteWindow
#endif

/// Runs the app in a window or in a terminal.
@main
enum Main {
    private static let help = """
        usage: quicknote [--tui] [--times] [--test-biometry=success|cancel|failure (debug builds)]

        Stores notes that open with your finger, your face or a password. Shows them in a window.

          --tui      show them in this terminal instead
          --times    report when the window and the notes were drawn (ms, CLOCK_MONOTONIC)
          --help     show this text

        Exit status: 2 unknown option, 64 an argument that is not UTF-8, 69 no display, 74 no output.

        """

    @MainActor static func main() {
        var arguments = ProgramState.begin()
        if arguments.contains("--help") {
            say(help, terminator: "")
            exit(0)
        }
        let (isTerminal, tellsTimes) = (arguments.contains("--tui"), arguments.contains("--times"))
        arguments.removeAll { ["--tui", "--times"].contains($0) }
        var setup = QuickNoteSetup()
        if let complaint = setup.apply(arguments: arguments) { fail(complaint, hint: "quicknote --help", status: 2) }
        let model = QuickNoteModel(setup: setup)
        if isTerminal {
            Task { exit(await TerminalFront(model: model).run()) }
            dispatchMain()
        }
        #if WINDOW
        guard NotesApp.run(model: model, tellsTimes: tellsTimes) else {
            fail("there is no display to show a window on", hint: "quicknote --tui shows the notes in this terminal")
        }
        #else
        _ = tellsTimes
        fail(
            "this build has no window, since GTK 4 and libadwaita were not installed",
            hint: "quicknote --tui shows the notes in this terminal; `make notes` installs what the window needs")
        #endif
    }

    private static func fail(_ words: String, hint: String, status: CInt = 69) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("error: \(words)\nhint: \(hint)\n".utf8))
        exit(status)
    }
}
