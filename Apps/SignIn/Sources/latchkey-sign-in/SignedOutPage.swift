// SPDX-License-Identifier: Apache-2.0

import SignInCore
import Widgets

/// The page of a registered device without a session: one button signs in.
@MainActor final class SignedOutPage: SignInPage {
    let page: Widget
    private let picture = Picture(points: 96)
    private let account = Label(styles: ["dim-label"], isCentred: true)
    private let notice: NoticeCard
    private let explanation = Label(isCentred: true)
    private let warning = Label(styles: ["caption", "warning"], isCentred: true)
    private let asking: AskingBar
    private let signIn: Button
    private let newCode: Button
    private let forget: Button
    private let buttons: Box

    init(_ model: SignInModel, forget ask: @escaping @MainActor () -> Void) {
        notice = NoticeCard { offer in Task { await model.accept(offer) } }
        asking = AskingBar { model.cancel() }
        signIn = Button(styles: ["pill", "suggested-action"]) { Task { await model.proceed() } }
        newCode = Button("Use a New Code", styles: ["pill", "flat"]) { model.useNewCode() }
        forget = Button("Forget This Device", styles: ["pill", "flat"], ask)
        buttons = Box(.down, spacing: 6, [signIn, newCode, forget])
        buttons.centre()
        let title = Label("Signed Out", styles: ["title-1"], isCentred: true)
        page = Page(
            Box(
                .down, spacing: 12,
                [picture, title, account, notice.card, explanation, warning, asking.box, buttons]),
            width: 420)
    }

    func show(_ model: SignInModel) {
        let (method, isBusy) = (model.method, model.activity != nil)
        picture.show(method.iconName)
        account.show(model.state.account.map { "\($0.user) at \($0.relyingPartyID)" })
        notice.show(model.notice, isBusy: isBusy)
        // A message says what happened, which is more than what is possible.
        explanation.show(isBusy || model.notice?.isError == true && method.isPossible ? nil : method.explanation)
        // Shown before the button is pressed, since pressing it starts the scan.
        warning.show(isBusy ? nil : model.faceWarning)
        asking.show(model.activityWords)
        signIn.title = method.title("Sign In")
        signIn.isSensitive = method.isPossible
        signIn.setAccessibleDescription(model.faceWarning ?? "")
        // The offer of the message takes its place.
        signIn.isVisible = model.notice?.offer?.goesOn != true
        newCode.isVisible = model.notice?.offer != .newCode
        buttons.isVisible = !isBusy
    }

    func focus(_ model: SignInModel) {
        if notice.focus() { return }
        if signIn.isVisible, signIn.isSensitive { signIn.focus() } else { newCode.focus() }
    }
}
