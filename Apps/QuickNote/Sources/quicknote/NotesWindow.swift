// SPDX-License-Identifier: Apache-2.0

import Observation
import QuickNoteCore
import SimulatedSensor
import Widgets

/// The window: draws the model whenever it changes, and passes the user's actions to it.
@MainActor final class NotesWindow {
    let model: QuickNoteModel
    let times: Times
    let header = HeaderBar(title: "QuickNote")
    let locked: LockedPage
    let notes: NotesPage
    let panel: SensorPanel
    let message = Label(styles: ["heading"], announces: true)
    let messageBar: Box
    let unavailable = EmptyPlace()
    /// Why, for a person who knows the parts of the keychain; below a button.
    let reason = Label(styles: ["caption"], isCentred: true)
    var firstRun: PasswordPage?
    var password: PasswordPage?
    var change: PasswordPage?
    var newNote: Button?
    var lockButton: Button?
    var back: Button?
    var stack: Stack?
    var toasts: Toasts?
    var window: AppWindow?
    private var timer: UInt32?
    /// A page that the user opened, which takes precedence over the page of the model's phase.
    var wish = Wish.none { didSet { draw() } }
    enum Wish { case none, changePassword, reset, close }
    var shownPage = ""
    /// For each page with a question, its Cancel button, which has the focus first.
    var questions: [String: Button] = [:]

    init(model: QuickNoteModel, times: Times) {
        self.model = model
        self.times = times
        locked = LockedPage(
            unlock: { Task { await model.unlock() } }, usePassword: { model.askForPassword() })
        panel = SensorPanel(enrolled: { await model.start() })
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

    /// Shows the window and starts the model.
    func start() {
        follow()
        window?.afterNextFrame { [times] in times.tell("visible") }
        window?.present()
        let model = model
        Task {
            await model.start()
            await panel.look()
            // Draws the panel of the simulated sensor.
            draw()
        }
    }

    // MARK: - Drawing

    /// Draws now, and again after each change of what was drawn.
    private func follow() {
        withObservationTracking {
            draw()
        } onChange: { [weak self] in
            // Called before the change is made; the task draws all changes of one turn together.
            Task { @MainActor in self?.follow() }
        }
    }

    func draw() {
        // A page opened before the notes were locked must not reappear after unlocking. Setting `wish` draws again.
        if wish == .changePassword, model.isLocked {
            wish = .none
            return
        }
        let page = self.page
        if page != shownPage { leave(shownPage) }
        firstRun?.show(
            words:
                "It is for your notes only, and not your passcode for apps. It opens them when your finger or face does not, "
                + "even if you forget that passcode. It cannot be recovered.",
            error: page == "firstRun" ? model.message : nil, isBusy: model.isBusy)
        password?.show(
            words: model.passwordPrompt?.words ?? "", error: model.passwordPrompt?.error, isBusy: model.isBusy)
        change?.show(
            words: "Your notes stay as they are.", error: page == "change" ? model.message : nil, isBusy: model.isBusy)
        if case .unavailable(let words) = model.phase {
            unavailable.show(
                icon: "dialog-error-symbolic", title: "The Notes Cannot Be Opened",
                words: "The keychain in which they are stored cannot be used at the moment. They are not lost.")
            reason.text = words
        }
        locked.show(model)
        notes.show()
        let sensor = model.support.sensor
        panel.show(
            bodyPart: sensor?.bodyPart, isFace: sensor == .faceID, isAsking: model.askingWords != nil)
        let isOwnMessage = ["firstRun", "change"].contains(page)
        message.text = model.message ?? ""
        messageBar.isVisible = model.message != nil && !isOwnMessage
        // A narrow bar only has room for one of these buttons.
        newNote?.isVisible = page == "notes" && !notes.coversList
        back?.isVisible = page == "notes" && notes.coversList
        lockButton?.showTitle(!notes.leaflet.isFolded)
        header.showTitle(page != "notes" || !notes.leaflet.isFolded)
        lockButton?.isVisible = !model.isLocked
        if model.isLocked { toasts?.dismiss() }
        stack?.page = page
        if page != shownPage { enter(page) }
        plan()
    }

    var page: String {
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

    /// Prepares for another page: removes the focus from a field that is about to be hidden, and clears typed text.
    private func leave(_ page: String) {
        window?.dropFocus()
        for page in [firstRun, password, change] { page?.clear() }
        // A message about locking must remain, one about this page must not.
        if page == "firstRun" || page == "change" && !model.isLocked { model.dismissMessage() }
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

    /// Sets a timer for the next time at which the model has work to do, if any.
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
}
