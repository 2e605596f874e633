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
    private let question = Label(lines: ShownPrompt.reasonLines, styles: ["title-3"], isCentred: true)
    private let reason = Label(lines: ShownPrompt.reasonLines, isCentred: true)
    // These labels are not dimmed, because they distinguish programs.
    private let program = Label(lines: ShownPrompt.reasonLines, styles: ["caption"], isCentred: true)
    private let startedBy = Label(lines: ShownPrompt.otherLines, styles: ["caption"], isCentred: true)
    private let allStartedBy = Label(lines: ShownPrompt.reasonLines, styles: ["caption"], isCentred: true)
    private let notes = Label(lines: 2 * ShownPrompt.reasonLines, styles: ["caption"], isCentred: true)
    private let details: Details
    private let ownName = Label(lines: 2, styles: ["caption"], isCentred: true)
    private let ending = Label(lines: ShownPrompt.otherLines, styles: ["caption", "dim-label"], isCentred: true)
    private let usage = Label(lines: ShownPrompt.reasonLines, isCentred: true)
    private let code: DrawnText
    /// The code as text, which assistive technology can read, when the person wants that.
    private let readableCode = Label(wraps: false, styles: ["title-2", "monospace"], isCentred: true)
    /// Around it, because a label takes no focus from which a screen reader would say it.
    private let readablePlace: Box
    private let readable: Button
    private let codeButtons: Box
    /// The code as text and as a picture, beside each other if there is room.
    private let codePlace: Box
    private let pictures: Box
    private let identity: Box
    private let later = Later()
    private var resized: (@MainActor () -> Void)?
    private var groupsInLine = 3
    private var isCodeReadable = false
    private var shown: ShownPrompt?
    private let codePicture: ModuleGrid
    /// Whether room is saved for the texts: spaces are small, and no picture of the program is beside a code or answers.
    private(set) var isCompact = false
    private let wish = Label(lines: 2 * ShownPrompt.reasonLines, styles: ["heading"], isCentred: true)

    /// - Parameter copy: the button below the recovery code.
    init(_ prompt: ShownPrompt, copy: Button) {
        details = Details([program, allStartedBy])
        codePicture = ModuleGrid(prompt.codePictureName, points: 4)
        code = DrawnText(prompt.codeName, styles: ["title-2", "monospace"])
        readable = Button { [later] in later.run() }
        readablePlace = Box(.down, [readableCode])
        codeButtons = Box(.down, spacing: 6, [copy, readable])
        let codeTexts = Box(.down, spacing: 6, [code, readablePlace, codeButtons])
        codeTexts.centre()
        codePlace = Box(.across, spacing: 12, [codeTexts, codePicture])
        codePlace.centre(down: false)
        pictures = Box(.across, spacing: 18, [app, picture])
        pictures.centre(down: false)
        identity = Box(.down, spacing: 2, [startedBy, ownName, details, ending])
        box = Box(
            .down, spacing: 12, [speaker, pictures, question, reason, identity, usage, wish, notes, codePlace])
        box.makeFocusable()
        readablePlace.makeFocusable()
        feedbackPlace = Box(.down, [feedback])
        speaker.show("Latchkey")
        later.action = { [weak self] in self?.makeCodeReadable() }
    }

    /// Calls `action` when a button of the block has shown or hidden texts.
    func whenResized(_ action: @escaping @MainActor () -> Void) {
        details.whenToggled(action)
        resized = action
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
        ending.show(prompt.isOver ? nil : prompt.endingLine)
        usage.show(prompt.usage)
        wish.show(prompt.wish)
        showCode(prompt)
        feedbackPlace.setHeight(max(22, feedbackLines(prompt) * feedback.lineHeight))
        // A code that cannot be a picture is still there as text.
        codePicture.show(prompt.recoveryCode.flatMap { QRCode($0) }?.modules ?? [])
        feedback.setStyle("error", prompt.isFailure)
        feedback.announce(prompt.feedback)
        showPicture(prompt)
        showPictures(prompt)
        let first = [question, reason].filter(\.isVisible).map(\.text)
        let rest = [ownName, usage, wish, notes, ending].filter(\.isVisible).map(\.text)
        box.setAccessibleName((first + [prompt.spokenStartedByLine].compactMap { $0 } + rest).joined(separator: ". "))
    }

    /// Saves room for the texts from now on.
    func makeCompact() {
        guard !isCompact else { return }
        isCompact = true
        box.setSpacing(6)
        codePicture.points = 3
        if let shown { showPictures(shown) }
    }

    /// How a code and its picture are arranged, the widest way first.
    enum CodeArrangement: CaseIterable {
        /// Beside each other.
        case beside
        /// Below each other.
        case below
        /// The same, with one line more for the code.
        case narrow
    }

    func arrangeCode(_ arrangement: CodeArrangement) {
        codePlace.turn(arrangement == .beside ? .across : .down)
        groupsInLine = arrangement == .narrow ? 2 : 3
        if let shown { showCode(shown) }
    }

    /// Puts a recovery code before the texts that say who asks, for a display on which only the first of them are seen without
    /// scrolling.
    func putCodeFirst(_ isFirst: Bool) {
        let (usual, code): ([Widget], [Widget]) = (
            [pictures, question, reason, identity, usage], [wish, notes, codePlace]
        )
        box.putFirst([speaker] + (isFirst ? code + usual : usual + code))
    }

    /// A code and answers need the room; a key says nothing about them.
    private func showPictures(_ prompt: ShownPrompt) {
        let needsRoom = prompt.recoveryCode != nil || !prompt.answers.isEmpty
        picture.isVisible = !needsRoom
        pictures.isVisible = !needsRoom || (!isCompact && prompt.icon != nil)
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
        // Lines of whole groups.
        let groups = prompt.recoveryCode?.split(separator: "-") ?? []
        let lines = stride(from: 0, to: groups.count, by: groupsInLine).map { first in
            let isLast = first + groupsInLine >= groups.count
            return groups[first...].prefix(groupsInLine).joined(separator: "-") + (isLast ? "" : "-")
        }
        codePlace.isVisible = prompt.recoveryCode != nil
        code.show(isCodeReadable ? [] : lines)
        let text = isCodeReadable ? prompt.recoveryCode : nil
        // In the lines of the drawing, which the width of the window fits.
        readableCode.show(text == nil ? nil : lines.joined(separator: "\n"))
        readableCode.setAccessibleName(text ?? "")
        readablePlace.setAccessibleName(text ?? "")
        readablePlace.isVisible = text != nil
        readable.show(isCodeReadable || lines.isEmpty ? nil : prompt.readableTitle)
        shown = prompt
    }

    private func makeCodeReadable() {
        guard let shown, shown.recoveryCode != nil else { return }
        isCodeReadable = true
        showCode(shown)
        resized?()
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
