// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension ScreenTests {
    /// Tests of the window in German, with texts longer than English ones, and from right to left.
    @Suite struct LanguageWindowTests {
        private let locale: URL

        init() throws {
            locale = FileManager.default.temporaryDirectory.appending(path: "latchkey-words.\(UUID().uuidString)")
            let checkout = (1...5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
            for step in ["build", "pseudo"] {
                let words = try Program(checkout.appending(path: "scripts/words").path, [step, locale.path])
                try #require(words.status == 0, "\(words.said)")
            }
        }

        /// A machine whose agent, but no other program, has this language.
        private func machine(_ language: String, _ commands: String...) throws -> Machine {
            let machine = try Machine(
                environment: [
                    "LATCHKEY_LOCALE_DIR": locale.path, "LANG": "\(language).UTF-8", "LC_ALL": "", "LANGUAGE": "",
                ])
            for command in ["sim enrol"] + commands { try machine.latchkey(command) }
            try machine.latchkey("sim passcode set", input: "1234\n")
            return machine
        }

        @Test func germanPromptHasGermanTextsAndTheAppsOwnWords() throws {
            defer { try? FileManager.default.removeItem(at: locale) }
            let machine = try machine("de_DE")
            let caller = try machine.ask(["--reason", "open the token store", "--fallback", "Use Passcode"])
            let first = try machine.sees("Berühren Sie den Sensor.")
            #expect(first.says("„latchkey-test-client“ fragt nach Ihrem Fingerabdruck"))
            #expect(first.says("für „open the token store“"))
            #expect(first.all.contains { $0.name.hasPrefix("Es ist Prozess \(caller.program.number), „/") })
            #expect(first.buttons.first == "Abbrechen")
            try machine.picture("de-touch")
            first.press(try #require(first.buttons.last))
            let missed = try machine.sees("Nicht erkannt. Noch 2 Versuche.")
            #expect(missed.buttons.prefix(2) == ["Abbrechen", "Use Passcode"])
            try machine.picture("de-touch-missed")
            missed.press("Use Passcode")
            let asking = try machine.sees("Geben Sie Ihren Code ein und drücken Sie die Eingabetaste.")
            #expect(asking.field?.name == "Code" && asking.all.contains { $0.name == "Code anzeigen" })
            try machine.picture("de-passcode")
            try machine.type("9999")
            try machine.press("Return")
            try machine.sees { $0.announced.hasPrefix("Der Code ist falsch.") }
            try machine.picture("de-passcode-wrong")
            try machine.press("Escape")
            #expect(caller.end == "userCancel")
        }

        @Test(arguments: ["de_DE", "qps", "he_IL"])
        func everyTextFitsTheWindow(_ language: String) throws {
            defer { try? FileManager.default.removeItem(at: locale) }
            let machine = try machine(language, "sim sensor face", "sim enrol")
            let caller = try machine.ask(
                ["--reason", "open the album", "--face", "finding your pictures"], app: "Album")
            let asking = try machine.sees { $0.buttons.count == 3 }
            try machine.picture("\(language)-face-permission")
            #expect(!asking.all.contains { $0.name.contains("\u{fffd}") || $0.name.contains("%1$s") })
            let window = try #require(asking.frame)
            for part in asking.all {
                guard let frame = part.frame, frame.width > 0 else { continue }
                #expect(
                    frame.x >= window.x && frame.x + frame.width <= window.x + window.width, "\(part.name) is clipped")
            }
            asking.press(try #require(asking.buttons.last))
            // Three buttons again: cancel, and two that play the sensor.
            let looking = try machine.sees { $0.buttons.count == 3 && $0.buttons != asking.buttons }
            try machine.picture("\(language)-face")
            if language == "he_IL" {
                let across = looking.all("push button").compactMap(\.frame).suffix(2).map(\.x)
                #expect(across.count == 2 && across[0] > across[1], "the first button is at the right")
            }
            looking.press(try #require(looking.buttons.last))
            try machine.sees { !$0.announced.isEmpty }
            try machine.picture("\(language)-face-missed")
            try machine.latchkey("sim look --other")
            try machine.sees { $0.field?.isFocused == true }
            try machine.picture("\(language)-face-finished")
            try machine.press("Escape")
            #expect(caller.end == "userCancel")
            try newPasscode(machine, language)
        }

        /// The longest instructions, and a request of the command.
        private func newPasscode(_ machine: Machine, _ language: String) throws {
            let command = try machine.start("latchkey", ["export", machine.folder.path + "/backup"])
            try machine.sees { $0.field?.isFocused == true }
            try machine.picture("\(language)-export")
            try machine.type("1234")
            try machine.press("Return")
            try machine.sees { $0.field == nil || $0.buttons.count == 2 }
            try machine.picture("\(language)-recovery-code")
            try machine.press("Escape")
            #expect(command.status != 0)
        }
    }
}
