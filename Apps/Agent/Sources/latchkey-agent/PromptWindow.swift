// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// The window of one prompt.
///
/// The request is at the top, then instruction and feedback, then the buttons. Each line keeps its position when an
/// attempt fails. The text has the focus at first and reacts to no key, so that keys meant for another window cannot
/// answer the prompt.
@MainActor final class PromptWindow {
    private let link: AgentLink
    private var prompt: ShownPrompt
    private let text: PromptTextBlock
    /// Scrolls the texts where the display has no room for all of them; the buttons are always shown.
    private let textPlace: Limited
    private let content: Box
    private var entry: RevealingField?
    private var field: PasswordField? { entry?.field }
    private let fieldPlace = Box(.down, spacing: 0)
    private let buttons = Box(.across, spacing: 12, isEven: true)
    private let answers = Box(.down, spacing: 12)
    private let plays = Box(.across, spacing: 12, isEven: true)
    private let simulation = Label(lines: ShownPrompt.otherLines, styles: ["caption", "warning"], isCentred: true)
    private let copy: Button
    private let later = Later()
    private var cancel: Button?
    private var fallback: Button?
    private var primary: Button?
    private var window: AttentionWindow?
    private var isCountingDown = false
    /// Closes the window of a prompt that is over; nil before that.
    private var closing: (@MainActor () -> Void)?

    /// Shows a prompt, and sends its answers to `link`.
    init(_ prompt: ShownPrompt, link: AgentLink) {
        self.prompt = prompt
        self.link = link
        // Widgets take their direction when they are made.
        MainLoop.setDirection(isRightToLeft: prompt.isRightToLeft)
        copy = Button { [later] in later.run() }
        text = PromptTextBlock(prompt, copy: copy)
        textPlace = Limited(text.box)
        content = Box(
            .down, spacing: 12, [textPlace, fieldPlace, text.feedbackPlace, answers, buttons, simulation, plays])
        makeButtons()
        text.whenResized { [weak self] in self?.fit() }
        content.setWidth(min(Self.width, max(0, (MainLoop.monitorSize?.width ?? .max) - Self.surroundings)))
        content.setMargin(24, sides: Self.sides)
        let number = prompt.number
        window = AttentionWindow(title: "Latchkey", content: content) { [weak self] in self?.send(.cancel) }
        window?.typeInto { [weak self] in
            guard let self, !self.prompt.isChecking else { return nil }
            // Said, and not taken for a wish to type: what is typed into another window must not become a wrong passcode.
            if let hint = self.prompt.typingHint { text.announce(hint) }
            return takesText(self.prompt) ? field : nil
        }
        window?.afterNextFrame { link.send(.visible, prompt: number) }
        show(prompt)
        text.focus()
        if takesText(prompt) { field?.focus() }
        window?.present()
    }

    /// The width of the content where the display has room for it, and the margins and the border around it.
    private static let (width, surroundings): (Int32, Int32) = (400, 56)
    /// The height above which a prompt saves room, and what the border of the window takes of a display.
    private static let (high, border): (Int32, Int32) = (600, 8)

    /// The number of the prompt.
    var number: UInt64 { prompt.number }

    /// Whether its last passcode was wrong.
    var isOver: Bool { prompt.isOver }

    /// The process that asks.
    var processID: Int32 { prompt.processID }

    /// Brings the window to the front. For a moment, no key allows anything then: it may have been meant for the window that
    /// had the focus before. What is typed stays in the field.
    func raise(startup: String) {
        isQuiet = true
        // A button that is switched off loses the focus.
        if takesText(prompt), !prompt.isChecking { field?.focusAtEnd() } else { text.focus() }
        setSensitivity()
        window?.raise(startup: startup)
        // Raises are further apart than that.
        _ = MainLoop.after(milliseconds: Self.quietMilliseconds) { [weak self] in
            self?.isQuiet = false
            self?.setSensitivity()
        }
    }

    /// How long that is. The buttons show it, for a person who types the Enter too early.
    private static let quietMilliseconds: UInt32 = 1000
    private var isQuiet = false

    /// Switches off what allows something, while that has no effect.
    private func setSensitivity() {
        let isOn = !prompt.isChecking && !isQuiet
        primary?.isSensitive = isOn
        for button in answerButtons { button.isSensitive = isOn }
    }

    /// Shows the last state of a prompt that is over until the person closes it, and calls `close` then.
    func linger(_ close: @escaping @MainActor () -> Void) {
        closing = close
        cancel?.show(prompt.closeTitle)
        fallback?.show(nil)
        primary?.show(nil)
        fieldPlace.isVisible = false
        cancel?.focus()
    }

    /// Clears the field and closes the window.
    func close() {
        emptyField()
        text.focus()
        window?.close()
        window = nil
    }

