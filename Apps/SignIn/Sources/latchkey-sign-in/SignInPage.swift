// SPDX-License-Identifier: Apache-2.0

import SignInCore
import Widgets

/// A page of the window.
@MainActor protocol SignInPage: AnyObject {
    /// The widget.
    var page: Widget { get }
    /// Draws the model.
    func show(_ model: SignInModel)
    /// Moves the focus to where the user goes on.
    func focus(_ model: SignInModel)
    /// Called when another page takes its place.
    func leave()
}

extension SignInPage {
    func leave() {}
}

/// The foot of a page: what the user is asked for, and the button that cancels it.
@MainActor final class AskingBar {
    let box: Box
    private let words = Label(styles: ["title-3"], announces: true, isCentred: true)
    private let cancel: Button

    init(_ cancel: @escaping @MainActor () -> Void) {
        self.cancel = Button("Cancel", styles: ["pill"], cancel)
        self.cancel.centre()
        box = Box(.down, spacing: 12, [words, self.cancel])
        box.isVisible = false
    }

    /// Shows what the user is asked for; nil for nothing.
    func show(_ asking: String?) {
        if let asking { words.announce(asking) } else { words.show(nil) }
        let appears = asking != nil && !box.isVisible
        box.isVisible = asking != nil
        if appears { cancel.focus() }
    }
}
