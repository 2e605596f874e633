// SPDX-License-Identifier: Apache-2.0

import Foundation
import QuickNoteCore
import Widgets

/// Creates the pages of the window and its header bar.
extension NotesWindow {
    func makePages() {
        let model = model
        let firstRun = PasswordPage(
            "Choose a Password", icon: "changes-prevent-symbolic", fields: ["Password", "Password again"],
            submit: "Set Password"
        ) { typed in
            Task { [weak self] in
                await model.setPassword(typed[0], again: typed[1])
                if !model.isLocked, let words = model.trustWords { self?.toasts?.show(words) }
            }
        }
        let password = PasswordPage(
            "Unlock Your Notes", icon: "dialog-password-symbolic", fields: ["Password"], submit: "Unlock",
            cancel: { model.cancelPassword() },
            action: { [times] typed in
                times.tell("password")
                Task { await model.submitPassword(typed[0]) }
            })
        let change = PasswordPage(
            "Change Password", icon: "dialog-password-symbolic",
            fields: ["Old password", "New password", "New password again"], submit: "Change Password",
            cancel: { [weak self] in self?.wish = .none },
            action: { typed in
                model.dismissMessage()
                Task { [weak self] in
                    if await model.changePassword(from: typed[0], to: typed[1], again: typed[2]) { self?.wish = .none }
                }
            })
        (self.firstRun, self.password, self.change) = (firstRun, password, change)
        let stack = Stack([
            "starting": EmptyPlace(), "firstRun": firstRun.page, "locked": locked.page, "password": password.page,
            "notes": notes.leaflet, "change": change.page, "unavailable": makeUnavailable(), "reset": makeReset(),
            "close": makeClose(),
        ])
        stack.expand(across: true, down: true)
        self.stack = stack
        let toasts = Toasts(stack)
        self.toasts = toasts
        makeHeader()
        let content = Box(.down, spacing: 0, [header, messageBar, toasts, panel.box])
        let window = AppWindow(title: "QuickNote", width: 860, height: 600, content: content) { [weak self] in
            self?.close()
        }
        window.add(shortcuts)
        window.whenUsed { model.touch() }
        window.whenActive { Task { await model.start() } }
        MainLoop.whenToldToEnd { [weak self] in self?.close() }
        self.window = window
    }

    private func makeHeader() {
        let model = model
        let newNote = Button("New Note", icon: "document-new-symbolic", showsTitle: false) {
            Task { await model.newNote() }
        }
        let lock = Button("Lock", icon: "changes-prevent-symbolic") { [weak self] in self?.lock() }
        let back = Button("Back to the Notes", icon: "go-previous-symbolic", showsTitle: false) { [weak self] in
            self?.notes.showList()
        }
        (self.newNote, lockButton, self.back) = (newNote, lock, back)
        header.atStart(back)
        header.atStart(newNote)
        notes.leaflet.whenFolded { [weak self] in self?.draw() }
        var commands: [(title: String, action: @MainActor () -> Void)] = [
            ("Change Password…", { [weak self] in if self?.model.isLocked == false { self?.wish = .changePassword } }),
            ("Keyboard Shortcuts", { [weak self] in self?.window?.showShortcuts() }),
        ]
        #if DEBUG
        commands.append(("Reset Everything… (debug builds)", { [weak self] in self?.wish = .reset }))
        #endif
        header.atEnd(MenuButton("Menu", icon: "open-menu-symbolic", commands))
        header.atEnd(lock)
    }

    private func makeUnavailable() -> Widget {
        let model = model
        let again = Button("Try Again", styles: ["pill", "suggested-action"]) { Task { await model.start() } }
        again.centre()
        let details = Details([reason])
        details.show("Details")
        return Page(Box(.down, spacing: 12, [unavailable, again, details]), width: 480)
    }

    private func makeQuestion(
        _ page: String, _ title: String, _ words: String, icon: String, yes: String,
        _ action: @escaping @MainActor () -> Void
    ) -> Widget {
        let place = EmptyPlace()
        place.show(icon: icon, title: title, words: words)
        let cancel = Button("Cancel", styles: ["pill"]) { [weak self] in self?.wish = .none }
        questions[page] = cancel
        let buttons = Box(.across, spacing: 12, [cancel, Button(yes, styles: ["pill", "destructive-action"], action)])
        buttons.centre()
        return Page(Box(.down, spacing: 12, [place, buttons]), width: 480)
    }

    private func makeReset() -> Widget {
        makeQuestion(
            "reset", "Delete Every Note?", "This permanently deletes the password and all notes.",
            icon: "dialog-warning-symbolic", yes: "Delete Everything"
        ) { [weak self] in
            #if DEBUG
            Task { [weak self] in
                await self?.model.reset()
                self?.wish = .none
            }
            #endif
        }
    }

    private func makeClose() -> Widget {
        makeQuestion(
            "close", "A Note Is Not Saved", "Closing now loses your text. Unlocking instead brings it back.",
            icon: "dialog-warning-symbolic", yes: "Close and Lose It"
        ) { MainLoop.end(1) }
    }
}
