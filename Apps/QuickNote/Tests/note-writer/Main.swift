// SPDX-License-Identifier: Apache-2.0

import Foundation
import QuickNoteCore

/// The app without a window, for tests and measurements: its password is `pw`.
///
/// usage: note-writer notes COUNT   (writes that many notes)
///        note-writer lines COUNT   (saves a note after each of that many lines)
///        note-writer show 0        (prints the text of each note)
@main
enum Main {
    @MainActor static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]) else { exit(2) }
        let model = QuickNoteModel()
        await model.start()
        if model.phase == .firstRun {
            await model.setPassword("pw", again: "pw")
        } else {
            model.askForPassword()
            await model.submitPassword("pw")
        }
        guard model.phase == .unlocked else { exit(1) }
        switch arguments[1] {
        case "notes":
            for number in 0..<count {
                await model.newNote()
                await write("note number \(number) of many", to: model)
            }
        case "lines":
            await model.newNote()
            for _ in 0..<count { await write("a whole line\n", to: model) }
        case "show":
            for note in model.notes {
                await model.select(note.id)
                print(model.text)
            }
        default: exit(2)
        }
        await model.lock()
        exit(model.hasUnsavedText ? 1 : 0)
    }

    @MainActor private static func write(_ text: String, to model: QuickNoteModel) async {
        model.paste(Data(text.utf8))
        await model.save()
    }
}
