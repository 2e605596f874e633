// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The words of a prompt, the same for every look. What the caller chose, the name and path of its file included, stands in
/// quotation marks, so that it cannot pass for something that Latchkey says.
extension PromptState {
    /// What the sensor knows a person by.
    package var sensor: String {
        switch prompt.sensor {
        case .touchID: "fingerprint"
        case .faceID: "face"
        case .opticID: "eyes"
        case .none: "passcode"
        }
    }

    /// What is asked for now.
    private var proof: String {
        switch content.method {
        case .biometry: "your \(sensor)"
        case .passcode: "your passcode"
        case .companion: "a confirmation on your paired device"
        }
    }

    /// Who asks for what. What the daemon asks for itself goes on with `reason`.
    package var question: String {
        prompt.purpose == .app
            ? "“\(prompt.caller)” asks for \(proof)" : "“\(prompt.caller)” (\(program)) wants to"
    }

    /// Why: in the caller's words, nil when it gave none; or what is about to happen, in ours.
    package var reason: String? {
        guard let action else { return prompt.reason.isEmpty ? nil : "to “\(prompt.reason)”" }
        return action + "."
    }

    /// What is about to happen; nil where an app wants something proven for reasons of its own.
    package var action: String? {
        switch prompt.purpose {
        case .app: nil
        case .unlock: "unlock this keychain"
        case .exportItems: "export the items of every app in this keychain"
        case .importItems: "import the items of a backup into this keychain"
        case .changePasscode: "change the passcode of this keychain"
        case .removePasscode: "remove the passcode of this keychain and delete the items that need one"
        case .discardProtected: "delete every protected item of this keychain for good"
        case .acceptStore: "go on with this keychain although it was replaced by an older or a changed one"
        }
    }

    /// How the caller is known: what the kernel says, and apart from that what it says itself.
    package var program: String {
        "process \(prompt.processID)" + (prompt.program.isEmpty ? "" : ", “\(prompt.program)”")
    }

    /// The name the caller gave itself; nil when it goes by the one the kernel knows.
    package var ownName: String? { prompt.ownName.isEmpty ? nil : "“\(prompt.ownName)”" }

    /// What it is to be used for, in the caller's words, while the person is asked for leave (behaviour LA-07).
    package var usage: String? {
        content.asksPermission && !prompt.faceUsage.isEmpty ? "It looks at faces for “\(prompt.faceUsage)”" : nil
    }

    /// What to do now.
    package var wish: String {
        switch content.step {
        case .recoveryCodeShown: return "Write this recovery code down. It opens the backup and is not shown again."
        case .recoveryCodeAsked: return "Type the recovery code of the backup, then press Enter."
        case .proof: break
        }
        if content.asksPermission { return "May “\(prompt.caller)” look at your \(sensor), now and later?" }
        switch content.method {
        case .companion: return "Confirm on your paired device."
        case .passcode where isDelayed: return "Too many wrong passcodes. Entry goes on in \(Self.time(delayLeft))."
        case .passcode: return "Type your passcode, then press Enter."
        case .biometry: break
        }
        // A face is not looked for again by itself; what is left are the keys (behaviour LA-27).
        guard content.triesLeft > 0 else { return "The sensor has stopped looking for your \(sensor)." }
        let wish = prompt.sensor == .touchID ? "Touch the sensor" : "Look at the sensor"
        return wish + (content.offersCompanion ? ", or confirm on your paired device." : ".")
    }

    /// What the last try came to and how many are left. For a look that shows it all the time: before the first try it says
    /// how many there are.
    package var feedback: String { feedback(showsTries: true) }

    /// The same without the number of tries while there was none that failed.
    package var feedbackAfterTries: String {
        switch content.notice {
        case .notRecognised, .wrongPasscode, .sameWrongPasscode: feedback(showsTries: true)
        case .none, .biometryLocked, .biometryFinished, .passcodeDueAfterRestart, .passcodeDueByTime:
            feedback(showsTries: false)
        }
    }

    private func feedback(showsTries: Bool) -> String {
        guard content.step == .proof else { return entry == .checking ? "Checking the recovery code." : "" }
        if entry == .checking { return "Checking the passcode." }
        if content.asksPermission { return "" }
        let words: String? =
            switch content.notice {
            case .none: nil
            case .notRecognised: "Not recognised."
            case .wrongPasscode: "The passcode is wrong."
            case .biometryLocked: "Too many tries: the \(sensor) is locked until the passcode is entered."
            case .sameWrongPasscode: "That is the same wrong passcode as before; it does not count again."
            case .passcodeDueAfterRestart: "The passcode comes first: it was not entered since the machine started."
            case .passcodeDueByTime: "The passcode comes first: it was not entered for a long time."
            case .biometryFinished: "Not recognised, and no more tries with your \(sensor)."
            }
        return [words, showsTries ? tries : nil].compactMap { $0 }.joined(separator: " ")
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

    /// Whether a passcode or a recovery code is typed now.
    package var takesText: Bool { (content.asks(for: .passcode) && !isDelayed) || content.step == .recoveryCodeAsked }

    /// A time as a person reads it.
    private static func time(_ seconds: Int) -> String {
        func count(_ number: Int, _ unit: String) -> String { "\(number) \(unit)" + (number == 1 ? "" : "s") }
        guard seconds >= 60 else { return count(seconds, "second") }
        return count(seconds / 60, "minute") + (seconds % 60 == 0 ? "" : " and " + count(seconds % 60, "second"))
    }

    /// How far the passcode is, without its length, or the recovery code.
    package var field: String? {
        if content.step == .recoveryCodeAsked {
            return switch entry {
            case .nothing: "Recovery code: nothing typed yet"
            case .typing: "Recovery code: \(typedCharacters) characters typed, not shown"
            case .checking: "Recovery code: sent"
            }
        }
        guard content.asks(for: .passcode), !isDelayed else { return nil }
        return switch entry {
        case .nothing: "Passcode: nothing typed yet"
        case .typing: "Passcode: typed, not shown"
        case .checking: "Passcode: sent"
        }
    }

    /// The keys that do something now, and what.
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

    /// The title of a button that sends what was typed. It opens something only where nothing else is about to happen.
    package var entryTitle: String {
        switch (content.step, prompt.purpose) {
        case (.proof, .app), (.proof, .unlock): "Unlock"
        default: "Continue"
        }
    }

    /// What a person presses when the recovery code is on paper.
    package static let acknowledgement = "I have written it down"

    /// Said in the tier that protects nothing; nil elsewhere.
    package var simulation: String? { prompt.tier == .simulated ? "This machine is simulated, for tests only." : nil }

    /// The keys that play the simulated sensor; none elsewhere.
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
