// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyDesktop
import Widgets

/// The bars above and below the page.
@MainActor enum Bars {
    /// Sets a bar apart from the header bar, or from the page, beside which its buttons would seem to belong there.
    static func place(_ bar: Widget) { bar.setMargins(above: 12, below: 0, sides: 6) }
}

/// A message above the page that stays until it is dismissed, with a button that helps.
@MainActor final class MessageBar {
    let content: Box
    private let text = Label(announces: true)
    /// What lies behind the message, which a button shows.
    private let more = Label(styles: ["caption"])
    private let details: Details
    private let icon = Picture(points: 16)
    private var help: Button?
    private var action: (@MainActor () -> Void)?

    init() {
        details = Details([more])
        let column = Box(.down, [text, details])
        content = Box(.across, spacing: 12)
        content.setStyle("toolbar")
        let help = Button(styles: []) { [weak self] in self?.action?() }
        let close = Button(WindowWords.dismiss, icon: "window-close-symbolic", showsTitle: false, styles: ["flat"]) {
            [weak self] in self?.dismiss()
        }
        text.setMargin(6, sides: 0)
        icon.setMargin(0, sides: 6)
        for widget in [icon, help, close] as [Widget] { widget.centre(across: false) }
        let place = Beside(column, help)
        place.expand(across: true)
        for widget in [icon, place, close] as [Widget] { content.append(widget) }
        self.help = help
        Bars.place(content)
        dismiss()
    }

    /// Shows a message until the person dismisses it, or opens another page.
    func show(
        _ words: String, isError: Bool = false, details lines: String? = nil, button: String? = nil,
        _ action: (@MainActor () -> Void)? = nil
    ) {
        self.action = action
        more.text = lines ?? ""
        details.show(lines == nil ? nil : WindowWords.details)
        icon.show(isError ? "dialog-warning-symbolic" : "dialog-information-symbolic")
        help?.show(button)
        content.isVisible = true
        text.announce(words)
    }

    /// Hides the message.
    func dismiss() {
        text.show(nil)
        content.isVisible = false
    }
}

/// The operation that runs, below the page, with a button that cancels it.
@MainActor final class OperationBar: OperationDisplay {
    let content: Box
    let page: PageName? = nil
    private let text = Label(announces: true)
    private let bar = ProgressBar(WindowWords.progress)
    private let spinner = ProgressPicture(points: 16)
    private var button: Button?
    /// Says that another prompt is shown first.
    private let other = Label(styles: ["caption"], announces: true)
    private var showPrompt: Button?
    private var prompt: RaisedWindow?
    private var action: (@MainActor () -> Void)?
    private var isRunning = false
    /// Whether the open page shows the operation itself.
    var isCovered = false { didSet { content.isVisible = isRunning && !isCovered } }

    init() {
        let column = Box(.down, spacing: 6, [text, other, bar])
        column.setMargin(6, sides: 0)
        content = Box(.across, spacing: 12)
        content.setStyle("toolbar")
        let button = Button(WindowWords.cancel) { [weak self] in
            self?.button?.isSensitive = false
            self?.action?()
        }
        let showPrompt = Button(WindowWords.showPrompt) { [weak self] in self?.prompt?.raise() }
        let buttons = Box(.across, spacing: 12, [showPrompt, button])
        self.showPrompt = showPrompt
        for widget in [spinner, column, buttons] as [Widget] { widget.centre(across: false) }
        let place = Beside(column, buttons)
        place.expand(across: true)
        for widget in [spinner, place] as [Widget] { content.append(widget) }
        self.button = button
        spinner.setMargin(0, sides: 6)
        content.isVisible = false
    }

    func start(_ words: String, cancel: (@MainActor () -> Void)?) {
        (action, isRunning) = (cancel, true)
        button?.isVisible = cancel != nil
        button?.isSensitive = true
        bar.isVisible = false
        content.isVisible = !isCovered
        spinner.spin()
        say(words)
        show(promptOf: 0)
        prompt = RaisedWindow(name: "org.latchkey.Agent") { [weak self] in self?.show(promptOf: $0) }
    }

    /// Offers to show the prompt on the display, and says if it is not that of this program.
    private func show(promptOf process: Int32) {
        showPrompt?.isVisible = process != 0
        other.show(process == 0 || process == getpid() ? nil : WindowWords.otherPrompt)
    }

    func focus() { if button?.isVisible == true { button?.focus() } }

    func show(_ progress: Operation.Progress) {
        guard isRunning else { return }
        say(progress.words)
        bar.isVisible = progress.part != nil
        if let part = progress.part { bar.show(part) }
    }

    /// What the page shows is announced there.
    private func say(_ words: String) { if isCovered { text.show(words) } else { text.announce(words) } }

    func end() {
        isRunning = false
        prompt?.end()
        prompt = nil
        text.show(nil)
        content.isVisible = false
        action = nil
    }
}

/// The page in place of another one while there is no keychain: why, and what helps.
@MainActor final class MissingPage {
    let content: Widget
    var again: (@MainActor () -> Void)?
    var health: (@MainActor () -> Void)?
    private let place = EmptyPlace()
    private let more = Label(styles: ["caption"], isCentred: true)
    private let details: Details

    init() {
        details = Details([more])
        let later = (again: Box(.across), health: Box(.across))
        for box in [later.again, later.health] { box.centre() }
        // Below each other, so that they fit a narrow window.
        let buttons = Box(.down, spacing: 12, [later.again, later.health])
        content = Page(Box(.down, spacing: 12, [place, details]), width: 480, foot: buttons)
        later.again.append(
            MnemonicButton(WindowWords.tryAgain, styles: ["pill", "suggested-action"]) { [weak self] in self?.again?() }
        )
        later.health.append(
            MnemonicButton(WindowWords.showHealth, styles: ["pill"]) { [weak self] in self?.health?() })
    }

    /// Explains a failure.
    func show(_ failure: SettingsFailure?) {
        guard let failure else { return }
        place.show(
            icon: "dialog-warning-symbolic", title: FailureWords.missingTitle(failure),
            words: FailureWords.missing(failure))
        more.text = FailureWords.details(failure) ?? ""
        details.show(WindowWords.details)
    }
}
