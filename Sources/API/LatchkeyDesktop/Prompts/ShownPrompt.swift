// SPDX-License-Identifier: Apache-2.0

public import LatchkeyModel
package import LatchkeyPrompts

/// The state of a prompt, as texts that are ready to be shown: control characters removed, length limited, and the
/// caller's own texts in quotation marks.
///
/// The texts are in the language of the agent's session, as far as Latchkey has a catalogue of it; the caller's own texts
/// stay as they are.
///
/// All texts are plain text; a program that shows them must not interpret markup in them.
public struct ShownPrompt: Equatable, Sendable {
    /// What the user is asked for.
    public enum Method: Equatable, Sendable {
        /// A fingerprint, a face or eyes.
        case biometry
        /// A passcode, to be typed.
        case passcode
        /// Permission for the app to use the camera.
        case permission
        /// The start of a scan by the camera, which waits for the user.
        case scan
        /// A confirmation that the recovery code shown is written down.
        case recoveryCode
        /// A confirmation that `feedback` was read; nothing is left to prove.
        case message
        /// The person chooses whether the program may read the item.
        case answer
        /// A recovery code, or the last group of one that was shown before, to be typed.
        case recoveryCodeEntry
        /// A new passcode, to be typed.
        case newPasscodeEntry
        /// The same new passcode once more, to be typed.
        case newPasscodeRepetition
    }

    /// Identifies the prompt in calls of `AgentLink`.
    public let number: UInt64
    /// What the user is asked for now.
    public let method: Method
    /// The biometric sensor of this machine.
    public let sensor: BiometryKind
    /// Whether the sensor is active once the prompt is visible.
    public let isWatching: Bool
    /// Whether a passcode, a recovery code or a new passcode is being checked.
    public let isChecking: Bool
    /// Whether the text that was sent stays in the field, where a person corrects a typing error in it.
    public let keepsTyped: Bool
    /// Whether entry is delayed after wrong passcodes. `wish` then contains the remaining time; call
    /// `AgentLink.current(_:)` each second to update it.
    public let isDelayed: Bool
    /// Whether the prompt ends now because its last passcode was wrong. Show it for some seconds after it is dismissed, so that
    /// the person learns why.
    public let isOver: Bool
    /// Whether `feedback` reports a failure.
    public let isFailure: Bool
    /// The first line: which program asks for what.
    public let question: String
    /// Whether `reason` is Latchkey's own description of the action that follows.
    public let isOwnRequest: Bool
    /// The name of the icon that the program has in the menu of the desktop; nil if it has none. Look it up in the folders of
    /// the system only: those of the user can have another icon of that name.
    public let icon: String?
    /// Whether `feedback` says that a finger or a face was not recognised.
    public let isMismatch: Bool
    /// The caller's reason in quotation marks, or Latchkey's description of the action; nil when the caller gave no
    /// reason.
    public let reason: String?
    /// The caller's process id, as the kernel reports it.
    public let processID: Int32
    /// The caller's process id and program, as the kernel reports them.
    public let program: String
    /// `program` as a sentence, without its full stop.
    public let programLine: String
    /// Which programs started the caller, as a sentence without its full stop; of a long chain the first and the last one.
    /// nil if that is not shown.
    public let startedByLine: String?
    /// The same with every program, to be shown below `programLine`.
    public let startedByDetails: String?
    /// The same in words only, for assistive technology.
    public let spokenStartedByLine: String?
    /// The answers to choose from while `method` is `answer`; none of them is suggested. Those that would not be stored are
    /// not among them.
    public let answers: [Choice]
    /// What an answer means later, as sentences; nil in other steps.
    public let answerNotes: String?
    /// When the prompt ends by itself, as a sentence without its full stop.
    public let endingLine: String
    /// The caller's own name for itself, in quotation marks; nil when it is the name that the kernel reports.
    public let ownName: String?
    /// `ownName` as a sentence, without its full stop.
    public let ownNameLine: String?
    /// Why the caller uses the camera, in its own text, while it asks for permission; else nil.
    public let usage: String?
    /// The instruction to the user, for instance to touch the sensor.
    public let wish: String
    /// The recovery code to show; nil when there is none. The agent should not store a copy.
    public let recoveryCode: String?
    /// The result of the last attempt and the number of attempts left, or what to do differently after a scan that the
    /// sensor could not use; empty before the first attempt.
    public let feedback: String
    /// The title of the button that sends the typed text.
    public let entryTitle: String
    /// The title of the cancel button, the caller's or the default.
    public let cancelTitle: String
    /// The title of the button that closes a prompt that is over.
    public let closeTitle: String
    /// The title of the fallback button; nil when none is to be shown.
    public let fallbackTitle: String?
    /// What to say when somebody types while the sensor is used; nil if there is nothing else to do.
    public let typingHint: String?
    /// The title of the button that confirms that `recoveryCode` is written down, or that `feedback` was read.
    public let acknowledgement: String
    /// The title of the button that permits the app to use the camera, or starts a scan.
    public let allowTitle: String
    /// The title of the button that refuses it, or uses another method than a scan.
    public let denyTitle: String
    /// The name of the text that is typed, for assistive technology.
    public let fieldName: String
    /// The title of the button that shows what is typed.
    public let revealTitle: String
    /// The title of the button that shows `programLine`.
    public let detailsTitle: String
    /// The title of the button that copies `recoveryCode`.
    public let copyTitle: String
    /// The name of `recoveryCode` as a picture, for assistive technology.
    public let codePictureName: String
    /// The name of `recoveryCode` where it is drawn, for assistive technology, which does not get the code itself.
    public let codeName: String
    /// The title of the button that shows `recoveryCode` as text, which assistive technology can read.
    public let readableTitle: String
    /// What to show when the code was copied.
    public let copiedText: String
    /// Whether the language of the texts is written from right to left.
    public let isRightToLeft: Bool
    /// A notice that this machine is simulated; nil in other tiers.
    public let simulation: String?
    /// Buttons that simulate the sensor; empty outside the simulated tier.
    public let plays: [Play]

