// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import SignInCore
import Widgets

/// The form with which a device is registered.
@MainActor final class RegistrationPage: SignInPage {
    let page: Widget
    private let model: SignInModel
    private let picture = Picture(points: 64)
    private let words = Label(styles: ["dim-label"], isCentred: true)
    private let notice: NoticeCard
    private let server: TextField
    private let party: TextField
    private let user: TextField
    private let code: TextField
    private let release: Choice
    private let releaseRow: Box
    private let form: Box
    private let warning = Label(styles: ["caption", "warning"], isCentred: true)
    private let asking: AskingBar
    private let register: Button
    private let keep: Button
    private let buttons: Box

    init(_ model: SignInModel) {
        self.model = model
        let (sent, changed) = (Later(), Later())
        notice = NoticeCard { offer in Task { await model.accept(offer) } }
        let next = (Later(), Later(), Later())
        server = TextField("Server") { next.0.run() }
        party = TextField("Relying party") { next.1.run() }
        user = TextField("User") { next.2.run() }
        code = TextField("Enrolment code") { sent.run() }
        release = Choice("Sign in with") { _ in changed.run() }
        func labelled(_ name: String, _ widget: Widget) -> Box {
            Box(.down, spacing: 4, [Label(name, styles: ["caption", "dim-label"]), widget])
        }
        server.setPlaceholder("login.example.com")
        party.setPlaceholder("The same as the server")
        releaseRow = labelled("Sign in with", release)
        form = Box(
            .down, spacing: 12,
            [
                labelled("Server", server), labelled("Relying party", party), labelled("User", user),
                labelled("Enrolment code", code), releaseRow,
            ])
        asking = AskingBar { model.cancel() }
        register = Button("Register", styles: ["pill", "suggested-action"]) { sent.run() }
        keep = Button("Keep the Key", styles: ["pill"]) { model.keepKey() }
        buttons = Box(.across, spacing: 12, [keep, register])
        buttons.centre()
        let title = Label("Register This Device", styles: ["title-1"], isCentred: true)
        page = Page(
            Box(.down, spacing: 12, [picture, title, words, notice.card, form, warning]), width: 420,
            foot: Box(.down, [asking.box, buttons]))
        next.0.action = { [weak self] in self?.party.focus() }
        next.1.action = { [weak self] in self?.user.focus() }
        next.2.action = { [weak self] in self?.code.focus() }
        sent.action = { [weak self] in self?.send() }
        changed.action = { [weak self] in self.map { $0.show($0.model) } }
        for row in [server, party, user, code] { row.whenChanged { changed.run() } }
    }

    func show(_ model: SignInModel) {
        let isBusy = model.activity != nil
        let method = model.method(for: typed.release)
        picture.show(method.iconName)
        words.text = isBusy ? "\(typed.user) at \(typed.server)" : explanation(method)
        notice.show(model.notice, isBusy: isBusy)
        // Makes room for the message, so that the form stays in sight.
        for widget in [picture, words] as [Widget] { widget.isVisible = model.notice == nil }
        let releases = model.releases
        release.show(
            releases.map { model.name(of: $0) }, selected: releases.firstIndex(of: typed.release) ?? 0)
        releaseRow.isVisible = releases.count > 1
        // The prompt is all that matters then, and also has to fit into a low window.
        form.isVisible = !isBusy
        warning.show(isBusy ? nil : model.faceWarning)
        asking.show(model.activityWords)
        buttons.isVisible = !isBusy
        register.isSensitive = typed.isComplete && method.isPossible
        keep.isVisible = model.canKeepKey
    }

    func focus(_ model: SignInModel) {
        let first = [server, user, code].first { $0.text.isEmpty }
        (first ?? code).focus()
    }

    /// Fills in what is known.
    func fill(_ known: RegistrationForm) {
        (server.text, party.text, user.text, code.text) = (known.server, known.relyingParty, known.user, known.code)
        let releases = model.releases
        release.show(releases.map { model.name(of: $0) }, selected: releases.firstIndex(of: known.release) ?? 0)
    }

    /// The code is valid once, so it does not stay in the window.
    func leave() { code.text = "" }

    private var typed: RegistrationForm {
        let releases = model.releases
        return RegistrationForm(
            server: server.text, relyingParty: party.text, user: user.text, code: code.text,
            release: releases.indices.contains(release.selected) ? releases[release.selected] : releases[0])
    }

    private func explanation(_ method: SignInMethod) -> String {
        if let explanation = method.explanation { return explanation }
        let start = "The operator of the server gives you a code. With it, "
        if model.canKeepKey {
            return start + "\(method.noun) gets a new key, and the present key of this device is deleted."
        }
        return start + "\(method.noun) signs you in on this device."
    }

    private func send() {
        guard register.isSensitive, model.activity == nil else { return }
        let form = typed
        let model = model
        Task { await model.register(form) }
    }
}
