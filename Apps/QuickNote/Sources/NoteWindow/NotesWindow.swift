// SPDX-License-Identifier: Apache-2.0

import Foundation
import Observation
import QuickNoteCore
import Widgets

/// The window: draws what the model says whenever that changes, and tells it what a person does.
@MainActor final class NotesWindow {
    private let model: QuickNoteModel
    private let times: Times
    private let header = HeaderBar(title: "QuickNote")
    private let locked: LockedPage
    private let notes: NotesPage
    private let panel: SimulatorPanel
    private let message = Label(styles: ["heading"], announces: true)
    private let messageBar: Box
    private let unavailable = EmptyPlace()
    private var firstRun: PasswordPage?
    private var password: PasswordPage?
    private var change: PasswordPage?
    private var newNote: Button?
    private var lockButton: Button?
    private var stack: Stack?
    private var toasts: Toasts?
    private var window: AppWindow?
    private var timer: UInt32?
    /// A page that a person asked for, over the notes or in their place.
    private var wish = Wish.none { didSet { draw() } }
    private enum Wish { case none, changePassword, reset, close }
    private var shownPage = ""
    /// For each page that asks a question, the button that does nothing: the keys begin there.
    private var questions: [String: Button] = [:]

    init(model: QuickNoteModel, times: Times) {
        self.model = model
        self.times = times
        locked = LockedPage(
            unlock: { Task { await model.unlock() } }, usePassword: { model.askForPassword() })
        panel = SimulatorPanel(model: model)
        let deleteNote = Later()
        notes = NotesPage(model: model) { deleteNote.run() }
        let dismiss = Button("Dismiss", icon: "window-close-symbolic", showsTitle: false, styles: ["flat"]) {
            model.dismissMessage()
        }
        message.expand(across: true)
        message.setMargin(0, sides: 6)
        messageBar = Box(.across, spacing: 6, [message, dismiss])
        messageBar.setStyle("toolbar")
        messageBar.isVisible = false
        deleteNote.action = { [weak self] in self?.delete() }
        makePages()
    }

    /// Shows the window and looks where the app stands.
    func start() {
        follow()
        window?.afterNextFrame { [times] in times.tell("visible") }
        window?.present()
        let model = model
        Task {
            await model.start()
            panel.isSimulated = await SimulatedSensor.isThere()
            // What can be played is drawn with the rest.
            draw()
        }
    }

    // MARK: - Drawing

    /// Draws now, and again after each change of what was drawn.
    private func follow() {
        withObservationTracking {
            draw()
        } onChange: { [weak self] in
            // The change is not made yet when this is called; what comes in one turn is drawn once.
            Task { @MainActor in self?.follow() }
        }
    }

    private func draw() {
        let page = self.page
        if page != shownPage { leave(shownPage) }
        firstRun?.show(
            words: "It opens your notes when your finger or face does not. Nobody can get it back for you.",
            error: page == "firstRun" ? model.message : nil, isBusy: model.isBusy)
        password?.show(
            words: model.passwordPrompt?.words ?? "", error: model.passwordPrompt?.error, isBusy: model.isBusy)
        change?.show(
            words: "Your notes stay as they are.", error: page == "change" ? model.message : nil, isBusy: model.isBusy)
        if case .unavailable(let words) = model.phase {
            unavailable.show(icon: "dialog-error-symbolic", title: "The Notes Cannot Be Opened", words: words)
        }
        locked.show(model)
        notes.show()
        panel.show(model)
        let isOwnMessage = ["firstRun", "change"].contains(page)
        message.text = model.message ?? ""
        messageBar.isVisible = model.message != nil && !isOwnMessage
        newNote?.isVisible = page == "notes"
        lockButton?.isVisible = !model.isLocked
        if model.isLocked { toasts?.dismiss() }
        stack?.page = page
        if page != shownPage { enter(page) }
        plan()
    }

    private var page: String {
        switch wish {
        case .reset: return "reset"
        case .close: return "close"
        case .changePassword where !model.isLocked: return "change"
        default: break
        }
        switch model.phase {
        case .starting: return "starting"
        case .unavailable: return "unavailable"
        case .firstRun: return "firstRun"
        case .locked: return model.passwordPrompt == nil ? "locked" : "password"
        case .unlocked: return "notes"
        }
    }

    /// Before another page comes: the keys are elsewhere before a field goes, and nothing typed stays.
    private func leave(_ page: String) {
        window?.dropFocus()
        for page in [firstRun, password, change] { page?.clear() }
        if page == "firstRun" || page == "change" { model.dismissMessage() }
    }

    private func enter(_ page: String) {
        shownPage = page
        switch page {
        case "firstRun": firstRun?.focus()
        case "password": password?.focus()
        case "change": change?.focus()
        case "locked": locked.focus()
        case "notes":
            notes.focus()
            window?.afterNextFrame { [times] in times.tell("notes") }
        default: questions[page]?.focus()
        }
    }

    /// Wakes up when the model has something to do, and not before.
    private func plan() {
        if let timer { MainLoop.cancel(timer) }
        timer = model.untilTick.map { due in
            let milliseconds = due / .milliseconds(1)
            return MainLoop.after(milliseconds: UInt32(min(milliseconds, 3_600_000)) + 1) { [weak self] in
                guard let self else { return }
                timer = nil
                Task {
                    await self.model.tick()
                    self.plan()
                }
            }
        }
    }

    // MARK: - Doing

    private func delete() {
        guard model.selection != nil else { return }
        let model = model
        Task {
            let isEmpty = model.text.isEmpty
            await model.deleteNote()
            guard model.selection == nil, !model.isLocked, !isEmpty else { return }
            toasts?.show("Note deleted", button: "Undo") {
                Task {
                    // With a note chosen, undo would take back what was typed there.
                    await model.select(nil)
                    await model.undo()
                }
            }
        }
    }

    private func lock() {
        let model = model
        wish = .none
        Task { await model.lock() }
    }

    /// Locks and ends, unless a text would be lost.
    private func close() {
        let model = model
        Task {
            await model.lock()
            if model.hasUnsavedText { wish = .close } else { exit(0) }
        }
    }

    // MARK: - Parts

    private func makePages() {
        let model = model
        let firstRun = PasswordPage(
            "Choose a Password", icon: "changes-prevent-symbolic", fields: ["Password", "Password again"],
            submit: "Set Password"
        ) { typed in Task { await model.setPassword(typed[0], again: typed[1]) } }
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
            "notes": notes.split, "change": change.page, "unavailable": makeUnavailable(), "reset": makeReset(),
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
        (self.newNote, lockButton) = (newNote, lock)
        header.atStart(newNote)
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
        return Page(Box(.down, spacing: 12, [unavailable, again]), width: 480)
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
            "reset", "Delete Every Note?", "The password and all notes are gone for good, as on the first day.",
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
            "close", "A Note Is Not Saved", "Closing now loses what you wrote. It comes back when you unlock.",
            icon: "dialog-warning-symbolic", yes: "Close and Lose It"
        ) { exit(1) }
    }

    private var shortcuts: [Shortcut] {
        let model = model
        // What changes a note does so only where the note is seen.
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
            Shortcut("Escape", "Back") { [weak self] in self?.back() },
            Shortcut("<Control>q", "Lock and close") { [weak self] in self?.close() },
        ]
    }

    private func back() {
        if wish != .none {
            wish = .none
        } else if model.passwordPrompt != nil {
            model.cancelPassword()
        } else if model.askingWords != nil {
            model.askForPassword()
        } else if !model.search.isEmpty {
            model.search = ""
        }
    }
}
