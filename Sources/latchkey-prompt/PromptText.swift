// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel

/// The words of a terminal prompt. One line for each thing said, nothing redrawn, so that it reads well over SSH, in
/// a log and with a screen reader.
struct PromptText {
    private let prompt: Prompt
    private let columns: Int

    init(_ prompt: Prompt, columns: Int) {
        self.prompt = prompt
        self.columns = columns
    }

    private var sensor: String {
        switch prompt.sensor {
        case .touchID: "fingerprint"
        case .faceID: "face"
        case .opticID: "eyes"
        case .none: "passcode"
        }
    }

    private func line(_ words: String) -> String { "| " + words + "\r\n" }

    func opening() -> String {
        let tier = prompt.tier == .simulated ? " (simulated: for tests only)" : ""
        var lines = "\r\n" + line("Latchkey prompt, process \(getpid())\(tier)")
        lines += line("\(prompt.caller), process \(prompt.processID), asks you to prove who you are")
        if !prompt.reason.isEmpty { lines += line("to \(prompt.reason)") }
        if prompt.tier == .simulated, prompt.content.method == .biometry {
            lines += line("Play the sensor:  [m] the enrolled finger  [x] another finger")
        }
        return lines
    }

    func notice(_ content: PromptContent) -> String {
        switch content.notice {
        case .none: ""
        case .notRecognised: line("Not recognised. \(tries(content)).")
        case .wrongPasscode: line("The passcode is wrong. \(tries(content)).")
        case .biometryLocked: line("Too many tries: the \(sensor) is locked until the passcode is entered.")
        case .biometryFinished: line("Not recognised.")
        }
    }

    private func tries(_ content: PromptContent) -> String {
        content.triesLeft == 1 ? "One try left" : "\(content.triesLeft) tries left"
    }

    func ask(_ content: PromptContent) -> String {
        switch content.method {
        case .passcode:
            let notice = content.notice == .biometryLocked ? self.notice(content) : ""
            return (prompt.content == content ? notice : "") + "| Passcode (Esc: \(prompt.cancelTitle)): "
        case .biometry, .companion:
            var keys = ["[c] \(prompt.cancelTitle)"]
            if content.showsFallback { keys.insert("[p] \(prompt.fallbackTitle)", at: 0) }
            var wish = prompt.sensor == .touchID ? "Touch the sensor" : "Look at the sensor"
            if content.method == .companion { wish = "Confirm on your paired device" }
            if content.method == .biometry, content.offersCompanion { wish += " or confirm on your paired device" }
            return line("\(wish).  \(keys.joined(separator: "  "))")
        }
    }

    func closing() -> String { "\r\n" }
}
