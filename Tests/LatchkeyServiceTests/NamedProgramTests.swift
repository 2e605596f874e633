// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import TestPromises
import Testing

@testable import LatchkeyService

/// The name and path of a program are sanitised like any other text of a caller, since the program can choose them.
@Suite struct NamedProgramTests {
    @Test(.promise("name.texts")) func nameAndPathOfAProgramCannotImitateThePromptsText_abuse19() throws {
        let prompter = CollectingPrompter(SimulatedPrompter())
        let machine = try SimulatedService(WorldState(sensor: .none)) { parts, _ in parts.prompter = prompter }
        let name = "notes” wants nothing.\n\u{202e}“bank"
        InterruptedService.answers(machine.session(), .passcode(.set(SecretBytes("1234".utf8))))
        let caller = Caller(groups: ["app"], label: name, program: "/tmp/" + name, processID: 7, userID: 1)
        let session = machine.service.session(
            caller: caller, terminal: 0, mayNameItself: false, hello: Request.Hello(application: ""))
        InterruptedService.answers(session, .passcode(.remove))
        let prompt = try #require(prompter.shown.last)
        #expect(prompt.caller == "notes' wants nothing. \u{fffd}'bank")
        #expect(prompt.program == "/tmp/notes' wants nothing. \u{fffd}'bank")
        #expect(prompt.processID == 7 && prompt.purpose == .removePasscode)
    }
}
