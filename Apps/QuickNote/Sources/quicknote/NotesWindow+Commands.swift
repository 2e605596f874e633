// SPDX-License-Identifier: Apache-2.0

import Foundation
import QuickNoteCore
import Widgets

/// Commands of the window, by button or keyboard shortcut.
extension NotesWindow {
    func delete() {
        guard model.selection != nil else { return }
        let model = model
        Task {
            let isEmpty = model.text.isEmpty
            await model.deleteNote()
            guard model.selection == nil, !model.isLocked, !isEmpty else { return }
            toasts?.show("Note deleted", button: "Undo") {
                Task {
                    // With a note selected, undo would revert its last change.
                    await model.select(nil)
                    await model.undo()
                }
            }
        }
    }

    func lock() {
        let model = model
        wish = .none
        Task { await model.lock() }
    }

    /// Locks and exits, unless text would be lost.
    func close() {
        let model = model
        Task {
            await model.lock()
            if model.hasUnsavedText { wish = .close } else { MainLoop.end() }
        }
    }

    var shortcuts: [Shortcut] {
        let model = model
        // Commands that change a note only work on the page of the notes.
        func onNotes(_ action: @escaping @MainActor () -> Void) -> @MainActor () -> Void {
            { [weak self] in if self?.shownPage == "notes" { action() } }
        }
        return [
            Shortcut("<Control>n", "New note", onNotes { Task { await model.newNote() } }),
            Shortcut("<Control>f", "Search", onNotes { [weak self] in self?.notes.focusSearch() }),
            Shortcut("<Control>l", "Lock, or unlock") { [weak self] in
                if model.isLocked { Task { await model.unlock() } } else { self?.lock() }
            },
            Shortcut("<Control>z", "Undo", onNotes { Task { await model.undo() } }),
            Shortcut("<Control><Shift>z", "Redo", onNotes { model.redo() }),
            Shortcut("<Control>Delete", "Delete note", onNotes { [weak self] in self?.delete() }),
            Shortcut("<Control>s", "Save now") { Task { await model.save() } },
            Shortcut("<Control>question", "Keyboard shortcuts") { [weak self] in self?.window?.showShortcuts() },
            Shortcut("Escape", "Back") { [weak self] in self?.goBack() },
            Shortcut("<Control>q", "Lock and close") { [weak self] in self?.close() },
        ]
    }

    private func goBack() {
        if wish != .none {
            wish = .none
        } else if model.passwordPrompt != nil {
            model.cancelPassword()
        } else if model.askingWords != nil {
            model.askForPassword()
        } else if shownPage == "notes", notes.coversList {
            notes.showList()
        } else if !model.search.isEmpty {
            model.search = ""
        }
    }
}
