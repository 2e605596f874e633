// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The texts of a prompt, shared by the terminal and the window. Every text that the caller chooses, including its
/// file name and path, is in quotation marks, so that it cannot be mistaken for a statement of Latchkey.
extension PromptState {
    /// What the sensor recognises.
    package var sensor: String {
        switch prompt.sensor {
        case .touchID: "fingerprint"
        case .faceID: "face"
        case .opticID: "eyes"
        case .none: "passcode"
        }
    }

    /// The requested proof, as part of a sentence.
    private var proof: String {
        switch content.method {
        case .biometry: "your \(sensor)"
        case .passcode: passcode
        case .companion: "a confirmation on your paired device"
        }
    }

    /// Which program asks for what. For a request of Latchkey itself, the sentence continues with `reason`.
    package var question: String {
        prompt.purpose == .app
            ? "“\(prompt.caller)” asks for \(proof)" : "“\(prompt.caller)” (\(program)) wants to"
    }

    /// The caller's reason, nil when it gave none; or Latchkey's description of the action that follows.
    package var reason: String? {
        guard let action else { return prompt.reason.isEmpty ? nil : "to “\(prompt.reason)”" }
        return action + "."
    }

    /// The action that follows a successful prompt; nil when an app evaluates a policy for its own purposes.
    package var action: String? {
        switch prompt.purpose {
        case .app: nil
        case .unlock: "unlock this keychain"
        case .exportItems: "export the items of every app in this keychain"
        case .importItems: "import the items of a backup into this keychain"
        case .setPasscode: "set a passcode for this keychain"
        case .moveItemsAway: "move every item of your own store to the system's keychain"
        case .receiveItems: "add every item of your own store to the system's keychain and replace older ones"
        case .changePasscode: "change the passcode of this keychain"
        case .removePasscode: "remove the passcode of this keychain and delete the items that need one"
        case .discardProtected: "delete every protected item of this keychain permanently"
        case .acceptStore: "continue with this keychain although it was replaced by an older or a changed one"
        case .identifyDevice:
            "identify this device to “\(prompt.reason)”, which can recognise it from now on, also after a new installation"
        }
    }

    /// The caller's process id and program, as the kernel reports them.
    package var program: String {
        "process \(prompt.processID)" + (prompt.program.isEmpty ? "" : ", “\(prompt.program)”")
    }

    /// The caller's own name for itself; nil when it is the name that the kernel reports.
    package var ownName: String? { prompt.ownName.isEmpty ? nil : "“\(prompt.ownName)”" }

    /// Why the app uses the camera, in its own text, while it asks for permission (behaviour LA-07).
    package var usage: String? {
        content.asksPermission && !prompt.faceUsage.isEmpty ? "It uses the camera for “\(prompt.faceUsage)”" : nil
    }

    /// The instruction to the user.
    package var wish: String {
        switch content.step {
        case .recoveryCodeShown: return "Write this recovery code down. It opens the backup and is not shown again."
        case .recoveryCodeAsked: return "Type the recovery code of the backup, then press Enter."
        case .newPasscodeAsked:
            return "Type a new passcode of at least \(Limits.passcodeCharacters) characters, then press Enter."
        case .newPasscodeRepeated: return "Type the new passcode again, then press Enter."
        case .proof: break
        }
        if content.asksPermission { return "Allow “\(prompt.caller)” to recognise your \(sensor), now and later?" }
        switch content.method {
        case .companion: return "Confirm on your paired device."
        case .passcode where isDelayed:
            return "Too many wrong \(secret.lowercased())s. Try again in \(Self.time(delayLeft))."
        case .passcode: return "Type \(passcode), then press Enter."
        case .biometry: break
        }
        // The sensor does not restart automatically; the user can still choose the fallback or cancel (behaviour
        // LA-27).
        guard content.triesLeft > 0 else { return "The sensor has stopped looking for your \(sensor)." }
        let wish = prompt.sensor == .touchID ? "Touch the sensor" : "Look at the sensor"
        return wish + (content.offersCompanion ? ", or confirm on your paired device." : ".")
    }

    /// The passcode that is asked for. A move asks for two, one after the other, which can differ.
    private var passcode: String {
        switch content.secret {
        case .passcode: break
        case .accountPassword: return "the password of your account on this system"
        case .previousPassword: return "the password that your account had before it was changed"
        }
        if prompt.purpose == .receiveItems { return "the passcode of the system's keychain" }
        if prompt.purpose == .moveItemsAway { return "the passcode of your own store" }
        return "your passcode"
    }

    /// The name of the secret that is asked for.
    private var secret: String { content.secret == .passcode ? "Passcode" : "Password" }

    /// The result of the last attempt and the number of attempts left, which is also given before the first attempt.
    /// The terminal prompt uses this text.
    package var feedback: String { feedback(showsTries: true) }

    /// The same, but with the number of attempts left only after one has failed.
    package var feedbackAfterTries: String {
        switch content.notice {
        case .notRecognised, .wrongPasscode, .sameWrongPasscode, .accountNotChecked, .accountRefused:
            feedback(showsTries: true)
        case .none, .biometryLocked, .biometryFinished, .passcodeDueAfterRestart, .passcodeDueByTime,
            .newPasscodeTooShort, .newPasscodesDiffer, .scanAgain, .swipeTooShort, .fingerNotCentred, .removeAndRetry,
            .scanTooFast, .sensorDisconnected, .accountPasswordChanged:
            feedback(showsTries: false)
        }
    }

    /// Whether the feedback reports a failure.
    package var isFailure: Bool { content.notice.isFailure && entry != .checking }

