// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The words of a prompt, the same for every look. What the caller chose stands in quotation marks, so that it cannot
/// pass for something that Latchkey says.
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

    /// Who asks for what.
    package var question: String { "\(prompt.caller) asks for \(proof)" }

    /// Why, in the caller's words; nil when it gave none.
    package var reason: String? { prompt.reason.isEmpty ? nil : "to “\(prompt.reason)”" }

    /// How the caller is known: what the kernel says, and apart from that what it says itself.
    package var program: String {
        "process \(prompt.processID)" + (prompt.program.isEmpty ? "" : ", \(prompt.program)")
    }

    /// The name the caller gave itself; nil when it goes by the one the kernel knows.
    package var ownName: String? { prompt.ownName.isEmpty ? nil : "“\(prompt.ownName)”" }

    /// What it is to be used for, in the caller's words, while the person is asked for leave (behaviour LA-07).
    package var usage: String? {
        content.asksPermission && !prompt.faceUsage.isEmpty ? "It looks at faces for “\(prompt.faceUsage)”" : nil
    }

    /// What to do now.
    package var wish: String {
        if content.asksPermission { return "May \(prompt.caller) look at your \(sensor), now and later?" }
        switch content.method {
        case .companion: return "Confirm on your paired device."
        case .passcode: return "Type your passcode, then press Enter."
        case .biometry: break
        }
        // A face is not looked for again by itself; what is left are the keys (behaviour LA-27).
        guard content.triesLeft > 0 else { return "The sensor has stopped looking for your \(sensor)." }
        let wish = prompt.sensor == .touchID ? "Touch the sensor" : "Look at the sensor"
        return wish + (content.offersCompanion ? ", or confirm on your paired device." : ".")
    }

    /// What the last try came to and how many are left.
    package var feedback: String {
        if entry == .checking { return "Checking the passcode." }
        if content.asksPermission { return "" }
        let words: String? =
            switch content.notice {
            case .none: nil
            case .notRecognised: "Not recognised."
            case .wrongPasscode: "The passcode is wrong."
            case .biometryLocked: "Too many tries: the \(sensor) is locked until the passcode is entered."
            case .biometryFinished: "Not recognised, and no more tries with your \(sensor)."
            }
        return [words, tries].compactMap { $0 }.joined(separator: " ")
    }

    private var tries: String? {
        switch (content.method, content.triesLeft) {
        case (.companion, _): nil
        case (_, 0): "No tries left."
        case (_, 1): "One try left."
        case (_, let count): "\(count) tries left."
        }
    }

    /// How far the passcode is, without its length.
    package var field: String? {
        guard content.method == .passcode else { return nil }
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
        if content.method == .passcode {
            keys.insert((key: "Enter", title: "Send"), at: 0)
        } else if content.showsFallback {
            keys.append((key: "P", title: prompt.fallbackTitle))
        }
        return keys
    }

    /// Said in the tier that protects nothing; nil elsewhere.
    package var simulation: String? { prompt.tier == .simulated ? "This machine is simulated, for tests only." : nil }

    /// The keys that play the simulated sensor; none elsewhere.
    package var simulatedKeys: [(key: String, title: String)] {
        guard prompt.tier == .simulated, content.method == .biometry, !content.asksPermission else { return [] }
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
