// SPDX-License-Identifier: Apache-2.0

import Foundation
package import QuickNoteCore
import Widgets

/// The app with a window.
@MainActor package enum NotesApp {
    /// Shows the window and runs until it is closed; false, at once, when there is no display.
    ///
    /// Each start is a window of its own, also beside others: the keychain keeps them from each other's changes.
    package static func run(model: QuickNoteModel, tellsTimes: Bool) -> Bool {
        MainLoop.leaveNoCore()
        guard MainLoop.start(identifier: "org.latchkey.QuickNote", name: "QuickNote") else { return false }
        let window = NotesWindow(model: model, times: Times(isOn: tellsTimes))
        window.start()
        MainLoop.run()
    }
}

/// Tells when something was on the screen, for the benchmark alone.
struct Times {
    let isOn: Bool

    @MainActor func tell(_ event: String) {
        guard isOn else { return }
        FileHandle.standardError.write(Data("time: \(event) \(MainLoop.milliseconds)\n".utf8))
    }
}