    private func feedback(showsTries: Bool) -> String {
        if entry == .checking {
            return checking + (content.message.isEmpty ? "" : " The system says: “\(content.message)”.")
        }
        if content.asksPermission { return "" }
        let message = content.message.isEmpty ? nil : "The system says: “\(content.message)”."
        let tries = showsTries && content.step == .proof ? tries : nil
        return [result, message, tries].compactMap { $0 }.joined(separator: " ")
    }

    /// What happens to the text that was sent.
    private var checking: String {
        switch content.step {
        case .proof: "Checking the \(secret.lowercased())."
        case .recoveryCodeShown, .recoveryCodeAsked: "Checking the recovery code."
        case .newPasscodeAsked, .newPasscodeRepeated: "Checking the new passcode."
        }
    }

    /// The result of the last attempt; nil before the first one.
    private var result: String? {
        switch content.notice {
        case .none: nil
        case .notRecognised: "Not recognised."
        case .wrongPasscode: "The \(secret.lowercased()) is wrong."
        case .biometryLocked: "Too many tries: the \(sensor) is locked until the passcode is entered."
        case .sameWrongPasscode:
            "That is the same wrong \(secret.lowercased()) as before; it does not count again."
        case .passcodeDueAfterRestart: "Your passcode is required: it was not entered since the machine started."
        case .passcodeDueByTime: "Your passcode is required: it was not entered for a long time."
        case .biometryFinished: "Not recognised, and no more tries with your \(sensor)."
        case .newPasscodeTooShort: "The passcode is too short: it needs \(Limits.passcodeCharacters) characters."
        case .newPasscodesDiffer: "The two entries differ. Choose a passcode again."
        case .scanAgain: "The scan was not clear. Try again."
        case .swipeTooShort: "The swipe was too short. Try again."
        case .fingerNotCentred: "The finger was not centred on the sensor. Try again."
        case .removeAndRetry: "Remove your finger from the sensor, then try again."
        case .scanTooFast: "That was too fast. Try again."
        case .sensorDisconnected: "The sensor was disconnected."
        case .accountNotChecked: "The password of your account could not be checked."
        case .accountRefused: "The system does not accept your account at present."
        case .accountPasswordChanged: "The password of your account was changed."
        }
    }

    private var tries: String? {
        switch (content.method, content.triesLeft) {
        case (.companion, _): nil
        case (_, 0): "No tries left."
        case (_, 1): "One try left."
        case (_, let count): "\(count) tries left."
        }
    }

    /// The recovery code while it is shown.
    package var recoveryCode: String? {
        guard content.step == .recoveryCodeShown else { return nil }
        return content.recoveryCode?.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the prompt accepts typed text: a passcode, a recovery code or a new passcode.
    package var takesText: Bool {
        switch content.step {
        case .proof: content.method == .passcode && !isDelayed
        case .recoveryCodeShown: false
        case .recoveryCodeAsked, .newPasscodeAsked, .newPasscodeRepeated: true
        }
    }

    /// A duration as text, in minutes and seconds.
    private static func time(_ seconds: Int) -> String {
        func count(_ number: Int, _ unit: String) -> String { "\(number) \(unit)" + (number == 1 ? "" : "s") }
        guard seconds >= 60 else { return count(seconds, "second") }
        return count(seconds / 60, "minute") + (seconds % 60 == 0 ? "" : " and " + count(seconds % 60, "second"))
    }

    /// Progress of typing: without the length of a passcode, with the length of a recovery code.
    package var field: String? {
        if content.step == .recoveryCodeAsked {
            return switch entry {
            case .nothing: "Recovery code: nothing typed yet"
            case .typing: "Recovery code: \(typedCharacters) characters typed, not shown"
            case .checking: "Recovery code: sent"
            }
        }
        guard takesText else { return nil }
        let name =
            switch content.step {
            case .newPasscodeAsked: "New passcode"
            case .newPasscodeRepeated: "New passcode again"
            case .proof, .recoveryCodeShown, .recoveryCodeAsked: secret
            }
        return switch entry {
        case .nothing: "\(name): nothing typed yet"
        case .typing: "\(name): typed, not shown"
        case .checking: "\(name): sent"
        }
    }

    /// The keys that have an effect now, with their titles.
    package var keys: [(key: String, title: String)] {
        var keys = [(key: "Esc/Ctrl-C", title: prompt.cancelTitle)]
        if content.asksPermission { keys = [(key: "Y", title: "Allow"), (key: "N", title: "Do Not Allow")] + keys }
        if takesText {
            keys.insert((key: "Enter", title: "Send"), at: 0)
        } else if content.step == .recoveryCodeShown {
            keys.insert((key: "Enter", title: Self.acknowledgement), at: 0)
        } else if content.showsFallback {
            keys.append((key: "P", title: prompt.fallbackTitle))
        }
        return keys
    }

    /// The title of the button that sends the typed text: "Unlock" only where no other action follows.
    package var entryTitle: String {
        switch (content.step, prompt.purpose) {
        case (.proof, .app), (.proof, .unlock): "Unlock"
        default: "Continue"
        }
    }

    /// The title of the button that confirms that the recovery code is written down.
    package static let acknowledgement = "I have written it down"

    /// A notice that the machine is simulated; nil in other tiers.
    package var simulation: String? { prompt.tier == .simulated ? "This machine is simulated, for tests only." : nil }

    /// The keys that operate the simulated sensor; empty in other tiers.
    package var simulatedKeys: [(key: String, title: String)] {
        guard prompt.tier == .simulated, content.asks(for: .biometry), !content.asksPermission else { return [] }
        return [(key: "M", title: "enrolled \(thing)"), (key: "X", title: "another \(thing)")]
    }

    private var thing: String {
        switch prompt.sensor {
        case .touchID: "finger"
        case .faceID: "face"
        case .opticID, .none: "eyes"
        }
    }
}
