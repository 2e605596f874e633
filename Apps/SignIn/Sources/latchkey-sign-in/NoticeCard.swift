// SPDX-License-Identifier: Apache-2.0

import SignInCore
import Widgets

/// A message of the model: what happened, what to do, and a button that does it.
@MainActor final class NoticeCard {
    let card: Box
    private let words = Label(styles: ["heading"], announces: true, isCentred: true)
    private let help = Label(isCentred: true)
    private let reason = Label(styles: ["caption"], isCentred: true)
    private let details: Details
    private let button: Button
    private let shown: Shown
    @MainActor private final class Shown { var notice: Notice? }

    init(_ accept: @escaping @MainActor (Notice.Offer) -> Void) {
        let shown = Shown()
        self.shown = shown
        button = Button(styles: ["pill"]) { if let offer = shown.notice?.offer { accept(offer) } }
        button.centre()
        details = Details([reason])
        let content = Box(.down, spacing: 6, [words, help, button, details])
        content.setMargin(12)
        content.expand(across: true)
        card = Box(.down, [content])
        card.setStyle("card")
        card.isVisible = false
    }

    /// Shows a message; nil for none.
    ///
    /// - Parameter isBusy: whether its button cannot be pressed now.
    func show(_ notice: Notice?, isBusy: Bool) {
        let isNew = notice != shown.notice
        shown.notice = notice
        button.isSensitive = !isBusy
        guard isNew else { return }
        card.isVisible = notice != nil
        words.setStyle("error", notice?.isError == true)
        help.show(notice?.help)
        reason.text = notice?.details ?? ""
        details.show(notice?.details == nil ? nil : "Details")
        button.show(notice?.offer?.title)
        button.setStyle("suggested-action", notice?.offer?.goesOn == true)
        if let notice { words.announce(notice.words) } else { words.show(nil) }
    }

    /// Moves the focus to the button; false when there is none that goes on.
    func focus() -> Bool {
        guard shown.notice?.offer?.goesOn == true, card.isVisible, button.isVisible, button.isSensitive else {
            return false
        }
        button.focus()
        return true
    }
}
