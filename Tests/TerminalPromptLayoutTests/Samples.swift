// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

@testable import LatchkeyPrompts

extension PromptState {
    /// A prompt with default values.
    static func sample(
        reason: String = "open the token", caller: String = "notes", program: String = "/usr/bin/notes",
        ownName: String = "", cancel: String = "Cancel", fallback: String = "Enter Passcode",
        sensor: BiometryKind = .touchID, tier: Tier = .user, purpose: PromptPurpose = .app, code: String? = nil,
        startedBy: String = "", _ content: PromptContent = .first
    ) -> PromptState {
        var content = content
        content.recoveryCode = code.map { SecretBytes($0.utf8) }
        return PromptState(
            Prompt(
                id: 1, purpose: purpose, caller: caller, program: program, ownName: ownName, processID: 4711,
                reason: reason,
                cancelTitle: cancel, fallbackTitle: fallback, faceUsage: "seeing you", sensor: sensor, tier: tier,
                terminal: 0, userID: 0, startedBy: startedBy, content: content), processID: 4712)
    }

    /// A prompt that asks whether `gh` may read an item of another program.
    static func question(
        label: String = "GitHub", startedBy: String = "bash ← claude ← gnome-terminal", _ chosen: SecretAnswer? = nil,
        step: PromptContent.Step = .answerAsked
    ) -> PromptState {
        var state = sample(
            reason: label, caller: "gh", program: "/usr/bin/gh", sensor: .none, purpose: .readSecret,
            startedBy: startedBy, .answerAsked)
        state.content.step = step
        state.chosen = chosen
        return state
    }
}

extension PromptContent {
    static let first = PromptContent(method: .biometry, notice: .none, triesLeft: 3, showsFallback: false)
    static let missed = PromptContent(method: .biometry, notice: .notRecognised, triesLeft: 2, showsFallback: true)
    static let codeShown = PromptContent(
        method: .passcode, notice: .none, triesLeft: 0, showsFallback: false, step: .recoveryCodeShown)
    static let codeAsked = PromptContent(
        method: .passcode, notice: .none, triesLeft: 0, showsFallback: false, step: .recoveryCodeAsked)
    static let answerAsked = PromptContent(
        method: .passcode, notice: .none, triesLeft: 0, showsFallback: false, step: .answerAsked)
    static func newPasscode(
        _ step: Step = .newPasscodeAsked, _ notice: Notice = .none
    ) -> PromptContent {
        PromptContent(method: .passcode, notice: notice, triesLeft: 0, showsFallback: false, step: step)
    }
    static let passcode = PromptContent(method: .passcode, notice: .none, triesLeft: 3, showsFallback: false)
}

extension Look {
    static func sample(_ variables: [String: String] = [:]) -> Look {
        Look(terminalIsUTF8: true, callerReadsKeys: false) { variables[$0] ?? ($0 == "TERM" ? "xterm" : nil) }
    }
}
