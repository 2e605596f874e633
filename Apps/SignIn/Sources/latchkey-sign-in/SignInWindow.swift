// SPDX-License-Identifier: Apache-2.0

import Foundation
import Observation
import SignInCore
import SimulatedSensor
import Widgets

/// The window: draws the model whenever it changes, and passes the user's actions to it.
@MainActor final class SignInWindow {
    let model: SignInModel
    private let registration: RegistrationPage
    private let signedOut: SignedOutPage
    private let signedIn: SignedInPage
    private let unavailable: EmptyPlace
    /// Why, for a person who knows the parts of the keychain; below a button.
    private let reason = Label(styles: ["caption"], isCentred: true)
    private let again: Button
    private let stack: Stack
    private let panel: SensorPanel
    private var window: AppWindow?
    private var timer: UInt32?
    private var shownPage = ""
    private var wasBusy = false

    init(model: SignInModel) {
        self.model = model
        let ask = Later()
        registration = RegistrationPage(model)
        signedOut = SignedOutPage(model) { ask.run() }
        signedIn = SignedInPage(model)
        again = Button("Try Again", styles: ["pill", "suggested-action"]) { Task { await model.start() } }
        unavailable = EmptyPlace(button: again)
        let details = Details([reason])
        details.show("Details")
        let withoutKeychain = Page(Box(.down, spacing: 12, [unavailable, details]), width: 420)
        stack = Stack([
            "starting": EmptyPlace(), "unavailable": withoutKeychain, "registration": registration.page,
            "signedOut": signedOut.page, "signedIn": signedIn.page,
        ])
        stack.expand(across: true, down: true)
        panel = SensorPanel { await model.start() }
        ask.action = { [weak self] in self?.askToForget() }
        makeWindow()
    }

    /// Shows the window and starts the model.
    func start() {
        follow()
        window?.present()
        let (model, panel) = (model, panel)
        Task {
            await model.start()
            await panel.look()
            draw()
        }
    }

    private func makeWindow() {
        let header = HeaderBar(title: "Sign In")
        header.atEnd(
            MenuButton(
                "Menu", icon: "open-menu-symbolic",
                [("Keyboard Shortcuts", { [weak self] in self?.window?.showShortcuts() })]))
        let content = Box(.down, [header, stack, panel.box])
        let window = AppWindow(title: "Sign In", width: 460, height: 680, content: content) { [weak self] in
            self?.close()
        }
        window.add(shortcuts)
        let model = model
        window.whenActive { Task { await model.start() } }
        MainLoop.whenToldToEnd { [weak self] in self?.close() }
        self.window = window
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

    private func draw() {
        let (name, page) = place
        if name != shownPage { leave(to: name) }
        if case .unavailable(let words) = model.state {
            unavailable.show(
                icon: "dialog-error-symbolic", title: "The Keychain Cannot Be Used",
                words: "The key of this device is in it. It is not lost.", offersButton: true)
            reason.text = words
        }
        page?.show(model)
        let sensor = model.support.sensor
        panel.show(bodyPart: sensor?.bodyPart, isFace: sensor == .faceID, isAsking: model.activity != nil)
        let isBusy = model.activity != nil
        stack.page = name
        if name != shownPage || wasBusy && !isBusy {
            if let page { page.focus(model) } else if name == "unavailable" { again.focus() }
        }
        shownPage = name
        wasBusy = isBusy
        plan()
    }

    private var place: (String, (any SignInPage)?) {
        switch model.state {
        case .starting: ("starting", nil)
        case .unavailable: ("unavailable", nil)
        case .registering: ("registration", registration)
        case .signedOut: ("signedOut", signedOut)
        case .signedIn: ("signedIn", signedIn)
        }
    }

    private func leave(to name: String) {
        window?.dropFocus()
        if shownPage == "registration" { registration.leave() }
        if name == "registration" { registration.fill(model.firstForm) }
    }

    /// Sets a timer for the end of the session.
    private func plan() {
        if let timer { MainLoop.cancel(timer) }
        timer = model.untilExpiry.map { due in
            // A timer may be early after the clock was set; an hour later the time is looked at again.
            let milliseconds = min(due / .milliseconds(1), 3_600_000)
            return MainLoop.after(milliseconds: UInt32(milliseconds) + 1) { [weak self] in
                guard let self else { return }
                timer = nil
                model.tick()
                plan()
            }
        }
    }

    // MARK: - Commands

    private func askToForget() {
        guard let window, model.activity == nil, let account = model.state.account else { return }
        let model = model
        Question.ask(
            over: window, heading: "Forget This Device?",
            body:
                "\(account.relyingPartyID) revokes the key of \(account.user), and this device deletes it. To sign in "
                + "again you need a new enrolment code.",
            decline: "_Keep", agree: "_Forget", isDestructive: true
        ) { Task { await model.forget() } }
    }

    private func goBack() {
        if model.activity != nil {
            model.cancel()
        } else if model.notice != nil {
            model.dismissNotice()
        } else {
            model.keepKey()
        }
    }

    /// Ends the session if there is one, and exits. The window does not wait for a server that is slow.
    private func close() {
        model.cancel()
        guard model.state.isSignedIn, model.activity == nil else { MainLoop.end() }
        window?.hide()
        let model = model
        _ = MainLoop.after(milliseconds: 3000) { MainLoop.end() }
        Task {
            await model.signOut()
            MainLoop.end()
        }
    }

    private var shortcuts: [Shortcut] {
        let model = model
        return [
            Shortcut("<Control>l", "Sign in, or sign out") {
                Task { if model.state.isSignedIn { await model.signOut() } else { await model.proceed() } }
            },
            Shortcut("Escape", "Cancel, or close the message") { [weak self] in self?.goBack() },
            Shortcut("<Control>question", "Keyboard shortcuts") { [weak self] in self?.window?.showShortcuts() },
            Shortcut("<Control>q", "Sign out and close") { [weak self] in self?.close() },
        ]
    }
}
