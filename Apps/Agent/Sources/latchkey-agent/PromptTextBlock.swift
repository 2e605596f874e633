// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import QRCodes
import Widgets

/// The icon and the texts of a prompt. The block has the focus at first, so that a screen reader starts here.
@MainActor final class PromptTextBlock {
    let box: Box
    /// Contains the feedback, which is placed below the field and so is separate from `box`. Its height has room for two
    /// lines, so that the buttons do not move when text appears.
    let feedbackPlace: Box
    private let feedback = Label(lines: ShownPrompt.otherLines, announces: true, isCentred: true)
    /// The name of Latchkey, since the window has no title bar.
    private let speaker = Label(lines: 1, styles: ["caption-heading", "dim-label"], isCentred: true)
    /// What is asked for, beside the icon of the program that asks.
    private let picture = ProgressPicture(points: 64)
    private let app = AppIcon(points: 64)
    private let question = Label(lines: ShownPrompt.otherLines, styles: ["title-3"], isCentred: true)
    private let reason = Label(lines: ShownPrompt.reasonLines, isCentred: true)
    // These labels are not dimmed, because they distinguish programs.
    private let program = Label(lines: ShownPrompt.reasonLines, styles: ["caption"], isCentred: true)
    private let startedBy = Label(lines: ShownPrompt.otherLines, styles: ["caption"], isCentred: true)
    private let allStartedBy = Label(lines: ShownPrompt.reasonLines, styles: ["caption"], isCentred: true)
    private let notes = Label(lines: 2 * ShownPrompt.reasonLines, styles: ["caption"], isCentred: true)
    private let details: Details
    private let ownName = Label(lines: 2, styles: ["caption"], isCentred: true)
    private let ending = Label(lines: 1, styles: ["caption", "dim-label"], isCentred: true)
    private let usage = Label(lines: ShownPrompt.reasonLines, isCentred: true)
    private let code: DrawnText
    /// The code as text, which assistive technology can read, when the person wants that.
    private let readableCode = Label(lines: ShownPrompt.reasonLines, styles: ["title-2", "monospace"], isCentred: true)
    /// Around it, because a label takes no focus from which a screen reader would say it.
    private let readablePlace: Box
    private let readable: Button
    private let codeButtons: Box
    private let later = Later()
    private var isCodeReadable = false
    private var shown: ShownPrompt?
    private let codePicture: ModuleGrid
    private let isSmall: Bool
    private let wish = Label(lines: ShownPrompt.reasonLines, styles: ["heading"], isCentred: true)

    /// - Parameters:
    ///   - copy: the button below the recovery code.
    ///   - isSmall: whether the display is as small as that of a telephone.
    init(_ prompt: ShownPrompt, copy: Button, isSmall: Bool) {
        self.isSmall = isSmall
        details = Details([program, allStartedBy])
        codePicture = ModuleGrid(prompt.codePictureName, points: isSmall ? 3 : 4)
        code = DrawnText(prompt.codeName, styles: ["title-2", "monospace"])
        readable = Button { [later] in later.run() }
        readablePlace = Box(.down, [readableCode])
        codeButtons = Box(.across, spacing: 6, [copy, readable])
        codeButtons.centre(down: false)
        let pictures = Box(.across, spacing: 18, [app, picture])
        pictures.centre(down: false)
        let identity = Box(.down, spacing: 2, [startedBy, ownName, details, ending])
        box = Box(
            .down, spacing: isSmall ? 6 : 12,
            [
                speaker, pictures, question, reason, identity, usage, wish, notes, code, readablePlace, codeButtons,
                codePicture,
            ])
        box.makeFocusable()
        readablePlace.makeFocusable()
        feedbackPlace = Box(.down, [feedback])
        speaker.show("Latchkey")
        later.action = { [weak self] in self?.makeCodeReadable() }
    }

    func focus() { box.focus() }

