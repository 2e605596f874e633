// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import SimulatedDriver

/// What a person who answers every prompt does in each step of a prompt.
@Suite struct PromptAnswerTests {
    private typealias Action = SimulatedWorld.Action

    private func secret(_ text: String) -> SecretBytes { SecretBytes(text.utf8) }

    private func content(
        _ method: AuthenticationMethod = .passcode, _ step: PromptContent.Step = .proof,
        notice: PromptContent.Notice = .none, change: (inout PromptContent) -> Void = { _ in }
    ) -> PromptContent {
        var content = PromptContent(method: method, notice: notice, triesLeft: 3, showsFallback: false, step: step)
        change(&content)
        return content
    }

    /// Returns the action of the person: nil if there is none, `waits` says whether there will be one.
    private func answer(
        _ content: PromptContent, purpose: PromptPurpose = .app, sensor: BiometryKind = .touchID,
        isArmed: Bool = false, wasArmed: Bool = false, code: String? = nil, last: Action? = nil,
        script: PromptScript? = nil
    ) -> (action: Action?, waits: Bool) {
        let prompt = Prompt(
            id: 1, purpose: purpose, caller: "app", processID: 1, reason: "test", cancelTitle: "", fallbackTitle: "",
            faceUsage: "", sensor: sensor, tier: .simulated, terminal: 0, userID: 1, content: content)
        var shown = SimulatedWorld.ShownPrompt(prompt) { _ in }
        (shown.wasArmed, shown.answer, shown.script) = (wasArmed, last, script)
        switch shown.answer(isArmed: isArmed, sensor: sensor, passcode: secret("5678"), code: code.map(secret)) {
        case .action(let action): return (action, false)
        case .later: return (nil, true)
        case .never: return (nil, false)
        }
    }

    @Test func proofsAreGivenByTheMethodThatThePromptAsksFor() {
        #expect(answer(content(.biometry), isArmed: true).action == .touch(matching: true))
        #expect(answer(content(.biometry), sensor: .opticID, isArmed: true).action == .face(matching: true))
        #expect(answer(content(.passcode)).action == .passcode(secret("5678")))
        for question in [PromptContent.Question.permission, .scan] {
            #expect(answer(content(.biometry) { $0.question = question }).action == .permission(true))
        }
    }

    @Test func aSensorThatScansNoMoreIsReplacedByWhatThePromptOffers() {
        #expect(answer(content(.biometry)) == (nil, waits: true), "it is armed a moment later")
        #expect(answer(content(.biometry), wasArmed: true) == (nil, waits: false))
        #expect(answer(content(.biometry) { $0.showsFallback = true }, wasArmed: true).action == .fallback)
    }

    @Test func lastStepsAreAnswered() {
        for step in [PromptContent.Step.newPasscodeAsked, .newPasscodeRepeated] {
            #expect(answer(content(.passcode, step)).action == .newPasscode(secret("1234")))
        }
        for step in [PromptContent.Step.recoveryCodeShown, .accountExpired] {
            #expect(answer(content(.passcode, step)).action == .codeAcknowledged)
        }
        for step in [PromptContent.Step.answerAsked, .onceAsked] {
            #expect(answer(content(.passcode, step), purpose: .readSecret).action == .choice(.once))
        }
        let asked = content(.passcode, .recoveryCodeAsked)
        #expect(answer(asked, code: "AB-CD-EF").action == .recoveryCode(secret("AB-CD-EF")))
        #expect(answer(asked) == (nil, waits: false), "no prompt has shown a code")
        #expect(answer(asked, purpose: .acceptStore, code: "AB").action == .recoveryCode(secret("accept")))
        let repeated = content(.passcode, .recoveryCodeRepeated)
        #expect(answer(repeated, code: "AB-CD-EF").action == .recoveryCode(secret("EF")))
        #expect(answer(repeated) == (nil, waits: false))
    }

    @Test func aDelayedEntryIsWaitedForOnlyIfTheClockCanAdvance() {
        let delayed = content(.passcode) { $0.delaySeconds = 5 }
        for script in [nil, PromptScript.commands, .functions(waits: true)] {
            #expect(answer(delayed, script: script) == (nil, waits: true))
        }
        #expect(answer(delayed, script: .functions(waits: false)) == (nil, waits: false))
    }

    /// A prompt does not count the same wrong passcode twice, so the answers would never end.
    @Test func aRefusedAnswerIsNotRepeated() {
        let wrong = content(.passcode, notice: .sameWrongPasscode)
        #expect(answer(wrong, last: .passcode(secret("5678"))) == (nil, waits: false))
        #expect(answer(wrong).action != nil, "another person may have entered that one")
        let short = content(.passcode, .newPasscodeAsked, notice: .newPasscodeTooShort)
        #expect(answer(short, last: .newPasscode(secret("1234"))) == (nil, waits: false))
        let repeated = content(.passcode, .newPasscodeRepeated)
        #expect(answer(repeated, last: .newPasscode(secret("1234"))).action != nil)
    }
}
