// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// An enrolment in place of the form that began it: what to do now, how far it is, and a button that cancels it.
@MainActor final class EnrolmentPlace: OperationDisplay {
    let content: Widget
    let page: PageName? = .fingerprints
    /// Called when it appears and when it is over.
    var turned: (@MainActor () -> Void)?
    private(set) var isShown = false
    private let text = Label(styles: ["title-3"], announces: true, isCentred: true)
    private let bar = ProgressBar(WindowWords.progress)
    private var button: Button?
    private var action: (@MainActor () -> Void)?

    init() {
        let place = Box(.down)
        content = Page(
            Box(.down, spacing: 18, [Picture("auth-fingerprint-symbolic", points: 96), text, bar]), width: 480,
            foot: place)
        let button = Button(WindowWords.cancel, styles: ["pill"]) { [weak self] in
            self?.button?.isSensitive = false
            self?.action?()
        }
        button.centre(down: false)
        place.append(button)
        self.button = button
    }

    func start(_ words: String, cancel: (@MainActor () -> Void)?) {
        (isShown, action) = (true, cancel)
        button?.isSensitive = true
        bar.show(0)
        turned?()
        text.announce(words)
    }

    func focus() { button?.focus() }

    func show(_ progress: Operation.Progress) {
        guard isShown else { return }
        text.announce(progress.words)
        if let part = progress.part { bar.show(part) }
    }

    func end() {
        (isShown, action) = (false, nil)
        text.show(nil)
        turned?()
    }
}
