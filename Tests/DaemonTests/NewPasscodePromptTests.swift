// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// The terminal prompt while it asks for a new passcode, without a daemon.
@Suite struct NewPasscodePromptTests {
    private func content(_ step: PromptContent.Step, _ notice: PromptContent.Notice = .none) -> PromptContent {
        PromptContent(method: .passcode, notice: notice, triesLeft: 0, showsFallback: false, step: step)
    }

    @Test func bothEntriesAreReportedWithTheEventsOfTheirSteps() async throws {
        let terminal = try PseudoTerminal()
        var status = stat()
        #expect(stat(terminal.path, &status) == 0)
        let prompt = Prompt(
            id: 1, purpose: .setPasscode, caller: "latchkey", processID: getpid(), reason: "", cancelTitle: "Cancel",
            fallbackTitle: "", faceUsage: "", sensor: .none, tier: .user, terminal: UInt64(status.st_rdev),
            userID: geteuid(), content: content(.newPasscodeAsked))
        let prompter = TerminalPrompter(program: TestDaemon.programs + "/latchkey-prompt")
        let (events, sink) = AsyncStream.makeStream(of: PromptEvent.self)
        prompter.show(prompt) { sink.yield($0) }
        var next = events.makeAsyncIterator()
        #expect(await next.next() == .visible)
        try terminal.type("abcd\r")
        #expect(await next.next() == .newPasscodeEntered(SecretBytes("abcd".utf8)))
        prompter.update(1, content(.newPasscodeRepeated))
        try show("Type the new passcode again", terminal)
        try terminal.type("abce\r")
        #expect(await next.next() == .newPasscodeRepeated(SecretBytes("abce".utf8)))
        prompter.update(1, content(.newPasscodeAsked, .newPasscodesDiffer))
        try show("The two entries differ", terminal)
        try terminal.type("wxyz\r")
        #expect(await next.next() == .newPasscodeEntered(SecretBytes("wxyz".utf8)))
        prompter.dismiss(1)
    }

    /// Reads until the terminal shows the text; what was typed is never part of it.
    private func show(_ text: String, _ terminal: PseudoTerminal) throws {
        let shown = try #require(terminal.read(through: text))
        #expect(!shown.contains("abc"))
    }
}
