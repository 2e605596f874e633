// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWords

/// What came of the last attempt.
extension PromptState {
    /// The result of the last attempt and the number of attempts left, which is also given before the first attempt.
    /// The terminal prompt uses this text.
    package var feedback: String { feedback(showsTries: true) }

    /// The same, but with the number of attempts left only after one has failed.
    package var feedbackAfterTries: String {
        switch content.notice {
        case .notRecognised, .wrongPasscode, .sameWrongPasscode, .accountNotChecked, .accountRefused,
            .wrongRecoveryCode, .recoveryCodeDiffers, .recoveryCodeMistyped:
            feedback(showsTries: true)
        case .none, .biometryLocked, .biometryFinished, .passcodeDueAfterRestart, .passcodeDueByTime,
            .newPasscodeTooShort, .newPasscodesDiffer, .scanAgain, .swipeTooShort, .fingerNotCentred, .removeAndRetry,
            .scanTooFast, .sensorDisconnected, .accountPasswordChanged, .sensorInUse, .accountPasswordExpired:
            feedback(showsTries: false)
        }
    }

    /// What is said when somebody types although nothing can be typed yet.
    ///
    /// - Parameter title: the title of the button after which it can.
    package func typingHint(_ title: String) -> String { words("To type, press “\(title)” first.") }

    package var isFailure: Bool {
        (content.notice.isFailure || isCodeInsteadOfPasscode) && entry != .checking
    }

    private func feedback(showsTries: Bool) -> String {
        // Texts of modules are in the language of the system already; those of the service are in English.
        let message =
            content.message.isEmpty ? nil : words("The system says: “\(words(content.message))”.")
        if entry == .checking { return [checking, message].compactMap { $0 }.joined(separator: " ") }
        if content.question == .permission { return "" }
        if isCodeInsteadOfPasscode { return words("This is the recovery code. Type your passcode first.") }
        // During a delay the instruction says why nothing can be typed, and the tries begin again after it.
        if isDelayed, [.wrongPasscode, .sameWrongPasscode].contains(content.notice) { return message ?? "" }
        let tries = showsTries && content.step == .proof && !isDelayed ? tries : nil
        return [result, message, tries].compactMap { $0 }.joined(separator: " ")
    }

    /// What happens to the text that was sent.
    private var checking: String {
        switch content.step {
        case .proof, .accountExpired:
            asksForPasscode ? words("Checking the passcode.") : words("Checking the password.")
        case .recoveryCodeAsked where prompt.purpose.confirmationWord != nil: words("Checking the confirmation.")
        case .recoveryCodeShown, .recoveryCodeAsked, .recoveryCodeRepeated: words("Checking the recovery code.")
        case .newPasscodeAsked, .newPasscodeRepeated: words("Checking the new passcode.")
        case .answerAsked, .onceAsked: words("The answer was sent.")
        }
    }

    /// The result of the last attempt; nil before the first one.
    private var result: String? {
        switch content.notice {
        case .none: nil
        case .notRecognised: words("Not recognised.")
        case .wrongPasscode: asksForPasscode ? words("The passcode is wrong.") : words("The password is wrong.")
        case .biometryLocked: locked
        case .sameWrongPasscode:
            asksForPasscode
                ? words("That is the same wrong passcode as before; it does not count again.")
                : words("That is the same wrong password as before; it does not count again.")
        case .passcodeDueAfterRestart:
            words("Your passcode is required: it was not entered since the machine started.")
        case .passcodeDueByTime: words("Your passcode is required: it was not entered for a long time.")
        case .biometryFinished: finished
        case .newPasscodeTooShort:
            words("The passcode is too short: it needs at least \(prompt.tier.passcodeCharacters) characters.")
        case .newPasscodesDiffer: words("The two entries differ. Choose a passcode again.")
        case .scanAgain: words("The scan was not clear. Try again.")
        case .swipeTooShort: words("The swipe was too short. Try again.")
        case .fingerNotCentred: words("The finger was not centred on the sensor. Try again.")
        case .removeAndRetry: words("Remove your finger from the sensor, then try again.")
        case .scanTooFast: words("That was too fast. Try again.")
        case .sensorDisconnected: words("The sensor was disconnected.")
        case .accountNotChecked: words("The password of your account could not be checked.")
        case .accountRefused: words("The system does not accept your account at present.")
        case .accountPasswordExpired: words("The password of your account has expired.")
        case .accountPasswordChanged: words("The password of your account was changed.")
        case .wrongRecoveryCode:
            words("That is not the recovery code of this keychain. The last code that was shown is valid.")
        case .sensorInUse: words("Another program is using the sensor.")
        case .recoveryCodeDiffers: words("That is not the end of the code. Here it is once more.")
        case .recoveryCodeMistyped: words("That is not a recovery code: compare its 26 characters, and correct it.")
        }
    }

    private var locked: String {
        switch prompt.sensor {
        case .touchID: words("Too many tries: the fingerprint is locked until the passcode is entered.")
        case .faceID: words("Too many tries: the face is locked until the passcode is entered.")
        case .opticID: words("Too many tries: the eyes are locked until the passcode is entered.")
        case .none: words("Too many tries: the sensor is locked until the passcode is entered.")
        }
    }

    private var finished: String {
        switch prompt.sensor {
        case .touchID: words("Not recognised, and no more tries with your fingerprint.")
        case .faceID: words("Not recognised, and no more tries with your face.")
        case .opticID: words("Not recognised, and no more tries with your eyes.")
        case .none: words("Not recognised, and no more tries.")
        }
    }

    private var tries: String? {
        switch content.triesLeft {
        case 0: words("No tries left.")
        case let count: words.count(count, "One try left.", "\(count) tries left.")
        }
    }
}
