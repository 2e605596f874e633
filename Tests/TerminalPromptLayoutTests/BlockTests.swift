// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyPrompts

/// Tests of the block in windows of every size.
@Suite struct BlockTests {
    private func lines(_ state: PromptState, _ columns: Int, _ rows: Int = 40, _ look: Look = .sample()) -> [String] {
        BlockLayout(state, look: look, size: WindowSize(columns: columns, rows: rows)).lines.map(\.text)
    }

    @Test func blockShowsCallerRequestAndReason() {
        #expect(
            lines(.sample(ownName: "mail", .missed), 60) == [
                "╭─ Latchkey prompt, process 4712 ──────────────────────────",
                "│ “notes” asks for your fingerprint", "│ to “open the token”", "│",
                "│ It is process 4711, “/usr/bin/notes”",
                "│ It calls itself “mail”", "│", "│ Touch the sensor.", "│ Not recognised. 2 tries left.", "│",
                "│ Esc/Ctrl-C Cancel   P Enter Passcode",
                "╰─ This prompt ends after 1 minute ────────────────────────",
            ])
    }

    @Test func ownRequestIsDescribedAndNeverTruncated() {
        #expect(
            lines(.sample(reason: "", ownName: "mail", purpose: .removePasscode, .passcode), 80) == [
                "╭─ Latchkey prompt, process 4712 ─────────────────────────────────────────",
                "│ “notes” wants to",
                "│ remove the passcode of this keychain and delete the items bound to it.", "│",
                "│ It is process 4711, “/usr/bin/notes”",
                "│ It calls itself “mail”", "│",
                "│ Type your passcode, then press Enter.", "│ Passcode: nothing typed yet", "│ 3 tries left.", "│",
                "│ Enter Send   Esc/Ctrl-C Cancel",
                "╰─ This prompt ends after 1 minute ───────────────────────────────────────",
            ])
        let program = "/" + String(repeating: "a", count: 400)
        for purpose in PromptPurpose.allCases where purpose != .app {
            for (columns, rows) in [(80, 40), (40, 16)] {
                let state = PromptState.sample(
                    reason: "", caller: String(repeating: "n", count: 48), program: program, purpose: purpose, .passcode
                )
                let text = lines(state, columns, rows).map { $0.dropFirst(2) }.joined(separator: " ")
                #expect(text.contains((state.action ?? "?") + "."), "\(purpose) in \(columns) columns: \(text)")
            }
        }
    }

    @Test func recoveryCodeIsShownInItsStepAndWhileTyped() {
        var state = PromptState.sample(reason: "", purpose: .exportItems, code: "ABCD-EFGH", .passcode)
        #expect(!lines(state, 80).contains { $0.contains("ABCD") })
        state.content.step = .recoveryCodeShown
        let shown = lines(state, 80)
        #expect(shown.last?.hasPrefix("╰─ This prompt ends after 10 minutes ──") == true)
        #expect(shown.contains("│ ABCD-EFGH") && shown.contains("│ Enter I have written it down   Esc/Ctrl-C Cancel"))
        state.content = .codeAsked
        state.entry = .typing
        state.typedText = "wxyz-12"
        let asked = lines(state, 80)
        #expect(state.showsTypedText && asked.contains("│ Recovery code: wxyz-12"))
        #expect(!asked.contains { $0.contains("ABCD") || $0.contains("tries") })
    }

    @Test(arguments: [
        (BiometryKind.touchID, "your fingerprint", "Touch the sensor."), (.faceID, "your face", "Look at the sensor."),
        (.opticID, "your eyes", "Look at the sensor."),
    ])
    func textsMatchSensor(_ sensor: BiometryKind, _ proof: String, _ wish: String) {
        let text = lines(.sample(sensor: sensor), 80)
        #expect(text.contains("│ “notes” asks for \(proof)") && text.contains("│ \(wish)"), "\(text)")
    }

    @Test(arguments: [
        (SensorGuidance.scanAgain, "The scan was not clear. Try again."),
        (.swipeTooShort, "The swipe was too short. Try again."),
        (.fingerNotCentred, "The finger was not centred on the sensor. Try again."),
        (.removeAndRetry, "Remove your finger from the sensor, then try again."),
        (.tooFast, "That was too fast. Try again."),
    ])
    func guidanceIsShownWithTheTriesLeft(_ guidance: SensorGuidance, _ text: String) {
        var content = PromptContent.first
        content.notice = guidance.notice
        let state = PromptState.sample(content)
        #expect(lines(state, 80).contains("│ \(text) 3 tries left.") && !state.isFailure)
        #expect(lines(state, 80).contains("│ Touch the sensor."))
    }

    @Test func passcodeIsAskedForAfterTheSensorWasDisconnected() {
        var content = PromptContent.passcode
        content.notice = .sensorDisconnected
        let state = PromptState.sample(content)
        #expect(lines(state, 80).contains("│ The sensor was disconnected. 3 tries left.") && state.isFailure)
    }

    @Test func newPasscodeIsAskedForTwiceWithoutItsLength() {
        var state = PromptState.sample(reason: "", purpose: .changePasscode, .newPasscode())
        let asked = lines(state, 80)
        #expect(asked.contains("│ Type a new passcode of at least 4 characters, then press Enter."))
        #expect(asked.contains("│ New passcode: nothing typed yet") && !asked.contains { $0.contains("tries") })
        #expect(asked.contains("│ Enter Send   Esc/Ctrl-C Cancel"))
        state.entry = .typing
        #expect(!state.showsTypedText && lines(state, 80).contains("│ New passcode: typed, not shown"))
        state.entry = .checking
        #expect(lines(state, 80).contains("│ Checking the new passcode."))
        state.show(.newPasscode(.newPasscodeAsked, .newPasscodeTooShort))
        #expect(lines(state, 80).contains("│ The passcode is too short: it needs at least 4 characters."))
        state.show(.newPasscode(.newPasscodeRepeated))
        let again = lines(state, 80)
        #expect(again.contains("│ Type the new passcode again, then press Enter."))
        #expect(again.contains("│ New passcode again: nothing typed yet"))
        state.show(.newPasscode(.newPasscodeAsked, .newPasscodesDiffer))
        #expect(lines(state, 80).contains("│ The two entries differ. Choose a passcode again."))
    }

    @Test func passcodeAndItsLengthAreNeverShown() {
        var state = PromptState.sample(.passcode)
        let untouched = lines(state, 80)
        #expect(
            untouched.contains("│ Passcode: nothing typed yet")
                && untouched.contains("│ Enter Send   Esc/Ctrl-C Cancel"))
        state.entry = .typing
        #expect(lines(state, 80).contains("│ Passcode: typed, not shown"))
        state.entry = .checking
        #expect(lines(state, 80).contains("│ Checking the passcode."))
    }

    @Test func thePasswordOfTheAccountIsNamedAndTheSystemIsQuoted() {
        var content = PromptContent.passcode
        content.secret = .accountPassword
        var state = PromptState.sample(content)
        #expect(lines(state, 80).contains("│ Type the password of your account on this system, then press Enter."))
        #expect(lines(state, 80).contains("│ Password: nothing typed yet"))
        content.notice = .accountRefused
        content.message = "It has expired"
        content.triesLeft = 2
        state.show(content)
        let text = state.feedback
        #expect(text.contains("does not accept your account") && text.hasSuffix("“It has expired”. 2 tries left."))
        #expect(state.isFailure)
        state.entry = .checking
        #expect(state.feedback == "Checking the password. The system says: “It has expired”.")
    }

    @Test func thePreviousPasswordIsAskedForByName() {
        var content = PromptContent.passcode
        content.secret = .previousPassword
        content.notice = .accountPasswordChanged
        let state = PromptState.sample(content)
        #expect(state.wish == "Type the password that your account had before it was changed, then press Enter.")
        #expect(state.feedback == "The password of your account was changed. 3 tries left." && !state.isFailure)
    }

    /// Behaviour LA-27: the sensor has stopped; fallback and cancel remain.
    @Test func stoppedFaceSensorIsReported_LA27() {
        let content = PromptContent(method: .biometry, notice: .notRecognised, triesLeft: 0, showsFallback: true)
        let text = lines(.sample(sensor: .faceID, content), 80)
        #expect(text.contains("│ The sensor has stopped looking for your face."))
        #expect(
            text.contains("│ Not recognised. No tries left.") && text.contains("│ Esc/Ctrl-C Cancel   P Enter Passcode")
        )
    }

    @Test func facePermissionIsRequestedFirst_LA07() {
        let content = PromptContent(
            method: .biometry, notice: .none, triesLeft: 2, showsFallback: false, question: .permission)
        let text = lines(.sample(sensor: .faceID, tier: .simulated, content), 80)
        #expect(text.contains("│ It uses the camera for “seeing you”"), "\(text)")
        #expect(text.contains("│ Allow “notes” to recognise your face, now and later?"))
        #expect(text.contains("│ Y Allow   N Do Not Allow   Esc/Ctrl-C Cancel"))
        #expect(!text.contains { $0.contains("tries") || $0.contains("Look at the sensor") || $0.hasPrefix("│ M ") })
    }

    @Test func failedAttemptDoesNotMoveLines() {
        #expect(lines(.sample(), 80).count == lines(.sample(.missed), 80).count)
    }

    @Test func simulatedTierIsAlwaysMarked() {
        for content in [PromptContent.first, .passcode] {
            #expect(
                lines(.sample(tier: .simulated, content), 80).contains("│ This machine is simulated, for tests only."))
        }
    }

    /// Abuse case 19.
    @Test func longReasonIsLimitedToItsLines_abuse19() {
        for reason in [String(repeating: "x", count: 10_000), String(repeating: "long words ", count: 1_000)] {
            let text = lines(.sample(reason: reason), 40)
            let said = text.drop { !$0.contains("to “") }.prefix { $0 != "│" }
            #expect(said.count == Limits.reasonLines && said.last?.hasSuffix("…") == true, "\(said)")
        }
    }

    @Test func blockNeverExceedsWindow() {
        let long = String(repeating: "very long ", count: 40) + String(repeating: "語🔑", count: 50)
        let states = [
            PromptState.sample(), .sample(.passcode), .sample(.missed),
            .sample(
                reason: long, caller: long, program: long, ownName: long, cancel: long, fallback: long,
                tier: .simulated, .missed),
        ]
        for state in states {
            for look in [Look.sample(), .sample(["LC_ALL": "C"])] {
                for columns in 1...100 {
                    for rows in [1, 5, 12, 24, 60] {
                        let text = lines(state, columns, rows, look)
                        #expect(text.count <= rows)
                        #expect(text.allSatisfy { CellWidth.of($0) < max(columns, 2) }, "\(columns): \(text)")
                    }
                }
            }
        }
    }

    @Test func lowWindowKeepsInstructionAndKeys() {
        for rows in 4...14 {
            let text = lines(.sample(.missed), 60, rows)
            #expect(text.contains("│ Touch the sensor.") && text.contains("│ Esc/Ctrl-C Cancel   P Enter Passcode"))
        }
    }

    @Test func withoutUTF8TheBlockIsASCII() {
        let text = lines(.sample(reason: "日本 naïve …"), 60, 40, .sample(["LC_ALL": "C"])).joined()
        #expect(text.utf8.allSatisfy { $0 < 0x80 } && text.contains("to \"?? na?ve ...\""))
    }

    // MARK: - Drawing

    @Test func unchangedStateWritesNothing() {
        var block = Block(look: .sample())
        let size = WindowSize(columns: 80, rows: 24)
        #expect(!block.show(.sample(), in: size).isEmpty)
        #expect(block.show(.sample(), in: size).isEmpty)
        #expect(!block.show(.sample(.missed), in: size).isEmpty)
        #expect(!block.remove().isEmpty)
        #expect(block.remove().isEmpty)
    }

    @Test func noStylesAreWrittenWithoutColour() {
        let size = WindowSize(columns: 80, rows: 24)
        var block = Block(look: .sample(["NO_COLOR": "1"]))
        #expect(!block.show(.sample(.missed), in: size).contains("m│"))
        var coloured = Block(look: .sample())
        #expect(coloured.show(.sample(.missed), in: size).contains("\u{1b}[33mNot recognised. 2 tries left.\u{1b}[0m"))
    }
}
