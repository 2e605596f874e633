// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import QRCodes
import Widgets

/// The icon and the texts of a prompt. The block has the focus at first, so that a screen reader starts here.
@MainActor final class PromptTextBlock {
    let box: Box
    /// Contains the feedback, which is placed below the field and so is separate from `box`. Its height is fixed, so
    /// that the buttons do not move when text appears.
    let feedbackPlace: Box
    private let feedback = Label(lines: ShownPrompt.otherLines, announces: true, isCentred: true)
    /// The name of Latchkey, since the window has no title bar.
    private let speaker = Label(lines: 1, styles: ["caption-heading", "dim-label"], isCentred: true)
    private let picture = ProgressPicture(points: 64)
    private let question = Label(lines: ShownPrompt.otherLines, styles: ["title-3"], isCentred: true)
    private let reason = Label(lines: ShownPrompt.reasonLines, isCentred: true)
    // These two labels are not dimmed, because they distinguish programs. A long path is shortened in the middle,
    // because the file name is at its end.
    private let program = Label(lines: 1, cutsMiddle: true, styles: ["caption"], isCentred: true)
    private let ownName = Label(lines: 2, styles: ["caption"], isCentred: true)
    private let ending = Label(lines: 1, styles: ["caption", "dim-label"], isCentred: true)
    private let usage = Label(lines: ShownPrompt.reasonLines, isCentred: true)
    private let code = Label(lines: ShownPrompt.reasonLines, styles: ["title-2", "monospace"], isCentred: true)
    private let codePicture = ModuleGrid("QR code of the recovery code", points: 4)
    private let wish = Label(lines: ShownPrompt.otherLines, styles: ["heading"], isCentred: true)

    init(_ prompt: ShownPrompt) {
        let identity = Box(.down, spacing: 2, [program, ownName, ending])
        box = Box(.down, spacing: 12, [speaker, picture, question, reason, identity, usage, wish, code, codePicture])
        box.makeFocusable()
        feedbackPlace = Box(.down, [feedback])
        feedbackPlace.setHeight(22)
        speaker.show("Latchkey")
    }

    func focus() { box.focus() }

    func show(_ prompt: ShownPrompt) {
        question.show(prompt.question)
        reason.show(prompt.reason)
        program.show(prompt.isOwnRequest ? nil : prompt.programLine)
        program.setToolTip(prompt.program)
        ownName.show(prompt.ownNameLine)
        ending.show(prompt.endingLine)
        usage.show(prompt.usage)
        wish.show(prompt.wish)
        code.show(prompt.recoveryCode)
        // A code that cannot be a picture is still there as text.
        codePicture.show(prompt.recoveryCode.flatMap { QRCode($0) }?.modules ?? [])
        feedback.setStyle("error", prompt.isFailure)
        feedback.announce(prompt.feedback)
        showPicture(prompt)
        let words = [question, reason, program, ownName, ending, usage, wish, code].filter(\.isVisible).map(\.text)
        box.setAccessibleName(words.joined(separator: ". "))
    }

    private func showPicture(_ prompt: ShownPrompt) {
        picture.setStyle("accent", prompt.isWatching && !prompt.isFailure)
        picture.setStyle("error", prompt.isFailure)
        picture.setStyle("dim-label", !prompt.isWatching && !prompt.isFailure)
        if prompt.isChecking { return picture.spin() }
        switch (prompt.method, prompt.sensor) {
        case (.passcode, _), (.recoveryCode, _), (.recoveryCodeEntry, _), (.newPasscodeEntry, _),
            (.newPasscodeRepetition, _), (.message, _), (.biometry, .none), (.permission, .none), (.scan, .none):
            picture.show("dialog-password-symbolic")
        case (_, .touchID): picture.show("auth-fingerprint-symbolic")
        case (_, .faceID): picture.show("auth-face-symbolic")
        case (_, .opticID): picture.show("view-reveal-symbolic")
        }
    }
}
