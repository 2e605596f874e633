// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import LatchkeyModel
import LatchkeyPrompts
import Testing

/// The texts and flags of a prompt as an agent receives it.
@Suite struct ShownPromptTests {
    private func shown(
        _ method: AuthenticationMethod = .biometry, notice: PromptContent.Notice = .none, tries: Int = 3,
        fallback: Bool = false, permission: Bool = false, sensor: BiometryKind = .touchID,
        tier: Tier = .user, ownName: String = "", usage: String = "", reason: String = "open the token"
    ) -> ShownPrompt {
        let content = PromptContent(
            method: method, notice: notice, triesLeft: tries, showsFallback: fallback,
            question: permission ? .permission : .none)
        let prompt = Prompt(
            id: 7, caller: "notes", program: "/usr/bin/notes", ownName: ownName, processID: 4711, reason: reason,
            cancelTitle: "Not now", fallbackTitle: "Use Passcode", faceUsage: usage, sensor: sensor, tier: tier,
            terminal: 0, userID: 1000, content: content)
        return ShownPrompt(PromptState(prompt, processID: 1))
    }

    @Test func callersTextsAreQuotedAndKernelFactsAreNot() {
        let prompt = shown(ownName: "Bank")
        #expect(prompt.number == 7)
        #expect(prompt.question == "“notes” asks for your fingerprint")
        #expect(prompt.program == "process 4711, “/usr/bin/notes”")
        #expect(prompt.ownName == "“Bank”")
        #expect(prompt.reason == "to “open the token”")
        #expect(shown(reason: "").reason == nil)
        #expect(shown().ownName == nil)
    }

    /// A move asks for the passcodes of two keychains, one after the other.
    @Test func passcodesOfAMoveAreToldApart() {
        func wish(_ purpose: PromptPurpose) -> String {
            let content = PromptContent(method: .passcode, notice: .none, triesLeft: 3, showsFallback: false)
            let prompt = Prompt(
                id: 7, purpose: purpose, caller: "latchkey", processID: 1, reason: "", cancelTitle: "",
                fallbackTitle: "", faceUsage: "", sensor: .none, tier: .file, terminal: 0, userID: 1000,
                content: content)
            return ShownPrompt(PromptState(prompt, processID: 1)).wish
        }
        #expect(wish(.receiveItems) == "Type the passcode of the system's keychain, then press Enter.")
        #expect(wish(.moveItemsAway) == "Type the passcode of your own store, then press Enter.")
        #expect(wish(.exportItems) == "Type your passcode, then press Enter.")
    }

    @Test func ownRequestsDescribeTheirAction() {
        func shown(_ step: PromptContent.Step, _ purpose: PromptPurpose = .exportItems) -> ShownPrompt {
            let content = PromptContent(
                method: .passcode, notice: .none, triesLeft: 0, showsFallback: false, step: step,
                recoveryCode: SecretBytes("ABCD".utf8))
            let prompt = Prompt(
                id: 7, purpose: purpose, caller: "notes", program: "/usr/bin/notes", processID: 4711, reason: "",
                cancelTitle: "Cancel", fallbackTitle: "", faceUsage: "", sensor: .none, tier: .user, terminal: 0,
                userID: 1000, content: content)
            return ShownPrompt(PromptState(prompt, processID: 1))
        }
        let proof = shown(.proof)
        #expect(proof.isOwnRequest && proof.recoveryCode == nil && proof.method == .passcode)
        #expect(proof.question == "“notes” wants to" && proof.programLine == "It is process 4711, “/usr/bin/notes”")
        #expect(proof.reason == "create a backup of the items in this keychain that may leave this computer.")
        #expect(proof.entryTitle == "Continue" && shown(.proof, .unlock).entryTitle == "Unlock")
        #expect(shown(.recoveryCodeShown).recoveryCode == "ABCD")
        #expect(shown(.recoveryCodeShown).method == .recoveryCode && !shown(.recoveryCodeShown).isWatching)
        #expect(shown(.recoveryCodeAsked).method == .recoveryCodeEntry && shown(.recoveryCodeAsked).recoveryCode == nil)
        // A window names no command.
        #expect(shown(.accountExpired).wish == "Change the password of your account in the settings of your desktop.")
        let reasons = PromptPurpose.allCases.filter { $0 != .app }.map { shown(.proof, $0).reason }
        #expect(Set(reasons).count == PromptPurpose.allCases.count - 1 && !reasons.contains(nil))
    }

