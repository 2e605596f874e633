// SPDX-License-Identifier: Apache-2.0

import Foundation
package import QuickNoteCore
import Widgets

/// Runs the app with a window.
@MainActor package enum NotesApp {
    /// Shows the window and runs until it is closed; returns false at once when there is no display.
    ///
    /// Each start opens a separate window; the keychain detects conflicting changes of two windows.
    package static func run(model: QuickNoteModel, tellsTimes: Bool) -> Bool {
        MainLoop.leaveNoCore()
        guard MainLoop.start(identifier: "org.latchkey.QuickNote", name: "QuickNote") else { return false }
        let window = NotesWindow(model: model, times: Times(isOn: tellsTimes))
        window.start()
        MainLoop.run()
    }
}

/// Reports when something was drawn, for the benchmark.
struct Times {
    let isOn: Bool

    @MainActor func tell(_ event: String) {
        guard isOn else { return }
        try? FileHandle.standardError.write(contentsOf: Data("time: \(event) \(MainLoop.milliseconds)\n".utf8))
    }
}
