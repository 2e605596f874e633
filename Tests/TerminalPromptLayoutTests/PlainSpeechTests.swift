// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyPrompts

/// Tests of a prompt written as sentences.
@Suite struct PlainSpeechTests {
    private var speech = PlainSpeech(look: .sample(["LATCHKEY_PROMPT": "plain"]))

    @Test mutating func firstOutputContainsEverythingOnce() {
        #expect(
            speech.say(.sample(ownName: "mail")) == """
                Latchkey prompt, process 4712.\r
                “notes” asks for your fingerprint to “open the token”.\r
                It is process 4711, “/usr/bin/notes”.\r
                It calls itself “mail”.\r
                This prompt ends after 1 minute.\r
                Touch the sensor. 3 tries left. Keys: Esc/Ctrl-C for Cancel.\r

                """)
        #expect(speech.say(.sample(ownName: "mail")).isEmpty)
    }

    @Test mutating func eachChangeWritesOneLine() {
        _ = speech.say(.sample())
        var state = PromptState.sample()
        state.content = .missed
        #expect(
            speech.say(state) == "Not recognised. 2 tries left. Touch the sensor. Keys: Esc/Ctrl-C for Cancel, "
                + "P for Enter Passcode.\r\n")
        state.content = .passcode
        #expect(
            speech.say(state) == "Type your passcode, then press Enter. It is not shown while you type. 3 tries left. "
                + "Keys: Enter for Send, Esc/Ctrl-C for Cancel.\r\n")
        state.entry = .typing
        #expect(speech.say(state).isEmpty)
        state.entry = .checking
        #expect(speech.say(state) == "Checking the passcode.\r\n")
        #expect(speech.end() == "The Latchkey prompt is over.\r\n")
    }

    @Test mutating func ownRequestIsDescribedInSentences() {
        #expect(
            speech.say(.sample(reason: "", purpose: .exportItems, .passcode)) == """
                Latchkey prompt, process 4712.\r
                “notes” wants to create a backup of the items in this keychain that may leave this computer.\r
                It is process 4711, “/usr/bin/notes”.\r
                This prompt ends after 1 minute.\r
                Type your passcode, then press Enter. It is not shown while you type. 3 tries left. \
                Keys: Enter for Send, Esc/Ctrl-C for Cancel.\r

                """)
        var state = PromptState.sample(reason: "", purpose: .exportItems, code: "ABCD-EFGH", .codeShown)
        #expect(
            speech.say(state) == "Write this recovery code down. It opens the backup and is not shown again. "
                + "The code is: ABCD-EFGH Keys: Enter for I have written it down, Esc/Ctrl-C for Cancel.\r\n"
                + "This prompt ends after 10 minutes.\r\n")
        state.content = .codeAsked
        #expect(
            speech.say(state) == "Type the recovery code of the backup, then press Enter. "
                + "Keys: Enter for Send, Esc/Ctrl-C for Cancel.\r\n")
        state.entry = .typing
        for (text, echo) in [("A", "A"), ("AB", "B"), ("A", "\u{8} \u{8}"), ("", "\u{8} \u{8}"), ("XY", "XY")] {
            state.typedText = text
            #expect(speech.say(state) == echo)
        }
        (state.entry, state.typedText) = (.checking, nil)
        #expect(speech.say(state) == "\r\nChecking the recovery code.\r\n")
    }

    @Test mutating func codeWithATypingErrorIsSaidAndStays() {
        var state = PromptState.sample(reason: "", purpose: .importItems, .codeAsked)
        _ = speech.say(state)
        state.typedText = "ABCD"
        _ = speech.say(state)
        (state.entry, state.typedText) = (.checking, nil)
        _ = speech.say(state)
        var content = PromptContent.codeAsked
        content.notice = .recoveryCodeMistyped
        state.show(content)
        #expect(state.keepsTyped)
        (state.entry, state.typedText) = (.typing, "ABCD")
        let said = speech.say(state)
        #expect(said.hasPrefix("That is not a recovery code") && said.hasSuffix("\r\nABCD"))
        state.typedText = "ABC"
        #expect(speech.say(state) == "\u{8} \u{8}")
    }

    @Test mutating func codeInPlaceOfThePasscodeIsSaid() {
        var state = PromptState.sample(reason: "", purpose: .importItems, .passcode)
        _ = speech.say(state)
        state.entry = .typing
        _ = speech.say(state)
        let isHeldBack = state.holdsBack(SecretBytes("01234-56789-ABCDE-FGHJK-MNPQRS".utf8))
        #expect(isHeldBack)
        #expect(speech.say(state) == "This is the recovery code. Type your passcode first.\r\n")
    }

    @Test mutating func newPasscodeIsAskedForInSentences() {
        var state = PromptState.sample(reason: "", purpose: .setPasscode, .newPasscode())
        #expect(
            speech.say(state) == """
                Latchkey prompt, process 4712.\r
                “notes” wants to set a passcode for this keychain.\r
                It is process 4711, “/usr/bin/notes”.\r
                This prompt ends after 10 minutes.\r
                Type a new passcode of at least 4 characters, then press Enter. It is not shown while you type. \
                Keys: Enter for Send, Esc/Ctrl-C for Cancel.\r

                """)
        state.entry = .checking
        #expect(speech.say(state) == "Checking the new passcode.\r\n")
        state.show(.newPasscode(.newPasscodeRepeated))
        #expect(
            speech.say(state) == "Type the new passcode again, then press Enter. It is not shown while you type. "
                + "Keys: Enter for Send, Esc/Ctrl-C for Cancel.\r\n")
        state.show(.newPasscode(.newPasscodeAsked, .newPasscodesDiffer))
        #expect(speech.say(state).hasPrefix("The two entries differ. Choose a passcode again. Type a new passcode"))
    }

    @Test mutating func onlyTextIsWritten() {
        let text = speech.say(.sample(reason: "a\u{1b}[31mb", tier: .simulated))
        #expect(text.unicodeScalars.allSatisfy { $0 == "\r" || $0 == "\n" || $0 >= " " })
    }
}