    @Test func newPasscodeIsAskedForAndRepeated() {
        func shown(_ step: PromptContent.Step, _ notice: PromptContent.Notice = .none) -> ShownPrompt {
            let content = PromptContent(
                method: .passcode, notice: notice, triesLeft: 0, showsFallback: false, step: step)
            let prompt = Prompt(
                id: 7, purpose: .changePasscode, caller: "latchkey", processID: 4711, reason: "",
                cancelTitle: "Cancel", fallbackTitle: "", faceUsage: "", sensor: .none, tier: .user, terminal: 0,
                userID: 1000, content: content)
            return ShownPrompt(PromptState(prompt, processID: 1))
        }
        let asked = shown(.newPasscodeAsked)
        #expect(asked.method == .newPasscodeEntry && !asked.isWatching && !asked.isFailure && asked.feedback.isEmpty)
        #expect(asked.wish == "Type a new passcode of at least 4 characters, then press Enter.")
        #expect(asked.entryTitle == "Continue" && asked.fallbackTitle == nil && asked.recoveryCode == nil)
        #expect(shown(.newPasscodeRepeated).method == .newPasscodeRepetition)
        #expect(shown(.newPasscodeRepeated).wish == "Type the new passcode again, then press Enter.")
        let short = shown(.newPasscodeAsked, .newPasscodeTooShort)
        #expect(short.isFailure && short.feedback == "The passcode is too short: it needs at least 4 characters.")
        let differs = shown(.newPasscodeAsked, .newPasscodesDiffer)
        #expect(differs.isFailure && differs.feedback == "The two entries differ. Choose a passcode again.")
    }