    func show(_ prompt: ShownPrompt) {
        question.show(prompt.question)
        reason.show(prompt.reason)
        app.show(prompt.icon)
        program.show(prompt.programLine)
        startedBy.show(prompt.startedByLine)
        allStartedBy.show(prompt.startedByDetails)
        if let spoken = prompt.spokenStartedByLine {
            for label in [startedBy, allStartedBy] { label.setAccessibleName(spoken) }
        }
        notes.show(prompt.answerNotes)
        details.show(prompt.detailsTitle)
        ownName.show(prompt.ownNameLine)
        ending.show(prompt.endingLine)
        usage.show(prompt.usage)
        wish.show(prompt.wish)
        showCode(prompt)
        feedbackPlace.setHeight(max(22, feedbackLines(prompt) * feedback.lineHeight))
        // A code that cannot be a picture is still there as text.
        codePicture.show(prompt.recoveryCode.flatMap { QRCode($0) }?.modules ?? [])
        feedback.setStyle("error", prompt.isFailure)
        feedback.announce(prompt.feedback)
        // A code and its picture need the room of a small display.
        picture.isVisible = !isSmall || prompt.recoveryCode == nil
        showPicture(prompt)
        let first = [question, reason].filter(\.isVisible).map(\.text)
        let rest = [ownName, usage, wish, notes, ending].filter(\.isVisible).map(\.text)
        box.setAccessibleName((first + [prompt.spokenStartedByLine].compactMap { $0 } + rest).joined(separator: ". "))
    }

    /// How many lines of feedback a prompt has room for: two, unless its other texts take much of a display.
    private func feedbackLines(_ prompt: ShownPrompt) -> Int32 {
        switch prompt.method {
        case .recoveryCode, .answer, .message: 1
        case .biometry, .permission, .scan, .passcode, .recoveryCodeEntry, .newPasscodeEntry, .newPasscodeRepetition: 2
        }
    }

    /// Draws the code, or shows it as text.
    private func showCode(_ prompt: ShownPrompt) {
        // Two lines of whole groups, which fit each display.
        let groups = prompt.recoveryCode?.split(separator: "-") ?? []
        let (first, second) = (groups.prefix(3).joined(separator: "-"), groups.dropFirst(3).joined(separator: "-"))
        let lines = (second.isEmpty ? [first] : [first + "-", second]).filter { !$0.isEmpty }
        codeButtons.isVisible = prompt.recoveryCode != nil
        code.show(isCodeReadable ? [] : lines)
        let text = isCodeReadable ? prompt.recoveryCode : nil
        readableCode.show(text)
        readablePlace.setAccessibleName(text ?? "")
        readablePlace.isVisible = text != nil
        readable.show(isCodeReadable || lines.isEmpty ? nil : prompt.readableTitle)
        shown = prompt
    }

    private func makeCodeReadable() {
        guard let shown, shown.recoveryCode != nil else { return }
        isCodeReadable = true
        showCode(shown)
        readablePlace.focus()
    }

    /// Shows what a button of the block has done.
    func announce(_ text: String) {
        feedback.setStyle("error", false)
        feedback.announce(text)
    }

    private func showPicture(_ prompt: ShownPrompt) {
        picture.setStyle("accent", prompt.isWatching && !prompt.isFailure)
        picture.setStyle("error", prompt.isFailure)
        picture.setStyle("dim-label", !prompt.isWatching && !prompt.isFailure)
        if prompt.isChecking { return picture.spin() }
        switch (prompt.method, prompt.sensor) {
        case (.passcode, _), (.recoveryCode, _), (.recoveryCodeEntry, _), (.newPasscodeEntry, _),
            (.newPasscodeRepetition, _), (.message, _), (.answer, _), (.biometry, .none), (.permission, .none),
            (.scan, .none):
            picture.show("dialog-password-symbolic")
        case (_, .touchID): picture.show("auth-fingerprint-symbolic")
        // The face of the usual icon smiles.
        case (_, .faceID): picture.show(prompt.isMismatch ? "face-sad-symbolic" : "auth-face-symbolic")
        case (_, .opticID): picture.show("view-reveal-symbolic")
        }
    }
}
