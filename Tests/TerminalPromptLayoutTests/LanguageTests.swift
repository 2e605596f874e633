// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWords
import TestSupport
import Testing

@testable import LatchkeyPrompts

/// Tests of prompts in other languages: German, one with long texts, and one that is written from right to left.
@Suite struct LanguageTests {
    private static let compiled = Result {
        let (own, pseudo) = (try Catalogues(), try Catalogues(pseudo: true))
        return try ["de": own, "qps": pseudo, "he": pseudo].reduce(into: [String: Catalogue]()) { made, language in
            made[language.key] = Catalogue(try language.value.bytes(language.key))
        }
    }

    private static func words(_ language: String) throws -> Words {
        let catalogue = try #require(compiled.get()[language])
        return Words(language: language, catalogue: catalogue, isolates: true)
    }

    private func sample(
        _ language: String, reason: String = "open the token", caller: String = "notes", purpose: PromptPurpose = .app,
        _ content: PromptContent = .first
    ) throws -> PromptState {
        let english = PromptState.sample(reason: reason, caller: caller, purpose: purpose, content)
        return PromptState(english.prompt, processID: 4712, words: try Self.words(language))
    }

    private func lines(_ state: PromptState, _ columns: Int, _ look: Look = .sample()) -> [String] {
        BlockLayout(state, look: look, size: WindowSize(columns: columns, rows: 60)).lines.map(\.text)
    }

    @Test func germanBlockHasTheLinesOfTheEnglishOne() throws {
        let state = try sample("de", .missed)
        #expect(
            lines(state, 60) == [
                "╭─ Anfrage von Latchkey, Prozess 4712 ─────────────────────",
                "│ „notes“ fragt nach Ihrem Fingerabdruck", "│ für „open the token“", "│",
                "│ Es ist Prozess 4711, „/usr/bin/notes“", "│", "│ Berühren Sie den Sensor.",
                "│ Nicht erkannt. Noch 2 Versuche.", "│", "│ Esc/Strg-C Abbrechen   P Gerätecode eingeben",
                "╰─ Diese Anfrage endet nach 1 Minute ──────────────────────",
            ])
        var one = state
        one.content.triesLeft = 1
        #expect(lines(one, 60).contains("│ Nicht erkannt. Noch ein Versuch."))
    }

    @Test func germanSentencesAreComplete() throws {
        var speech = PlainSpeech(look: .sample())
        var state = try sample("de", purpose: .removePasscode, .passcode)
        let text = speech.say(state).replacing("\r\n", with: " ")
        #expect(
            text == """
                Anfrage von Latchkey, Prozess 4712. „notes“ möchte den Gerätecode dieses Schlüsselbunds entfernen und \
                die daran gebundenen Objekte löschen. Es ist Prozess 4711, „/usr/bin/notes“. Diese Anfrage endet nach \
                1 Minute. Geben Sie Ihren Gerätecode ein und drücken Sie die Eingabetaste. Die Eingabe wird nicht angezeigt. \
                Noch 3 Versuche. Tasten: Eingabe für Senden, Esc/Strg-C für Abbrechen.\u{20}
                """)
        state.content.delaySeconds = 65
        state.delayLeft = 65
        #expect(state.wish == "Zu viele falsche Gerätecodes. Versuchen Sie es in 1 Minute und 5 Sekunden noch einmal.")
        #expect(speech.end() == "Die Anfrage von Latchkey ist beendet.\r\n")
    }

    @Test func germanQuestionIsComplete() throws {
        var state = try sample("de", reason: "GitHub", caller: "gh", purpose: .readSecret, .answerAsked)
        state.prompt.startedBy = "bash ← claude"
        var speech = PlainSpeech(look: .sample())
        #expect(
            speech.say(state).replacing("\r\n", with: " ") == """
                Anfrage von Latchkey, Prozess 4712. „gh“ möchte „GitHub“ lesen, das ein anderes Programm gespeichert \
                hat. Es ist Prozess 4711, „/usr/bin/notes“. Es wurde gestartet von „bash“, gestartet von „claude“. \
                Diese Anfrage endet nach 1 Minute. Darf es dieses Objekt lesen? „Bis zum Abmelden erlauben“ endet auch, \
                wenn der Schlüsselbund gesperrt wird. „Immer erlauben“ und „Nie erlauben“ werden für dieses Objekt, dieses Programm und die Programme gespeichert, die es gestartet haben. \
                Widerrufen Sie eine Antwort mit latchkey secrets answers oder in den Einstellungen. Das ist eine \
                Höflichkeit unter Ihren eigenen Programmen: Eines kann sich als ein anderes ausgeben. Tasten: O für \
                Einmal erlauben, U für Bis zum Abmelden erlauben, A für Immer erlauben, N für Nie erlauben, Eingabe für Bestätigen, Esc/Strg-C für \
                Abbrechen.\u{20}
                """)
        state.chosen = .always
        #expect(speech.say(state) == "Immer erlauben: Drücken Sie die Eingabetaste zum Bestätigen.\r\n")
    }

    @Test func titlesOfTheAppStayAsTheyAre() throws {
        var state = try sample("de", reason: "Unlock", caller: "Cancel")
        #expect(state.cancelTitle == "Abbrechen" && state.fallbackTitle == "Gerätecode eingeben")
        #expect(state.reason == "für „Unlock“" && state.question.hasPrefix("„Cancel“ fragt"))
        state.prompt.cancelTitle = "Not now"
        state.prompt.fallbackTitle = "Use Passcode"
        #expect(state.cancelTitle == "Not now" && state.fallbackTitle == "Use Passcode")
    }

    /// Every text of the prompt, in all widths: nothing is wider than the window.
    @Test(arguments: ["de", "qps", "he"])
    func blockFitsEveryWindow(_ language: String) throws {
        let english = lines(.sample(.missed), 80).count
        for columns in [20, 33, 40, 60, 80, 200] {
            for purpose in [PromptPurpose.app, .removePasscode, .identifyDevice, .readSecret] {
                let asked = [PromptContent.codeShown, .codeAsked, .newPasscode(), .answerAsked]
                for content in [.first, .missed, .passcode] + asked {
                    var state = try sample(language, purpose: purpose, content)
                    if purpose == .readSecret { state.prompt.startedBy = "bash ← claude ← gnome-terminal" }
                    let block = lines(state, columns)
                    let widest = block.map { CellWidth.of($0) }.max() ?? 0
                    #expect(widest < columns, "\(block)")
                    #expect(!block.contains { $0.contains("%") || $0.contains("$s") }, "\(block)")
                }
            }
        }
        #expect(lines(try sample(language, .missed), 80).count <= english + 2)
    }

    @Test func rightToLeftPromptIsolatesWhatAProgramSays() throws {
        let state = try sample("he")
        #expect(state.question.contains("“\u{2068}notes\u{2069}”"))
        #expect(state.reason?.contains("“\u{2068}open the token\u{2069}”") == true)
        #expect(!state.question.contains("\u{fffd}") && !state.programLine.contains("\u{fffd}"))
        #expect(state.programLine.contains("“\u{2068}/usr/bin/notes\u{2069}”"))
        #expect(CellWidth.of("\u{2068}ab\u{2069}") == 2)
        // In German only where the text could reorder the sentence.
        #expect(try sample("de", caller: "אבג").question == "„\u{2068}אבג\u{2069}“ fragt nach Ihrem Fingerabdruck")
        #expect(PromptState.sample(caller: "אבג").question == "“\u{2068}אבג\u{2069}” asks for your fingerprint")
    }
}