    /// Shows a new state of the prompt.
    func show(_ new: ShownPrompt) {
        let old = prompt
        prompt = new
        text.show(new)
        window?.setAccessibleDescription([new.question, new.reason, new.wish].compactMap { $0 }.joined(separator: " "))
        showField(new)
        cancel?.show(new.cancelTitle)
        fallback?.show(asks(new) ? new.denyTitle : new.fallbackTitle)
        primary?.show(primaryTitle(new))
        // Permission to use the camera must not be the suggested action.
        primary?.setStyle("suggested-action", takesText(new) || new.recoveryCode != nil)
        let titles = [cancel, fallback, primary].compactMap { $0?.isVisible == true ? $0?.title : nil }
        buttons.turn(titles.contains { $0.count * titles.count > 36 } ? .down : .across)
        showAnswers(new)
        setSensitivity()
        copy.show(new.recoveryCode == nil ? nil : new.copyTitle)
        simulation.show(new.simulation)
        showPlays(new)
        fit()
        if new.isDelayed { countDown() }
        // Moves the focus to the field only when the field appears or accepts input again.
        if takesText(new), !takesText(old) || new.method != old.method || (old.isChecking && !new.isChecking) {
            if new.keepsTyped { field?.focusAtEnd() } else { field?.focus() }
        }
    }

    /// Fits the prompt to the display, whose text can be large: saves room, then scrolls the texts.
    private func fit() {
        guard let size = MainLoop.monitorSize else { return }
        let height = size.height - Self.border
        for arrangement in PromptTextBlock.CodeArrangement.allCases {
            text.arrangeCode(arrangement)
            // With room for the bar of a text that does not fit.
            if text.box.leastWidth + 2 * Self.sides + Self.bar <= size.width - Self.border { break }
        }
        if fittedHeight() > min(Self.high, height) {
            text.makeCompact()
            content.setSpacing(6)
            content.setMargin(18, sides: Self.sides)
        }
        let excess = fittedHeight() - height
        text.putCodeFirst(excess > 0 && prompt.recoveryCode != nil)
        guard excess > 0 else { return }
        // A bar is beside the texts then, which their least width does not count.
        let whole = textWidth()
        let limit = max(Self.leastHeight, text.box.height(inWidth: whole) - excess)
        textPlace.fit(width: max(whole, text.box.leastWidth + Self.bar), limit: limit)
    }

    /// The height of the window's content with all texts.
    private func fittedHeight() -> Int32 {
        let width = textWidth()
        textPlace.fit(width: width)
        return content.height(inWidth: width + 2 * Self.sides)
    }

    /// The width of the texts: that of the buttons where they need more, or of a code.
    private func textWidth() -> Int32 {
        textPlace.fit(width: 0)
        return max(content.leastWidth - 2 * Self.sides, text.box.leastWidth)
    }

    /// The height that the texts have at least, the margins at the sides, and the width of a bar that scrolls.
    private static let (leastHeight, sides, bar): (Int32, Int32, Int32) = (120, 24, 24)

    /// Updates the remaining delay of entry each second.
    private func countDown() {
        guard !isCountingDown else { return }
        isCountingDown = true
        _ = MainLoop.after(milliseconds: 1000) { [weak self] in
            guard let self else { return }
            isCountingDown = false
            guard window != nil, prompt.isDelayed, let now = link.current(number) else { return }
            show(now)
        }
    }

    private func takesText(_ prompt: ShownPrompt) -> Bool {
        switch prompt.method {
        case .passcode: !prompt.isDelayed
        case .recoveryCodeEntry, .newPasscodeEntry, .newPasscodeRepetition: true
        case .biometry, .permission, .scan, .recoveryCode, .message, .answer: false
        }
    }

    private func primaryTitle(_ prompt: ShownPrompt) -> String? {
        switch prompt.method {
        case .permission, .scan: prompt.allowTitle
        case .passcode where prompt.isDelayed: nil
        case .passcode, .recoveryCodeEntry, .newPasscodeEntry, .newPasscodeRepetition: prompt.entryTitle
        case .recoveryCode, .message: prompt.acknowledgement
        case .biometry, .answer: nil
        }
    }

    // MARK: - Parts

    private func makeButtons() {
        later.action = { [weak self] in self?.copyCode() }
        let cancel = Button(isClipped: true) { [weak self] in self?.send(.cancel) }
        let fallback = Button(isClipped: true) { [weak self] in self?.second() }
        let primary = Button(isClipped: true) { [weak self] in self?.first() }
        for button in [cancel, fallback, primary] { buttons.append(button) }
        (self.cancel, self.fallback, self.primary) = (cancel, fallback, primary)
    }

