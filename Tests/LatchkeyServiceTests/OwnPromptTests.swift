// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SystemDriver
import TestSupport
import Testing

@testable import LatchkeyService

/// Prompts for the daemon's own operations, which show no text of the caller and may have a recovery code in the last
/// step.
@Suite struct OwnPromptTests {
    private let prompter: CollectingPrompter
    private let machine: SimulatedService
    private let session: Session
    /// Handles the requests of the session and commands of a script.
    private let handler: ScriptedRequestHandler
    private let ends = Recorder<Result<Agreement, Failure>>()
    /// Each result as text: the methods or the status, and the entered recovery code.
    private var words: [String] {
        ends.all.map { end in
            switch end {
            case .success(let agreement):
                let code = agreement.text.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } }
                return "\(agreement.proof.methods.map { "\($0)" }.sorted()) \(code ?? "no code")"
            case .failure(let failure): return "\(failure.status) no code"
            }
        }
    }
    private var world: SimulatedWorld { machine.world }

    init() throws {
        (machine, prompter) = try SimulatedService.withPrompts()
        session = machine.session()
        handler = ScriptedRequestHandler(session, world: machine.world)
    }

    private func ask(
        _ plan: AuthenticationPlan, for purpose: PromptPurpose = .exportItems,
        _ lastStep: LastStep, showing code: SecretBytes? = nil
    ) {
        let question = Question(plan: plan, purpose: purpose, lastStep: lastStep, recoveryCode: code)
        session.ask(1, question, ends.add)
    }

    @Test func recoveryCodeIsShownAndAcknowledgedWithoutAPasscode() {
        ask(AuthenticationPlan([]), .showsRecoveryCode, showing: SecretBytes("ABCD".utf8))
        #expect(words.isEmpty)
        #expect(prompter.shown.last?.content.recoveryCode == SecretBytes("ABCD".utf8))
        #expect(world.shownRecoveryCode == SecretBytes("ABCD".utf8))
        world.perform(.codeAcknowledged)
        #expect(words == ["[] no code"])
    }

    @Test func recoveryCodeIsShownOnlyAfterAllStages() {
        InterruptedService.answers(session, .setPasscode("1234"))
        ask(AuthenticationPlan([[.passcode]]), .showsRecoveryCode, showing: SecretBytes("ABCD".utf8))
        #expect(world.shownRecoveryCode == nil && prompter.shown.last?.content.recoveryCode == nil)
        world.perform(.codeAcknowledged)
        #expect(words.isEmpty, "there is no code to acknowledge yet")
        #expect(InterruptedService.answers(handler, .simulate(.reset), id: 2)() == [.done])
        world.perform(.passcode(SecretBytes("1234".utf8)))
        #expect(world.shownRecoveryCode == SecretBytes("ABCD".utf8))
        world.perform(.codeAcknowledged)
        #expect(words == ["[\"passcode\"] no code"])
    }

    @Test func enteredRecoveryCodeIsPassedToTheRequest() {
        ask(AuthenticationPlan([]), for: .importItems, .asksRecoveryCode)
        let code = String(repeating: "0", count: 26)
        world.perform(.recoveryCode(SecretBytes("XY".utf8)))
        #expect(words.isEmpty)
        world.perform(.recoveryCode(SecretBytes(code.utf8)))
        #expect(words == ["[] \(code)"])
    }

    // MARK: - Whether a program may read an item

    @Test(arguments: SecretAnswer.allCases) func chosenAnswerIsPassedToTheRequest(_ answer: SecretAnswer) {
        ask(AuthenticationPlan([]), for: .readSecret, .asksAnswer)
        #expect(lastPrompt?.step == .answerAsked)
        world.perform(.choice(answer))
        #expect(words == ["[] \(answer.rawValue)"])
    }

    @Test func answerIsAskedForAfterTheProof() {
        InterruptedService.answers(session, .setPasscode("1234"))
        ask(AuthenticationPlan([[.passcode]]), for: .readSecret, .asksAnswer)
        prompter.events?(.codeEntered(SecretBytes("always".utf8)))
        #expect(words.isEmpty && lastPrompt?.step == .proof)
        world.perform(.passcode(SecretBytes("1234".utf8)))
        #expect(words.isEmpty)
        world.perform(.choice(.never))
        #expect(words == ["[\"passcode\"] never"])
    }

    /// Only the three texts are answers, and the first one counts. What is no answer does not end the prompt.
    @Test func otherTextsAreNoAnswer() {
        ask(AuthenticationPlan([]), for: .readSecret, .asksAnswer)
        let send = prompter.events
        for text in ["", "Always", "yes", "once\n", String(repeating: "0", count: 26)] {
            send?(.codeEntered(SecretBytes(text.utf8)))
        }
        send?(.codeAcknowledged)
        send?(.passcode(SecretBytes("once".utf8)))
        #expect(words.isEmpty)
        machine.service.authority.report(.background(false)) { _ in
            send?(.codeEntered(SecretBytes("once".utf8)))
            send?(.codeEntered(SecretBytes("always".utf8)))
        }
        #expect(words == ["[] once"])
    }

    /// Where nothing is stored the prompt does not offer to store it, and a program that shows prompts cannot answer so.
    @Test func onlyOnceIsAnAnswerWhereNoneIsStored() {
        ask(AuthenticationPlan([]), for: .readSecret, .asksOnce)
        #expect(lastPrompt?.step == .onceAsked && lastPrompt?.step.answers == [.once])
        for answer in [SecretAnswer.always, .never] {
            prompter.events?(.codeEntered(SecretBytes(answer.rawValue.utf8)))
        }
        #expect(words.isEmpty)
        world.perform(.choice(.once))
        #expect(words == ["[] once"])
    }

    @Test func cancelledQuestionHasNoAnswer() {
        ask(AuthenticationPlan([]), for: .readSecret, .asksAnswer)
        world.perform(.cancel)
        #expect(words == ["userCancel no code"])
    }

    private func enterNew(_ passcodes: String...) {
        for passcode in passcodes { world.perform(.newPasscode(SecretBytes(passcode.utf8))) }
    }

    private var lastPrompt: PromptContent? { prompter.shown.last?.content }

    @Test func newPasscodeEnteredTwiceIsPassedToTheRequest() {
        ask(AuthenticationPlan([]), for: .setPasscode, .asksNewPasscode)
        #expect(prompter.shown.last?.purpose == .setPasscode && lastPrompt?.step == .newPasscodeAsked)
        enterNew("abcd", "abcd")
        #expect(words == ["[] abcd"])
    }

    @Test func currentAndNewPasscodeAreEnteredInOnePrompt() {
        InterruptedService.answers(session, .setPasscode("1234"))
        ask(AuthenticationPlan([[.passcode]]), for: .changePasscode, .asksNewPasscode)
        world.perform(.passcode(SecretBytes("1234".utf8)))
        enterNew("5678", "5678")
        #expect(words == ["[\"passcode\"] 5678"])
    }

    @Test func newPasscodeCountsCodePointsNotBytes() {
        ask(AuthenticationPlan([]), for: .setPasscode, .asksNewPasscode)
        // Six bytes, three characters.
        enterNew("äöü")
        #expect(words.isEmpty)
        enterNew("äöüß", "äöüß")
        #expect(words == ["[] äöüß"])
    }

    @Test func differentSecondEntryForgetsTheFirstOne() {
        ask(AuthenticationPlan([]), for: .setPasscode, .asksNewPasscode)
        enterNew("abcd", "abce", "abce")
        #expect(words.isEmpty, "the third entry is again a first one")
        enterNew("abcd")
        #expect(words.isEmpty, "an entry before the last failure does not count")
        enterNew("wxyz", "wxyz")
        #expect(words == ["[] wxyz"])
    }

    @Test func newPasscodeEnteredOnceIsNotPassedToTheRequest() {
        ask(AuthenticationPlan([]), for: .setPasscode, .asksNewPasscode)
        enterNew("abcd")
        world.perform(.cancel)
        #expect(words == ["userCancel no code"])
    }

    /// A program that shows prompts can send several events before the daemon has answered the first.
    @Test func entriesThatThePromptDidNotAskForAreIgnored() {
        ask(AuthenticationPlan([]), for: .setPasscode, .asksNewPasscode)
        let send = prompter.events
        send?(.newPasscodeRepeated(SecretBytes("abcd".utf8)))
        send?(.newPasscodeEntered(SecretBytes("abcd".utf8)))
        send?(.newPasscodeEntered(SecretBytes("ab".utf8)))
        send?(.codeEntered(SecretBytes("ab".utf8)))
        send?(.passcode(SecretBytes("ab".utf8)))
        send?(.newPasscodeRepeated(SecretBytes("ab".utf8)))
        #expect(words.isEmpty)
        send?(.newPasscodeEntered(SecretBytes("wxyz".utf8)))
        send?(.newPasscodeRepeated(SecretBytes("wxyz".utf8)))
        #expect(words == ["[] wxyz"])
    }

    /// While the daemon processes another event, entries wait in its queue and the step has not changed yet.
    @Test func aSecondFirstEntryDoesNotReplaceTheFirst() {
        ask(AuthenticationPlan([]), for: .setPasscode, .asksNewPasscode)
        let send = prompter.events
        machine.service.authority.report(.background(false)) { _ in
            send?(.newPasscodeEntered(SecretBytes("abcd".utf8)))
            send?(.newPasscodeEntered(SecretBytes("wxyz".utf8)))
        }
        send?(.newPasscodeRepeated(SecretBytes("wxyz".utf8)))
        #expect(words.isEmpty)
    }

    /// A program that shows prompts may send an entry before the daemon has processed the event that permits it.
    @Test func entryThatArrivesBeforeTheEarlierEventIsProcessedCounts() {
        ask(AuthenticationPlan([]), for: .setPasscode, .asksNewPasscode)
        let send = prompter.events
        machine.service.authority.report(.background(false)) { _ in
            send?(.newPasscodeEntered(SecretBytes("abcd".utf8)))
            send?(.newPasscodeRepeated(SecretBytes("abcd".utf8)))
        }
        #expect(words == ["[] abcd"])
    }

    @Test func noNewPasscodeIsInTheTranscript() {
        ask(AuthenticationPlan([]), for: .setPasscode, .asksNewPasscode)
        enterNew("ab", "secret1", "secret2", "secret3", "secret3")
        let lines = world.transcript.joined(separator: "\n")
        #expect(lines.contains("prompt: new passcode, too short") && lines.contains("prompt: new passcode again"))
        #expect(lines.contains("prompt: new passcode, the entries differ"))
        #expect(lines.contains("a new passcode is entered") && !lines.contains("secret"))
    }

    @Test func cancellingTheRecoveryCodeIsUserCancel() {
        ask(AuthenticationPlan([]), .showsRecoveryCode, showing: SecretBytes("ABCD".utf8))
        world.perform(.cancel)
        #expect(words == ["userCancel no code"])
    }

    @Test func promptForADaemonOperationShowsNoTextOfTheCaller() {
        InterruptedService.answers(session, .setPasscode("1234"))
        InterruptedService.answers(session, .lock, id: 2)
        let prompting = Prompting(reason: "win a prize", fallbackTitle: "Win", cancelTitle: "Lose")
        let answers = InterruptedService.answers(session, .unlock(prompting), id: 3)
        let prompt = prompter.shown.last
        #expect(prompt?.purpose == .unlock && prompt?.reason == "")
        #expect(prompt?.cancelTitle == "Cancel" && prompt?.fallbackTitle == "Enter Passcode")
        world.perform(.touch(matching: true))
        #expect(answers() == [.done])
    }

    @Test func recoveryCodeStepEndsAfterTenMinutesAndAProofStepAfterOne() throws {
        InterruptedService.answers(session, .setPasscode("1234"))
        func pass(_ seconds: UInt64) {
            InterruptedService.answers(handler, .simulate(.advance(seconds: seconds)), id: 9)
        }
        ask(AuthenticationPlan([[.passcode]]), .showsRecoveryCode, showing: SecretBytes("ABCD".utf8))
        pass(59)
        world.perform(.passcode(SecretBytes("1234".utf8)))
        pass(599)
        #expect(words.isEmpty)
        pass(1)
        #expect(words == ["systemCancel no code"])
        ask(AuthenticationPlan([[.passcode]]), .showsRecoveryCode, showing: SecretBytes("ABCD".utf8))
        pass(60)
        #expect(words == ["systemCancel no code", "systemCancel no code"])
    }

    @Test func noRecoveryCodeIsInTheTranscript() {
        ask(AuthenticationPlan([]), .showsRecoveryCode, showing: SecretBytes("ABCD".utf8))
        world.perform(.codeAcknowledged)
        ask(AuthenticationPlan([]), for: .importItems, .asksRecoveryCode)
        world.perform(.recoveryCode(SecretBytes("EFGH".utf8)))
        let lines = world.transcript.joined(separator: "\n")
        #expect(lines.contains("recovery code shown") && lines.contains("a recovery code is entered"))
        #expect(!lines.contains("ABCD") && !lines.contains("EFGH"))
    }
}