    @Test func delayIsCountedDownToOneSecond() {
        let content = PromptContent(
            method: .passcode, notice: .wrongPasscode, triesLeft: 2, showsFallback: false, delaySeconds: 61)
        let prompt = Prompt(
            id: 7, caller: "notes", processID: 4711, reason: "", cancelTitle: "Cancel", fallbackTitle: "",
            faceUsage: "",
            sensor: .none, tier: .user, terminal: 0, userID: 1000, content: content)
        var state = PromptState(prompt, processID: 1)
        #expect(
            ShownPrompt(state).isDelayed && ShownPrompt(state).wish.hasSuffix("Try again in 1 minute and 1 second.")
        )
        // Tries that are left would contradict the delay, and the prompt ends after it.
        #expect(ShownPrompt(state).feedback.isEmpty && state.feedback.isEmpty)
        #expect(ShownPrompt(state).endingLine == "This prompt ends after 2 minutes and 1 second")
        state.countDown(secondsPassed: 2)
        #expect(ShownPrompt(state).wish.hasSuffix("Try again in 59 seconds."))
        // The countdown stops at one second until the daemon permits entry.
        state.countDown(secondsPassed: 1000)
        #expect(ShownPrompt(state).isDelayed && ShownPrompt(state).wish.hasSuffix("Try again in 1 second."))
        state.show(PromptContent(method: .passcode, notice: .wrongPasscode, triesLeft: 2, showsFallback: false))
        state.countDown(secondsPassed: 0)
        #expect(!ShownPrompt(state).isDelayed && ShownPrompt(state).wish == "Type your passcode, then press Enter.")
        #expect(ShownPrompt(state).feedback == "The passcode is wrong. 2 tries left.")
        #expect(ShownPrompt(state).endingLine == "This prompt ends after 1 minute")
    }

    @Test func sensorIsActiveOnlyWhileAttemptsRemain() {
        #expect(shown().isWatching)
        #expect(!shown(tries: 0).isWatching)
        #expect(!shown(.passcode).isWatching)
        #expect(!shown(permission: true, sensor: .faceID).isWatching)
        #expect(shown(permission: true, sensor: .faceID).method == .permission)
    }

    @Test(arguments: BiometryKind.allCases) func sensorMatchesMachine(_ kind: BiometryKind) {
        #expect(shown(sensor: kind).sensor == kind)
    }

    @Test func failureIsReportedAndMarked() {
        let missed = shown(notice: .notRecognised, tries: 2, fallback: true)
        #expect(missed.isFailure && missed.feedback == "Not recognised. 2 tries left.")
        #expect(missed.fallbackTitle == "Use Passcode")
        #expect(!shown().isFailure && shown().fallbackTitle == nil)
        #expect(shown(.passcode, notice: .wrongPasscode, fallback: true).fallbackTitle == nil)
    }

    @Test func guidanceIsShownAndNotMarkedAsFailure() {
        let short = shown(notice: .swipeTooShort)
        #expect(short.feedback == "The swipe was too short. Try again." && !short.isFailure && short.isWatching)
        let gone = shown(.passcode, notice: .sensorDisconnected)
        #expect(gone.feedback == "The sensor was disconnected." && gone.isFailure)
    }

    /// An app may only check who sits at the computer, as the settings do.
    @Test func anAppDoesNotSayThatItUnlocks() { #expect(shown(.passcode).entryTitle == "Continue") }

    @Test func attemptsLeftAreShownAfterFirstFailure() {
        #expect(shown().feedback.isEmpty && shown(.passcode).feedback.isEmpty)
        #expect(shown(.passcode, notice: .wrongPasscode, tries: 1).feedback == "The passcode is wrong. One try left.")
        // Failed fingerprints do not count as passcode attempts.
        let finished = shown(.passcode, notice: .biometryFinished)
        #expect(finished.feedback == "Not recognised, and no more tries with your fingerprint.")
        let locked = shown(.passcode, notice: .biometryLocked)
        #expect(locked.feedback == "Too many tries: the fingerprint is locked until the passcode is entered.")
        #expect(shown(notice: .notRecognised, tries: 0).feedback == "Not recognised. No tries left.")
    }

    @Test func simulationButtonsExistOnlyInSimulatedTier() {
        #expect(shown().plays.isEmpty && shown().simulation == nil)
        let simulated = shown(tier: .simulated)
        #expect(simulated.plays.map(\.title) == ["Play enrolled finger", "Play another finger"])
        #expect(simulated.plays.map(\.isMatching) == [true, false])
        #expect(simulated.simulation == "This machine is simulated, for tests only.")
        #expect(shown(.passcode, tier: .simulated).plays.isEmpty)
        #expect(shown(permission: true, sensor: .faceID, tier: .simulated).plays.isEmpty)
    }

    @Test func cameraUsageIsShownWhilePermissionIsRequested() {
        let asking = shown(permission: true, sensor: .faceID, usage: "knowing you")
        #expect(asking.usage == "It uses the camera for “knowing you”")
        #expect(asking.wish == "Allow “notes” to recognise your face, now and later?")
        #expect(asking.feedback.isEmpty && !asking.isFailure)
        #expect(shown(sensor: .faceID, usage: "knowing you").usage == nil)
    }

    @Test func callerIsCalledByItsNameInTheMenu() {
        var state = state(.proof, ownName: "Bank")
        state.callerName = "Text Editor"
        state.callerIcon = "org.example.Editor"
        let app = ShownPrompt(state)
        #expect(app.question == "“Text Editor” wants to" && app.icon == "org.example.Editor")
        // What identifies the program stays.
        #expect(
            app.programLine == "It is process 4711, “/usr/bin/notes”" && app.ownNameLine == "It calls itself “Bank”")
        state.isOwnProgram = true
        #expect(ShownPrompt(state).ownNameLine == "It uses the items of “Bank”")
    }

    private func state(
        _ step: PromptContent.Step, _ purpose: PromptPurpose = .exportItems, ownName: String = ""
    ) -> PromptState {
        let content = PromptContent(
            method: .passcode, notice: .none, triesLeft: 0, showsFallback: false, step: step,
            recoveryCode: step == .recoveryCodeShown ? SecretBytes("ABCDE-0GH1K-MN1QRS".utf8) : nil)
        let prompt = Prompt(
            id: 7, purpose: purpose, caller: "notes", program: "/usr/bin/notes", ownName: ownName, processID: 4711,
            reason: "", cancelTitle: "Cancel", fallbackTitle: "", faceUsage: "", sensor: .none, tier: .user,
            terminal: 0,
            userID: 1000, content: content)
        return PromptState(prompt, processID: 1)
    }

    // MARK: - Whether a program may read an item

    private func question(
        startedBy: String = "bash ← claude", tries: Int = 0, step: PromptContent.Step = .answerAsked
    ) -> PromptState {
        let content = PromptContent(
            method: .passcode, notice: .none, triesLeft: tries, showsFallback: false, step: step)
        let prompt = Prompt(
            id: 7, purpose: .readSecret, caller: "gh", program: "/usr/bin/gh", processID: 4711, reason: "GitHub",
            cancelTitle: "Cancel", fallbackTitle: "", faceUsage: "", sensor: .touchID, tier: .user, terminal: 0,
            userID: 1000, startedBy: startedBy, content: content)
        return PromptState(prompt, processID: 1)
    }

    @Test func fourAnswersAreOfferedAndNoText() {
        let shown = ShownPrompt(question())
        #expect(shown.method == .answer && !shown.isWatching && !shown.isFailure && shown.fallbackTitle == nil)
        #expect(shown.question == "“gh” wants to" && shown.isOwnRequest)
        #expect(shown.reason == "read “GitHub”, which another program stored.")
        #expect(shown.wish == "May it read this item?" && shown.feedback.isEmpty)
        #expect(shown.answers.map(\.title) == ["Allow once", "Allow until logout", "Always allow", "Never allow"])
        #expect(shown.answers.map(\.answer) == [.once, .session, .always, .never])
        #expect(shown.answerNotes?.contains("This is a courtesy among your own programs") == true)
        #expect(shown.answerNotes?.contains("Withdraw an answer in Latchkey Settings.") == true)
        // Every answer has the text that the service expects.
        #expect(shown.answers.map(\.answer.stored) == SecretAnswer.allCases)
        let other = ShownPrompt(state(.recoveryCodeShown))
        #expect(other.answers.isEmpty && other.answerNotes == nil && other.startedByLine == nil)
    }

    @Test func onlyOnceIsOfferedWhereNoAnswerIsStored() {
        let shown = ShownPrompt(question(step: .onceAsked))
        #expect(shown.method == .answer && shown.answers.map(\.answer) == [.once])
        #expect(shown.answerNotes?.hasPrefix("“Allow once” is for this request: no answer is stored.") == true)
    }

    @Test func longChainIsShortAndCompleteBelowDetails() {
        let shown = ShownPrompt(question(startedBy: "bash ← claude ← node ← gnome-terminal"))
        #expect(shown.startedByLine == "It was started by “bash ← … ← gnome-terminal”")
        #expect(shown.startedByDetails == "It was started by “bash ← claude ← node ← gnome-terminal”")
        #expect(
            shown.spokenStartedByLine
                == "It was started by “bash”, started by “claude”, started by “node”, started by “gnome-terminal”")
        #expect(ShownPrompt(question()).startedByLine == "It was started by “bash ← claude”")
    }

    // MARK: - The end of a code

    @Test func endOfABackupsCodeIsAskedForAndNoCodeIsShownMeanwhile() {
        var shown = state(.recoveryCodeShown)
        #expect(ShownPrompt(shown).recoveryCode == "ABCDE-0GH1K-MN1QRS")
        let asked = shown.askForEnd()
        #expect(asked)
        let asking = ShownPrompt(shown)
        #expect(asking.recoveryCode == nil && asking.method == .recoveryCodeEntry)
        #expect(asking.wish.hasPrefix("Type the last group of the recovery code that you wrote down"))
        let again = shown.askForEnd()
        #expect(!again)
    }

    /// The service asks for the end of a keychain's code, and shows no code in other steps.
    @Test(arguments: [
        (PromptContent.Step.recoveryCodeShown, PromptPurpose.setPasscode), (.recoveryCodeShown, .recoverPasscode),
        (.recoveryCodeAsked, .importItems), (.proof, .exportItems),
    ])
    func endOfAnotherCodeIsNotAskedFor(_ step: PromptContent.Step, _ purpose: PromptPurpose) {
        var state = state(step, purpose)
        let before = state
        let asked = state.askForEnd()
        #expect(!asked && state == before)
    }

    @Test(arguments: ["MN1QRS", "mniqrs", " mn-lq rs\n", "ABCDE-0GH1K-MN1QRS", "abcdeoghikmn1qrs"])
    func endOfTheCodeIsRight(_ typed: String) {
        var state = state(.recoveryCodeShown)
        _ = state.askForEnd()
        let isRight = state.checkEnd(SecretBytes(typed.utf8))
        #expect(isRight)
    }

    @Test(arguments: ["", "MN1QR", "N1QRS", "MN1QRT", "ABCDE", "XMN1QRS", "é", "MN1QRS0"])
    func otherTextShowsTheCodeOnceMore(_ typed: String) {
        var state = state(.recoveryCodeShown)
        _ = state.askForEnd()
        let isRight = state.checkEnd(SecretBytes(typed.utf8))
        #expect(!isRight)
        let shown = ShownPrompt(state)
        #expect(shown.recoveryCode != nil && shown.isFailure && shown.method == .recoveryCode)
        #expect(shown.feedback == "That is not the end of the code. Here it is once more.")
        let late = state.checkEnd(SecretBytes("MN1QRS".utf8))
        #expect(!late, "a text counts only after it was asked for")
    }

    // MARK: - A code in place of the passcode

    private static let code = "01234-56789-abcde-fghjk-mnpqrs"

    @Test func codeInPlaceOfThePasscodeIsHeldBackOnce() {
        var state = state(.proof, .importItems)
        let isHeldBack = state.holdsBack(SecretBytes(Self.code.utf8))
        #expect(isHeldBack)
        let shown = ShownPrompt(state)
        #expect(shown.feedback == "This is the recovery code. Type your passcode first." && shown.isFailure)
        #expect(shown.method == .passcode && !shown.isChecking)
        // A passcode of that form is usable: it is sent, and counts, when it is typed again.
        let isHeldBackAgain = state.holdsBack(SecretBytes(Self.code.utf8))
        #expect(!isHeldBackAgain && ShownPrompt(state).feedback.isEmpty)
    }

    @Test(arguments: [
        (PromptContent.Step.proof, PromptPurpose.exportItems), (.proof, .app), (.recoveryCodeAsked, .importItems),
        (.newPasscodeAsked, .setPasscode),
    ])
    func codeIsHeldBackWhereThePasscodeComesBeforeACodeOnly(_ step: PromptContent.Step, _ purpose: PromptPurpose) {
        var state = state(step, purpose)
        let isHeldBack = state.holdsBack(SecretBytes(Self.code.utf8))
        #expect(!isHeldBack)
    }

    @Test(arguments: [
        "", "1234", "01234-56789-abcde-fghjk-mnpqr", "01234-56789-abcde-fghjk-mnpqrsu",
        "01234-56789-abcde-fghjk-mnpqr!",
    ])
    func otherTextIsNotHeldBack(_ typed: String) {
        var state = state(.proof, .importItems)
        let isHeldBack = state.holdsBack(SecretBytes(typed.utf8))
        #expect(!isHeldBack)
    }

    @Test func codeWithATypingErrorStays() {
        func keeps(_ step: PromptContent.Step, _ notice: PromptContent.Notice) -> Bool {
            var state = state(step, .importItems)
            state.content.notice = notice
            return ShownPrompt(state).keepsTyped
        }
        #expect(keeps(.recoveryCodeAsked, .recoveryCodeMistyped) && keeps(.recoveryCodeAsked, .wrongRecoveryCode))
        #expect(!keeps(.recoveryCodeAsked, .none) && !keeps(.recoveryCodeShown, .recoveryCodeDiffers))
        #expect(!keeps(.proof, .wrongPasscode) && !keeps(.newPasscodeAsked, .newPasscodesDiffer))
    }

    @Test func mismatchIsToldFromOtherFailures() {
        #expect(shown(notice: .notRecognised).isMismatch && shown(.passcode, notice: .biometryFinished).isMismatch)
        #expect(!shown().isMismatch && !shown(.passcode, notice: .wrongPasscode).isMismatch)
    }
}
