// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import Testing

/// The caller as named in prompts and in the audit log.
@Suite struct CallerTests {
    private let daemon: TestDaemon

    init() throws { daemon = try .withProtectedItem() }

    /// The entries of the audit log with this event.
    private func entries(_ event: String) throws -> [Substring] {
        let log = try daemon.run("latchkey", ["log", "--json"])
        #expect(log.exitCode == 0)
        return log.output.split(separator: "\n").filter { $0.contains("\"event\":\"\(event)\"") }
    }

    /// The process is gone when the refusal is recorded.
    @Test(.promise("name.ended")) func aProgramThatIsKilledWhileItsPromptIsShownIsNamedInTheLog() throws {
        let agent = try RawAgent(daemon)
        let asking = try RunningProgram(daemon, "latchkey", ["get", "protected"])
        let prompt = try agent.shown()
        try agent.send(.visible, to: prompt.id)
        // The process id of a child is not reused before wait(2) has returned its status.
        kill(asking.process, SIGKILL)
        Processes.wait(asking.process)
        #expect(try agent.receive() == .message(prompt: prompt.id, .dismiss))
        let refusals = try entries("refused")
        #expect(
            refusals.count == 1
                && refusals.allSatisfy {
                    $0.contains("\"latchkey\"") && $0.contains(":\(asking.process)")
                }, "\(refusals)")
    }

    /// Abuse case: a program connects and sends a request, then executes a program that the user trusts, or passes its
    /// connection to it, before the prompt is shown.
    @Test(.promise("name.executable"), arguments: ["executes", "leaves"])
    func changedProcessIsNotNamedAsCaller(manner: String) throws {
        let agent = try RawAgent(daemon)
        // The first prompt delays the second until the other process has changed.
        let first = try RunningProgram(daemon, "latchkey", ["get", "protected"])
        let held = try agent.shown()
        #expect(held.caller == "latchkey")
        let disguised = try RunningProgram(daemon, "latchkey-test-client", ["disguise", manner])
        let line = try #require(try disguised.line(beginning: "changed"))
        let other = try #require(pid_t(line.split(separator: " ").last ?? ""))
        defer { kill(other, SIGKILL) }
        if manner == "leaves" { Processes.wait(disguised.process) }
        try agent.send(.visible, to: held.id)
        try agent.send(.cancel, to: held.id)
        #expect(try first.end().exitCode == 77)
        #expect(try agent.receive() == .message(prompt: held.id, .dismiss))
        let prompt = try agent.shown()
        #expect(prompt.caller == "A program that could not be determined")
        #expect(prompt.program == "its program could not be determined")
        #expect(prompt.ownName == "test", "its own name for itself, which a prompt shows in quotation marks")
        // The audit log does not name another program either.
        try agent.send(.visible, to: prompt.id)
        try agent.send(.simulatedTouch(matching: true), to: prompt.id)
        #expect(try agent.receive() == .message(prompt: prompt.id, .dismiss))
        let uses = try entries("used")
        #expect(uses.count == 1 && uses.allSatisfy { $0.contains("A program that could not be determined") }, "\(uses)")
        if manner == "executes" {
            kill(other, SIGKILL)
            Processes.wait(disguised.process)
        }
    }
}
