// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignInCore
import Widgets

/// The page of a session: who is signed in, one act to approve, and the way out.
@MainActor final class SignedInPage: SignInPage {
    let page: Widget
    private let words = Label(styles: ["dim-label"], isCentred: true)
    private let notice: NoticeCard
    private let asking: AskingBar
    private let user = Row("User", icon: "avatar-default-symbolic")
    private let server = Row("Server", icon: "network-server-symbolic")
    private let party = Row("Relying party", icon: "security-high-symbolic")
    private let payment: Row
    private let rows: RowGroup
    private let acts: RowGroup
    private let approve: Button
    private let signOut: Button

    init(_ model: SignInModel) {
        notice = NoticeCard { offer in Task { await model.accept(offer) } }
        asking = AskingBar { model.cancel() }
        approve = Button("Approve", styles: ["suggested-action"]) { Task { await model.approve() } }
        payment = Row("20 EUR to Bob", suffix: [approve])
        rows = RowGroup(name: "Session", [user, server, party])
        acts = RowGroup("Payment", [payment])
        signOut = Button("Sign Out", styles: ["pill"]) { Task { await model.signOut() } }
        signOut.centre()
        let title = Label("Signed In", styles: ["title-1"], isCentred: true)
        page = Page(
            Box(.down, spacing: 18, [Box(.down, spacing: 6, [title, words]), notice.card, rows, acts]), width: 420,
            foot: Box(.down, [asking.box, signOut]))
    }

    func show(_ model: SignInModel) {
        guard case .signedIn(let account, let expires) = model.state else { return }
        let isBusy = model.activity != nil
        let isToday = Calendar.current.isDateInToday(expires)
        words.text = "until \(expires.formatted(date: isToday ? .omitted : .abbreviated, time: .shortened))"
        user.show("User", account.user)
        server.show("Server", account.address.absoluteString)
        party.show("Relying party", account.relyingPartyID)
        let method = model.method
        payment.show("20 EUR to Bob", method.explanation ?? "Needs \(method.noun)")
        approve.title = "Approve"
        approve.isSensitive = !isBusy && method.isPossible
        notice.show(model.notice, isBusy: isBusy)
        asking.show(model.activityWords)
        signOut.isVisible = !isBusy
    }

    func focus(_ model: SignInModel) {
        if notice.focus() { return }
        if approve.isSensitive { approve.focus() } else { signOut.focus() }
    }
}
