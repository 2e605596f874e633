// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyPrompts

/// A prompt that asks whether a program may read an item that another one stored.
@Suite struct AnswerTests {
    private func lines(_ state: PromptState, _ columns: Int, _ rows: Int = 40, _ look: Look = .sample()) -> [String] {
        BlockLayout(state, look: look, size: WindowSize(columns: columns, rows: rows)).lines.map(\.text)
    }

    @Test func blockSaysWhoAsksForWhatAndWhatAnAnswerMeans() {
        #expect(
            lines(.question(), 80) == [
                "╭─ Latchkey prompt, process 4712 ─────────────────────────────────────────",
                "│ “gh” wants to", "│ read “GitHub”, which another program stored.", "│",
                "│ It is process 4711, “/usr/bin/gh”",
                "│ It was started by “bash ← claude ← gnome-terminal”", "│",
                "│ May it read this item?", "│ Answer: nothing chosen yet",
                "│ “Allow until logout” also ends when the keychain is locked. “Always",
                "│ allow” and “Never allow” are stored for this item, this program and",
                "│ those that started it. Withdraw an answer with latchkey secrets answers,",
                "│ or in the settings. This is a courtesy among your own programs: one of",
                "│ them can act as another.", "│", "│",
                "│ O Allow once   U Allow until logout   A Always allow   N Never allow",
                "│ Enter Confirm   Esc/Ctrl-C Cancel",
                "╰─ This prompt ends after 1 minute ───────────────────────────────────────",
            ])
    }

    @Test func nothingMovesWhenAnAnswerIsChosen() {
        let before = lines(.question(), 80)
        for answer in SecretAnswer.allCases {
            let state = PromptState.question(answer)
            let after = lines(state, 80)
            #expect(after.count == before.count && after.contains("│ Answer: \(state.title(answer))"))
            #expect(zip(before, after).count { $0 != $1 } == 1)
        }
        var sent = PromptState.question(.once)
        sent.entry = .checking
        #expect(lines(sent, 80).contains("│ Answer: sent") && !sent.isFailure)
    }

    /// A letter chooses, and any other key takes the choice back: Enter after other text confirms nothing.
    @Test func onlyTheFourLettersChoose() {
        let letters: [Character: SecretAnswer] = [
            "o": .once, "O": .once, "u": .session, "U": .session, "a": .always, "A": .always, "n": .never, "N": .never,
        ]
        for byte in UInt8.min...UInt8.max {
            var state = PromptState.question(.always)
            state.choose(byKey: byte)
            #expect(state.chosen == letters[Character(Unicode.Scalar(byte))], "\(byte)")
        }
        #expect(PromptState.question().chosen == nil)
        var state = PromptState.question(.always)
        state.show(.answerAsked)
        #expect(state.chosen == nil)
    }

    /// Where no answer is stored, none is offered.
    @Test func onlyOnceIsOfferedWhereNoAnswerIsStored() {
        let shown = lines(.question(step: .onceAsked), 80)
        #expect(shown.contains("│ O Allow once   Enter Confirm   Esc/Ctrl-C Cancel"), "\(shown)")
        #expect(shown.contains("│ “Allow once” is for this request: no answer is stored. This is a"), "\(shown)")
        #expect(!shown.contains { $0.contains("Always") || $0.contains("Never") || $0.contains("Withdraw") })
        for (letter, answer) in [("o", .once), ("u", nil), ("a", nil), ("n", nil)] as [(Character, SecretAnswer?)] {
            var state = PromptState.question(step: .onceAsked)
            state.choose(byKey: letter.asciiValue ?? 0)
            #expect(state.chosen == answer, "\(letter)")
        }
    }

    @Test func noteNamesOnlyProgramsThatAreShown() {
        let notes = PromptState.question().answerNotes(inWindow: false)
        #expect(notes[1].hasSuffix("this item, this program and those that started it."))
        let alone = PromptState.question(startedBy: "")
        #expect(alone.answerNotes(inWindow: false)[1].hasSuffix("are stored for this item and this program."))
        #expect(alone.startedByLine == nil && alone.spokenStartedByLine == nil && alone.shortStartedByLine == nil)
        #expect(PromptState.sample(purpose: .readSecret, .passcode).answerNotes(inWindow: false).isEmpty)
    }

    @Test func longLabelAndLongChainAreCut() {
        let label = String(repeating: "long ", count: 48)
        let chain = (1...40).map { "program\($0)" }.joined(separator: " ← ")
        for columns in [20, 40, 80, 200] {
            let state = PromptState.question(label: label, startedBy: chain)
            let text = lines(state, columns, 60).map { $0.dropFirst(2) }.joined(separator: " ")
            #expect(lines(state, columns, 60).allSatisfy { CellWidth.of($0) < columns }, "\(columns)")
            if columns >= 40 {
                #expect(text.contains("…”, which another program stored."), "\(columns): \(text)")
            }
            #expect(!text.contains("program40") && text.contains("program1 ← program2"), "\(columns)")
        }
        let state = PromptState.question(startedBy: chain)
        #expect(state.shortStartedByLine == "It was started by “program1 ← … ← program40”")
        #expect(PromptState.question().shortStartedByLine == PromptState.question().startedByLine)
    }

    /// The question, the answers and the keys are in every window; what the answers mean is left out first.
    @Test func everyWindowShowsQuestionAndKeys() {
        for (columns, rows) in [(80, 24), (80, 12), (80, 8), (40, 24), (40, 16), (24, 24), (200, 10)] {
            let shown = lines(.question(.once), columns, rows)
            let text = shown.map { $0.dropFirst(2) }.joined(separator: " ")
            #expect(shown.count <= rows && shown.allSatisfy { CellWidth.of($0) < columns }, "\(columns) x \(rows)")
            for part in [
                "read “GitHub”", "May it read this item?", "O Allow once", "U Allow until logout", "A Always allow",
                "N Never allow",
            ] {
                #expect(text.contains(part), "\(part) in \(columns) x \(rows): \(text)")
            }
        }
        #expect(lines(.question(), 80, 24).contains { $0.contains("courtesy") })
        #expect(!lines(.question(), 80, 12).contains { $0.contains("courtesy") })
    }

    @Test func terminalWithoutUTF8HasNoArrows() {
        let shown = lines(.question(), 80, 40, .sample(["LC_ALL": "C"]))
        #expect(shown.contains("| It was started by \"bash\", started by \"claude\", started by"), "\(shown)")
        #expect(!shown.contains { $0.contains("?") && !$0.contains("May it") }, "\(shown)")
    }

    // MARK: - Sentences

    @Test func sentencesSayTheSame() {
        var speech = PlainSpeech(look: .sample(["LATCHKEY_PROMPT": "plain"]))
        #expect(
            speech.say(.question()) == """
                Latchkey prompt, process 4712.\r
                “gh” wants to read “GitHub”, which another program stored.\r
                It is process 4711, “/usr/bin/gh”.\r
                It was started by “bash”, started by “claude”, started by “gnome-terminal”.\r
                This prompt ends after 1 minute.\r
                May it read this item? “Allow until logout” also ends when the keychain is locked. “Always allow” and \
                “Never allow” are stored for this item, this program and those that started it. Withdraw an answer with \
                latchkey secrets answers, or in the settings. This is a courtesy among your own programs: one of them \
                can act as another. Keys: O for Allow once, U for Allow until logout, A for Always allow, N for Never \
                allow, Enter for Confirm, Esc/Ctrl-C for Cancel.\r

                """)
        #expect(speech.say(.question(.always)) == "Always allow: press Enter to confirm.\r\n")
        #expect(speech.say(.question(.always)).isEmpty)
        #expect(speech.say(.question()) == "Nothing is chosen.\r\n")
        #expect(speech.say(.question(.once)) == "Allow once: press Enter to confirm.\r\n")
        var sent = PromptState.question(.once)
        sent.entry = .checking
        #expect(speech.say(sent) == "The answer was sent.\r\n")
    }

    /// The service cleans label and chain before; what comes through in spite of it is not written.
    @Test func onlyTextIsWritten() {
        let state = PromptState.question(
            label: "a\u{1b}[31mb\u{7}", startedBy: "sh\u{1b}]0;x\u{7} ← \u{9b}2J ← vi\r\nEnter")
        var speech = PlainSpeech(look: .sample(["LATCHKEY_PROMPT": "plain"]))
        let text = speech.say(state).replacing("\r\n", with: "") + lines(state, 80).joined()
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
}