    private func showField(_ prompt: ShownPrompt) {
        if takesText(prompt), entry == nil {
            let entry = RevealingField(prompt.fieldName, showTitle: prompt.revealTitle) { [weak self] in self?.first() }
            fieldPlace.append(entry)
            self.entry = entry
        }
        // Typed text applies only to the state in which it was typed.
        if prompt.keepsTyped, !prompt.isChecking { entry?.reveal(true) }
        if !prompt.keepsTyped, !prompt.isChecking { emptyField() }
        field?.setStyle("error", prompt.keepsTyped)
        // GTK requires the focus to be elsewhere before a field is hidden.
        if field != nil, !takesText(prompt) || prompt.isChecking { text.focus() }
        fieldPlace.isVisible = takesText(prompt)
        field?.setAccessibleName(prompt.fieldName)
        // Set on both, because assistive technology only sees the state of the inner field.
        entry?.isSensitive = !prompt.isChecking
        field?.isSensitive = !prompt.isChecking
        field?.setAccessibleDescription([prompt.wish, prompt.feedback].joined(separator: " "))
    }

    /// Clears the field, and conceals what is typed next unless it is a recovery code, which a person compares with paper.
    private func emptyField() {
        field?.clear()
        entry?.reveal(prompt.method == .recoveryCodeEntry)
    }

    private var answerButtons: [Button] = []

    /// None of them is the suggested action, and none has the focus at first.
    private func showAnswers(_ prompt: ShownPrompt) {
        while answerButtons.count < prompt.answers.count {
            let place = answerButtons.count
            let button = Button(isClipped: true) { [weak self] in self?.choose(place) }
            answerButtons.append(button)
            answers.append(button)
        }
        for (place, button) in answerButtons.enumerated() {
            button.show(place < prompt.answers.count ? prompt.answers[place].title : nil)
        }
        answers.isVisible = !prompt.answers.isEmpty
    }

    private var playButtons: [Button] = []

    private func showPlays(_ prompt: ShownPrompt) {
        while playButtons.count < prompt.plays.count {
            let place = playButtons.count
            let button = Button(isClipped: true, styles: ["flat"]) { [weak self] in self?.play(place) }
            playButtons.append(button)
            plays.append(button)
        }
        for (place, button) in playButtons.enumerated() {
            button.show(place < prompt.plays.count ? prompt.plays[place].title : nil)
        }
        plays.isVisible = !prompt.plays.isEmpty
        // Titles that are longer than the English ones do not fit beside each other.
        let isLong = prompt.plays.contains { $0.title.count > 22 }
        plays.turn(prompt.plays.count > 2 || isLong ? .down : .across)
    }

    // MARK: - Answers

    private func copyCode() {
        link.withRecoveryCode(prompt: number) { code in
            guard SecretClipboard.put(code, seconds: ShownPrompt.clipboardSeconds) else { return }
            text.announce(prompt.copiedText)
        }
    }

    private func send(_ answer: AgentLink.Answer) {
        if let closing { closing() } else { link.send(answer, prompt: prompt.number) }
    }

    private func first() {
        switch prompt.method {
        case .permission, .scan: send(.permission(true))
        case .passcode, .recoveryCodeEntry, .newPasscodeEntry, .newPasscodeRepetition: sendTyped()
        case .recoveryCode: if let next = link.acknowledgeCode(prompt: number) { show(next) }
        case .message: send(.codeAcknowledged)
        case .biometry, .answer: break
        }
    }

    private func choose(_ place: Int) {
        guard place < prompt.answers.count else { return }
        // A button that is switched off loses the focus.
        text.focus()
        if let sending = link.choose(prompt.answers[place].answer, prompt: number) { show(sending) }
    }

    private func second() { send(asks(prompt) ? .permission(false) : .fallback) }

    /// Whether the buttons answer a question before the camera is used.
    private func asks(_ prompt: ShownPrompt) -> Bool { prompt.method == .permission || prompt.method == .scan }

    private func play(_ place: Int) {
        guard place < prompt.plays.count else { return }
        send(.simulatedTouch(matching: prompt.plays[place].isMatching))
    }

    private func sendTyped() {
        guard let field, !field.isEmpty, !prompt.isChecking, takesText(prompt), !isQuiet else { return }
        let checking =
            switch prompt.method {
            // It stays in the field until it is known to have no typing error.
            case .recoveryCodeEntry: field.read { link.send(recoveryCode: $0, prompt: prompt.number) }
            case .newPasscodeEntry, .newPasscodeRepetition:
                field.take { link.send(newPasscode: $0, prompt: prompt.number) }
            case .passcode, .biometry, .permission, .scan, .recoveryCode, .message, .answer:
                field.take { link.send(passcode: $0, prompt: prompt.number) }
            }
        entry?.reveal(false)
        if let checking { show(checking) }
    }
}