    /// A button that answers whether the program may read the item.
    public struct Choice: Equatable, Sendable {
        /// The title of the button.
        public let title: String
        /// The button's answer, for `AgentLink.choose(_:prompt:)`.
        public let answer: ReadAnswer
    }

    /// Whether a program may read an item that another one stored.
    public enum ReadAnswer: CaseIterable, Sendable {
        /// This time only.
        case once
        /// Without a prompt until the user logs out or the keychain is locked.
        case session
        /// Now and later, without a prompt.
        case always
        /// Neither now nor later, without a prompt.
        case never

        package var stored: SecretAnswer {
            switch self {
            case .once: .once
            case .session: .session
            case .always: .always
            case .never: .never
            }
        }
    }

    /// A button that simulates the sensor.
    public struct Play: Equatable, Sendable {
        /// The title of the button.
        public let title: String
        /// The button's answer: `AgentLink.Answer.simulatedTouch(matching:)`.
        public let isMatching: Bool
    }

    /// Maximum number of lines of `reason`; a longer text ends with an ellipsis.
    public static let reasonLines = Limits.reasonLines
    /// Maximum number of lines of any other text of a caller.
    public static let otherLines = Limits.otherLines
    /// After so many seconds the agent removes a recovery code from the clipboard.
    public static let clipboardSeconds = 60
    /// Maximum length of a passcode and of a new passcode, in bytes.
    public static let passcodeBytes = Limits.passcodeBytes

    package init(_ state: PromptState) {
        let (prompt, content) = (state.prompt, state.content)
        number = prompt.id
        method =
            switch (content.step, content.method) {
            case (.recoveryCodeShown, _): .recoveryCode
            case (.accountExpired, _): .message
            case (.answerAsked, _), (.onceAsked, _): .answer
            case (.recoveryCodeAsked, _), (.recoveryCodeRepeated, _): .recoveryCodeEntry
            case (.newPasscodeAsked, _): .newPasscodeEntry
            case (.newPasscodeRepeated, _): .newPasscodeRepetition
            case (.proof, _) where content.question == .permission: .permission
            case (.proof, _) where content.question == .scan: .scan
            case (.proof, .biometry): .biometry
            case (.proof, .passcode): .passcode
            }
        sensor = prompt.sensor
        isWatching = method == .biometry && content.triesLeft > 0
        isDelayed = state.isDelayed
        keepsTyped = state.keepsTyped
        isChecking = state.entry == .checking
        isOver = method == .passcode && content.notice == .wrongPasscode && content.triesLeft == 0
        isFailure = state.isFailure && method != .permission
        question = state.question
        isOwnRequest = state.action != nil
        icon = state.callerIcon
        isMismatch = [.notRecognised, .biometryFinished, .biometryLocked].contains(content.notice)
        reason = state.reason
        recoveryCode = state.recoveryCode
        processID = prompt.processID
        program = state.program
        programLine = state.programLine
        startedByLine = state.shortStartedByLine
        startedByDetails = state.startedByLine
        spokenStartedByLine = state.spokenStartedByLine
        answers = ReadAnswer.allCases.filter { content.step.answers.contains($0.stored) }.map {
            Choice(title: state.title($0.stored), answer: $0)
        }
        let notes = state.answerNotes(inWindow: true)
        answerNotes = notes.isEmpty ? nil : notes.joined(separator: " ")
        endingLine = state.endingLine
        ownName = state.ownName
        ownNameLine = state.ownNameLine
        usage = state.usage
        wish = state.wish(inWindow: true)
        feedback = state.feedbackAfterTries
        entryTitle = state.entryTitle
        acknowledgement = state.acknowledgement
        allowTitle = state.allowTitle
        denyTitle = state.denyTitle
        fieldName = state.fieldName
        revealTitle = state.revealTitle
        detailsTitle = state.detailsTitle
        copyTitle = state.copyTitle
        codePictureName = state.codePictureName
        codeName = state.codeName
        readableTitle = state.readableTitle
        copiedText = state.copiedText(seconds: ShownPrompt.clipboardSeconds)
        isRightToLeft = state.words.isRightToLeft
        cancelTitle = state.cancelTitle
        closeTitle = state.closeTitle
        // While the passcode is asked for, the fallback has already been chosen; the terminal prompt does the same.
        fallbackTitle =
            content.showsFallback && content.method != .passcode ? state.fallbackTitle : nil
        typingHint = method == .biometry ? fallbackTitle.map { state.typingHint($0) } : nil
        simulation = state.simulation
        plays = state.simulatedButtons.map { Play(title: $0.title, isMatching: $0.isMatching) }
    }
}
