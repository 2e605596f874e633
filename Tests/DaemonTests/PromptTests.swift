// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// Tests of the prompt on a pseudoterminal, shown by a separate process.
@Suite struct PromptTests {
    private let daemon: TestDaemon

    init() throws { daemon = try .withProtectedItem() }

    private func get(_ screen: Screen) throws -> pid_t {
        try screen.terminal.spawn(
            TestDaemon.programs + "/latchkey", ["get", "protected"], environment: daemon.environment)
    }

    @Test func fingerprintOnCallersTerminalReleasesSecret() throws {
        let screen = try Screen()
        let caller = try get(screen)
        #expect(screen.hears("\"latchkey\" asks for your fingerprint to \"read protected\"."))
        #expect(screen.hears("It is process \(caller), \"/"), "the caller is identified by the kernel")
        #expect(screen.hears("Touch the sensor"))
        try screen.terminal.type("m")
        #expect(screen.hears("value"))
        #expect(Processes.wait(caller) == 0)
    }

    @Test func passcodeIsNotEchoed() throws {
        let screen = try Screen()
        let caller = try get(screen)
        for _ in 1...3 {
            #expect(screen.hears("Touch the sensor"))
            try screen.terminal.type("x")
        }
        #expect(screen.hears("Type your passcode"))
        try screen.terminal.type("12\u{7f}234\r")
        let rest = screen.everything()
        #expect(rest.contains("value") && !rest.contains("1234"), "\(rest)")
        #expect(Processes.wait(caller) == 0)
    }

    @Test func escapeCancelsAndReachesCaller() throws {
        let screen = try Screen()
        let caller = try get(screen)
        #expect(screen.hears("Touch the sensor"))
        try screen.terminal.type("\u{1b}")
        #expect(screen.everything().contains("Authentication was cancelled"))
        #expect((Processes.wait(caller) >> 8) & 0xff == 77)
    }

    @Test func killedPromptRestoresTerminalAndEndsRequest() throws {
        let screen = try Screen()
        let keeper = Terminal(try Descriptor.open(screen.terminal.path, O_RDWR | O_NOCTTY))
        let before = try #require(keeper.modes())
        let caller = try get(screen)
        let words = try #require(screen.hearsAll("Touch the sensor"))
        let changed = try #require(keeper.modes())
        #expect(changed.c_lflag & tcflag_t(ECHO) == 0, "the prompt disables echo")
        let number = try #require(words.number(after: "Latchkey prompt, process "))
        kill(number, SIGKILL)
        #expect(screen.hears("ended by the system"))
        #expect((Processes.wait(caller) >> 8) & 0xff == 77)
        let after = try #require(keeper.modes())
        #expect(after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag, "the modes are restored")
    }

    @Test func callerWithoutTerminalIsRefusedAtOnce_LA31() throws {
        let answer = try daemon.run("latchkey", ["get", "protected"])
        #expect(answer.exitCode == 77)
        #expect(answer.output.isEmpty)
        #expect(answer.errors.contains("No prompt can be shown here"), "\(answer.errors)")
    }

    @Test func killedCallerEndsItsPrompt() throws {
        let screen = try Screen()
        let caller = try get(screen)
        #expect(screen.hears("Touch the sensor"))
        kill(caller, SIGKILL)
        Processes.wait(caller)
        // The next prompt is shown, which is only possible once the other one has ended.
        let next = try Screen()
        let other = try get(next)
        #expect(next.hears("Touch the sensor"))
        try next.terminal.type("m")
        #expect(next.hears("value"))
        #expect(Processes.wait(other) == 0)
    }

    @Test func lockSurvivesKillAndIsReleasedByPrompt_KC14() throws {
        #expect(try daemon.run("latchkey", ["set", "plain"], input: "plain value").exitCode == 0)
        #expect(try daemon.run("latchkey", ["lock"]).output == "The keychain is locked.\n")
        let refused = try daemon.run("latchkey", ["get", "plain"])
        #expect(refused.exitCode == 77 && refused.output.isEmpty, "\(refused)")
        #expect(refused.errors.contains("hint: Unlock it with: latchkey unlock"))
        try daemon.crash()
        #expect(try daemon.run("latchkey", ["status", "--json"]).output.contains("\"keychainLocked\":true"))
        let screen = try Screen()
        let caller = try screen.terminal.spawn(
            TestDaemon.programs + "/latchkey", ["unlock"], environment: daemon.environment)
        #expect(screen.hears("wants to") && screen.hears("unlock this keychain."))
        #expect(screen.hears("Touch the sensor"))
        try screen.terminal.type("m")
        #expect(screen.everything().contains("The keychain is unlocked"))
        #expect(Processes.wait(caller) == 0)
        #expect(try daemon.run("latchkey", ["get", "plain"]).output == "plain value")
    }

    @Test func keychainWithoutPasscodeCannotBeLocked() throws {
        let other = try TestDaemon(simulated: true)
        let answer = try other.run("latchkey", ["lock"])
        #expect(answer.exitCode != 0)
        #expect(answer.errors.contains("latchkey passcode set"), "\(answer)")
    }

    @Test func commandWaitingForAnotherPromptSaysSo() throws {
        let (first, second) = (try Screen(), try Screen())
        let holder = try get(first)
        #expect(first.hears("Touch the sensor"))
        let waiter = try get(second)
        #expect(second.hears("Waiting: latchkey, process \(holder), is asking first."))
        try first.terminal.type("m")
        #expect(Processes.wait(holder) == 0)
        #expect(second.hears("Touch the sensor"))
        try second.terminal.type("m")
        #expect(second.hears("value"))
        #expect(Processes.wait(waiter) == 0)
    }

    @Test func scriptedTouchFromAnotherTerminalAnswersPrompt() throws {
        let screen = try Screen()
        let caller = try get(screen)
        #expect(screen.hears("Touch the sensor"))
        // This key is processed after the prompt has reported that it is visible, so the sensor is armed from here on.
        try screen.terminal.type("x")
        #expect(screen.hears("Not recognised. 2 tries left"))
        let wrong = try daemon.run("latchkey", ["sim", "touch", "--other", "--json"])
        #expect(wrong.output == "{\"delivered\":true}\n")
        #expect(screen.hears("Not recognised. One try left"))
        #expect(try daemon.run("latchkey", ["sim", "touch"]).output == "A prompt used it.\n")
        #expect(screen.hears("value"))
        #expect(Processes.wait(caller) == 0)
    }
}
