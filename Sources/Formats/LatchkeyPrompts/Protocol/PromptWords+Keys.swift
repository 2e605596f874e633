// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeyWords

/// The names of fields, buttons and keys, and the texts around a prompt.
extension PromptState {
    /// Introduces the prompt on a terminal, without a full stop.
    package var title: String { words("Latchkey prompt, process \(processID)") }

    /// Ends a prompt that was written as sentences.
    package var closing: String { words("The Latchkey prompt is over.") }

    /// Progress of typing: a recovery code is shown, a passcode is not, nor its length. Where an answer is asked for, what is chosen.
    package var field: String? {
        let name = fieldName
        if asksForAnswer {
            if entry == .checking { return words("\(name): sent") }
            return chosen.map { "\(name): \(title($0))" } ?? words("\(name): nothing chosen yet")
        }
        guard takesText else { return nil }
        return switch entry {
        case .nothing: words("\(name): nothing typed yet")
        case .typing: typedText.map { "\(name): \($0)" } ?? words("\(name): typed, not shown")
        case .checking: words("\(name): sent")
        }
    }

    /// Whether what is typed is shown: a recovery code and a word, but no passcode.
    package var showsTypedText: Bool { content.step == .recoveryCodeAsked || content.step == .recoveryCodeRepeated }

    package var fieldName: String {
        switch content.step {
        case .newPasscodeAsked: words("New passcode")
        case .newPasscodeRepeated: words("New passcode again")
        case .recoveryCodeAsked where prompt.purpose.confirmationWord != nil: words("Confirmation")
        case .recoveryCodeAsked, .recoveryCodeRepeated: words("Recovery code")
        case .answerAsked, .onceAsked: words("Answer")
        case .proof, .recoveryCodeShown, .accountExpired: asksForPasscode ? words("Passcode") : words("Password")
        }
    }

    /// The keys that have an effect now, with their titles. A letter is the same in every language: it is shown beside
    /// its title, and its effect is written in manuals.
    package var keys: [(key: String, title: String)] {
        let enter = words("Enter", context: "key")
        var keys = [(key: words("Esc/Ctrl-C", context: "key"), title: cancelTitle)]
        switch content.question {
        case .none: break
        case .permission: keys = [(key: "Y", title: allowTitle), (key: "N", title: denyTitle)] + keys
        case .scan: keys = [(key: enter, title: allowTitle), (key: "N", title: denyTitle)] + keys
        }
        if takesText {
            keys.insert((key: enter, title: words("Send")), at: 0)
        } else if [.recoveryCodeShown, .accountExpired].contains(content.step) {
            keys.insert((key: enter, title: acknowledgement), at: 0)
        } else if asksForAnswer {
            // Enter alone does nothing: no answer is chosen at first.
            let answers = content.step.answers.map { (key: Self.key($0), title: title($0)) }
            keys = answers + [(key: enter, title: words("Confirm"))] + keys
        } else if content.showsFallback {
            keys.append((key: "P", title: fallbackTitle))
        }
        return keys
    }

    /// The title of the cancel button: the app's own, or Latchkey's in the language of the prompt.
    package var cancelTitle: String { prompt.cancelTitle == "Cancel" ? words("Cancel") : prompt.cancelTitle }

    /// The title of the button that closes a prompt that is over.
    package var closeTitle: String { words("Close") }

    /// The title of the fallback button: the app's own, or Latchkey's in the language of the prompt.
    package var fallbackTitle: String {
        switch prompt.fallbackTitle {
        case "Enter Passcode": words("Enter Passcode")
        case "Enter Password": words("Enter Password")
        default: prompt.fallbackTitle
        }
    }

    /// The title of the button that permits the app to use the camera, or starts a scan.
    package var allowTitle: String { content.question == .scan ? words("Look for My Face") : words("Allow") }

    /// The title of the button that refuses it, or uses another method than a scan.
    package var denyTitle: String { content.question == .scan ? words("Not Now") : words("Do Not Allow") }

    package var revealTitle: String { words("Show Passcode") }

    /// The title of the button that shows which process asks.
    package var detailsTitle: String { words("Details") }

    /// The title of the button that copies the recovery code.
    package var copyTitle: String { words("Copy") }

    /// The name of the code as a picture, for assistive technology.
    package var codePictureName: String { words("QR code of the recovery code") }

    /// The name of the code where it is drawn, for assistive technology.
    package var codeName: String { words("Recovery code of 26 characters, drawn as a picture") }

    /// The title of the button that shows the code as text, which a screen reader can say.
    package var readableTitle: String { words("Show for Screen Readers") }

    /// What is shown after the code was copied.
    package func copiedText(seconds: Int) -> String {
        words.count(
            seconds, "Copied. The clipboard is cleared in \(seconds) second.",
            "Copied. The clipboard is cleared in \(seconds) seconds.")
    }

    /// The title of the button that sends the typed text: "Unlock" only for the keychain. What an app does after its prompt is
    /// known to the app alone; that of the settings only checks what a person remembers.
    package var entryTitle: String {
        content.step == .proof && prompt.purpose == .unlock ? words("Unlock") : words("Continue")
    }

    /// The title of the button that confirms that the recovery code is written down, or that a message was read.
    package var acknowledgement: String {
        content.step == .accountExpired ? words("Continue") : words("I have written it down")
    }

    /// The title of the button for an answer.
    package func title(_ answer: SecretAnswer) -> String {
        switch answer {
        case .once: words("Allow once")
        case .session: words("Allow until logout")
        case .always: words("Always allow")
        case .never: words("Never allow")
        }
    }

    /// The letter that chooses an answer, the same in every language.
    private static func key(_ answer: SecretAnswer) -> String {
        switch answer {
        case .once: "O"
        // Few words end with it: text for another program, such as “ls” and Enter, must choose nothing.
        case .session: "U"
        case .always: "A"
        case .never: "N"
        }
    }

    /// Chooses the answer of a key, or none for any other key, so that text meant for another program chooses nothing
    /// unless it ends with such a letter.
    package mutating func choose(byKey byte: UInt8) {
        chosen = content.step.answers.first { Self.key($0).utf8.elementsEqual(CollectionOfOne(byte & ~0x20)) }
    }

    /// What to say after a choice.
    package var choice: String {
        chosen.map { words("\(title($0)): press Enter to confirm.") } ?? words("Nothing is chosen.")
    }

    /// A notice that the machine is simulated; nil in other tiers.
    package var simulation: String? {
        prompt.tier == .simulated ? words("This machine is simulated, for tests only.") : nil
    }

    /// The keys that operate the simulated sensor; empty in other tiers.
    package var simulatedKeys: [(key: String, title: String)] {
        guard prompt.tier == .simulated, content.asks(for: .biometry), content.question == .none else { return [] }
        let (right, wrong) =
            switch prompt.sensor {
            case .touchID: (words("enrolled finger"), words("another finger"))
            case .faceID: (words("enrolled face"), words("another face"))
            case .opticID, .none: (words("enrolled eyes"), words("other eyes"))
            }
        return [(key: "M", title: right), (key: "X", title: wrong)]
    }

    /// The titles of the buttons that operate the simulated sensor.
    package var simulatedButtons: [(title: String, isMatching: Bool)] {
        zip(simulatedKeys.map(\.title), [true, false]).map { (words("Play \($0)"), $1) }
    }
}
