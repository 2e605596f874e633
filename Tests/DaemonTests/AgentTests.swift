// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeyPrompts
import LatchkeySystem
import LatchkeyWire
import TestPromises
import TestSupport
import Testing

/// Prompts shown by the agent of the user's session, and what an agent may not do.
@Suite struct AgentTests {
    private let daemon: TestDaemon

    init() throws { daemon = try .withProtectedItem() }

    private func get() throws -> RunningProgram { try RunningProgram(daemon, "latchkey", ["get", "protected"]) }

    private func evaluate(_ arguments: [String]) throws -> RunningProgram {
        try RunningProgram(daemon, "latchkey-test-client", ["evaluate"] + arguments)
    }

    // MARK: - Answers

    @Test func callerWithoutTerminalIsPromptedByAgent() throws {
        let agent = try RawAgent(daemon)
        let caller = try get()
        let prompt = try agent.shown()
        #expect(prompt.caller == "latchkey" && prompt.processID == caller.process && prompt.terminal == 0)
        #expect(prompt.reason == "read protected" && prompt.tier == .simulated)
        #expect(prompt.content.method == .biometry && prompt.content.triesLeft == 3)
        try agent.send(.visible, to: prompt.id)
        try agent.send(.simulatedTouch(matching: true), to: prompt.id)
        #expect(try agent.receive() == .message(prompt: prompt.id, .dismiss))
        #expect(try caller.end() == ("value", 0))
    }

    @Test func rightPasscodeReleasesSecretAndWrongOneDoesNot() throws {
        let agent = try RawAgent(daemon)
        let caller = try get()
        let prompt = try agent.shown().id
        try agent.send(.visible, to: prompt)
        try agent.send(.simulatedTouch(matching: false), to: prompt)
        let missed = try agent.updated()
        #expect(missed.notice == .notRecognised && missed.triesLeft == 2 && missed.showsFallback)
        try agent.send(.fallback, to: prompt)
        #expect(try agent.updated().method == .passcode)
        try agent.send(.passcode(SecretBytes("4321".utf8)), to: prompt)
        #expect(try agent.updated().notice == .wrongPasscode)
        try agent.send(.passcode(SecretBytes("1234".utf8)), to: prompt)
        #expect(try agent.receive() == .message(prompt: prompt, .dismiss))
        #expect(try caller.end() == ("value", 0))
    }

    @Test func cancellationAtAgentReachesCaller() throws {
        let agent = try RawAgent(daemon)
        let caller = try get()
        let prompt = try agent.shown().id
        try agent.send(.visible, to: prompt)
        try agent.send(.cancel, to: prompt)
        let (output, exitCode) = try caller.end()
        #expect(exitCode == 77 && output.contains("Authentication was cancelled"), "\(output)")
    }

    /// Abuse case 23.
    @Test(.promise("attacker.agent", "abuse.23")) func answersBeforeVisibleAreIgnored() throws {
        #expect(try daemon.run("latchkey", ["sim", "sensor", "none"]).exitCode == 0)
        let agent = try RawAgent(daemon)
        let caller = try get()
        let prompt = try agent.shown()
        #expect(prompt.content.method == .passcode)
        try agent.send(.passcode(SecretBytes("1234".utf8)), to: prompt.id)
        try agent.send(.visible, to: prompt.id)
        try agent.send(.passcode(SecretBytes("4321".utf8)), to: prompt.id)
        #expect(try agent.updated().notice == .wrongPasscode, "the first passcode was ignored")
        try agent.send(.cancel, to: prompt.id)
        #expect(try caller.end().exitCode == 77)
    }

    @Test func sensorIsArmedOnlyAfterVisible() throws {
        let agent = try RawAgent(daemon)
        let caller = try get()
        let prompt = try agent.shown().id
        #expect(try daemon.run("latchkey", ["sim", "touch", "--other"]).output.hasPrefix("Queued for the next prompt"))
        try agent.send(.visible, to: prompt)
        #expect(try agent.updated().triesLeft == 2, "the queued touch is delivered once the sensor is armed")
        #expect(try daemon.run("latchkey", ["sim", "touch"]).output == "A prompt used it.\n")
        #expect(try caller.end() == ("value", 0))
    }

    // MARK: - Choice of the place

    @Test func callerWithTerminalIsPromptedThereDespiteAgent() throws {
        let agent = try RawAgent(daemon)
        let terminal = try PseudoTerminal()
        let caller = try terminal.spawn(
            TestDaemon.programs + "/latchkey", ["get", "protected"], environment: daemon.environment)
        #expect(terminal.read(through: "Touch the sensor") != nil)
        try terminal.type("m")
        #expect(terminal.read(through: "value") != nil)
        #expect(Processes.wait(caller) == 0)
        // The next prompt of the agent is that of the next caller, so it was not sent the first one.
        let next = try get()
        #expect(try agent.shown().processID == next.process)
        kill(next.process, SIGKILL)
        _ = try next.end()
    }

    @Test func unusableTerminalSendsPromptToAgent() throws {
        let agent = try RawAgent(daemon)
        let terminal = try PseudoTerminal()
        let keeper = Terminal(try Descriptor.open(terminal.path, O_RDWR | O_NOCTTY))
        var edited = try #require(keeper.modes())
        edited.c_lflag &= ~tcflag_t(ICANON)
        keeper.restore(edited)
        // The caller runs in the background of a terminal in which another program reads single keys.
        let shell = try terminal.spawn(
            "/bin/sh", ["-c", "set -m; \"$0\" get protected & wait", TestDaemon.programs + "/latchkey"],
            environment: daemon.environment + ["TERM=xterm"])
        let prompt = try agent.shown()
        #expect(prompt.terminal != 0)
        try agent.send(.visible, to: prompt.id)
        try agent.send(.simulatedTouch(matching: true), to: prompt.id)
        #expect(terminal.read(through: "value") != nil)
        Processes.wait(shell)
    }

    /// Abuse case 20.
    @Test(.promise("abuse.20")) func callWithoutAgentAndTerminalIsRefusedAtOnce() throws {
        let agent = try RawAgent(daemon)
        shutdown(agent.socket.number, CInt(SHUT_RDWR))
        // The daemon reads the end of that connection before it accepts a later one.
        let (output, exitCode) = try get().end()
        #expect(exitCode == 77 && output.contains("No prompt can be shown here"), "\(output)")
        #expect(output.contains("in a terminal of your own, or start latchkey-agent"), "\(output)")
    }

    @Test func unavailableAgentRefusesPrompt() throws {
        let agent = try RawAgent(daemon)
        let caller = try get()
        try agent.send(.unavailable, to: try agent.shown().id)
        let (output, exitCode) = try caller.end()
        #expect(exitCode == 77 && output.contains("No prompt can be shown here"), "\(output)")
    }

    // MARK: - The end of an agent

    /// Abuse case 21.
    @Test(.promise("abuse.21")) func killedAgentEndsRequestAndReleasesSensor() throws {
        let agent = try RunningProgram(daemon, "latchkey-test-client", ["agent"])
        #expect(try agent.line(beginning: "registered") != nil)
        let caller = try get()
        #expect(try agent.line(beginning: "show") == "show “latchkey” asks for your fingerprint")
        kill(agent.process, SIGKILL)
        let (output, exitCode) = try caller.end()
        #expect(exitCode == 77 && output.contains("ended by the system"), "\(output)")
        _ = try agent.end()
        #expect(try daemon.run("latchkey", ["sim", "touch", "--other"]).output.hasPrefix("Queued for the next prompt"))
        // Another agent can register, and is sent the next prompt.
        let next = try RawAgent(daemon)
        let other = try get()
        let prompt = try next.shown().id
        try next.send(.visible, to: prompt)
        #expect(try next.updated().triesLeft == 2)
        try next.send(.simulatedTouch(matching: true), to: prompt)
        #expect(try other.end() == ("value", 0))
    }

    @Test func waitingAgentStartsNoDaemonAndRegistersWithNextOne() throws {
        let agent = try RunningProgram(daemon, "latchkey-test-client", ["agent", "twice"])
        #expect(try agent.line(beginning: "registered") != nil)
        try daemon.crash()
        #expect(try agent.line(beginning: "over") != nil)
        try daemon.start()
        #expect(try agent.line(beginning: "registered") != nil)
        kill(try #require(try daemon.process), SIGKILL)
        #expect(try agent.end() == ("over\n", 0))
    }

    @Test func agentDisconnectsFromDaemonWithInvalidFrames() throws {
        // Simulates a daemon of another version.
        let other = try TestDaemon()
        let lock = try DaemonLock.open(other.folder)
        #expect(DaemonLock.take(lock))
        let listener = try Sockets.listen(other.folder + "/socket")
        try DaemonLock.announce(DaemonLock.Address(socket: other.folder + "/socket", processID: .max), in: lock)
        defer { DaemonLock.withdraw(lock) }
        let agent = try RunningProgram(other, "latchkey-test-client", ["agent", "twice"])
        defer {
            kill(agent.process, SIGKILL)
            _ = try? agent.end()
        }
        #expect(try listener.wait(for: POLLIN, until: Uptime.deadline(seconds: 20)))
        let link = RawAgent(socket: try #require(try Sockets.accept(listener)))
        #expect(try link.receive() == .register)
        try link.send(.registered)
        #expect(try agent.line(beginning: "registered") != nil)
        try link.send(.visible, to: 1)
        #expect(try link.receive() == nil, "the connection has ended while the agent still runs")
        #expect(try agent.line(beginning: "over") != nil)
    }

    @Test func secondAgentIsRefusedAndFirstContinues() throws {
        let first = try RawAgent(daemon)
        let second = try RunningProgram(daemon, "latchkey-test-client", ["agent"])
        let (output, exitCode) = try second.end()
        #expect(exitCode == 75 && output.contains("Another program already shows the prompts"), "\(output)")
        let raw = RawAgent(socket: try daemon.connect())
        try raw.send(.register)
        #expect(try raw.receive() == .refused(.taken))
        let caller = try get()
        let prompt = try first.shown().id
        // The refused agent cannot answer in place of the registered one.
        try? raw.send(.cancel, to: prompt)
        #expect(try raw.receive() == nil)
        try first.send(.visible, to: prompt)
        try first.send(.simulatedTouch(matching: true), to: prompt)
        #expect(try caller.end() == ("value", 0))
    }

    @Test func registeredAgentPreventsIdleExit() throws {
        let other = try TestDaemon(simulated: true)
        try other.write("tier = simulated\nidle_exit_seconds = 2\n", to: "latchkeyd.conf")
        try other.start()
        let agent = try RawAgent(other)
        let process = try #require(try other.process)
        #expect(!Processes.hasEnded(process, within: 4))
        shutdown(agent.socket.number, CInt(SHUT_RDWR))
        #expect(Processes.hasEnded(process, within: 20))
    }

    // MARK: - Several callers

    /// Abuse case 18.
    @Test(.promise("abuse.18")) func simultaneousRequestsArePromptedInTurnUnderTheirNames() throws {
        let agent = try RawAgent(daemon)
        let first = try get()
        let shown = try agent.shown()
        let second = try evaluate(["--reason", "pay"])
        try agent.send(.visible, to: shown.id)
        try agent.send(.cancel, to: shown.id)
        #expect(try agent.receive() == .message(prompt: shown.id, .dismiss))
        let next = try agent.shown()
        #expect(next.caller == "latchkey-test-client" && next.processID == second.process && next.reason == "pay")
        #expect(next.id != shown.id)
        // A late answer to the first prompt does not answer the second.
        try agent.send(.visible, to: next.id)
        try agent.send(.cancel, to: shown.id)
        try agent.send(.simulatedTouch(matching: true), to: next.id)
        #expect(try first.end().exitCode == 77)
        #expect(try second.end().output.hasPrefix("granted"))
    }

    /// Abuse case 19.
    @Test(.promise("abuse.19")) func hostileReasonReachesAgentAsOneLineOfPlainText() throws {
        let agent = try RawAgent(daemon)
        let reason = "<b>pay</b>\n\u{1b}[31m\u{202e}lla\u{200b} &amp;" + String(repeating: " x", count: 5000)
        let caller = try evaluate(["--reason", reason, "--cancel", "No\nway", "--fallback", "\u{7}PIN"])
        let prompt = try agent.shown()
        #expect(prompt.reason.hasPrefix("<b>pay</b> \u{fffd}[31m\u{fffd}lla\u{fffd} &amp; x x"), "\(prompt.reason)")
        #expect(prompt.reason.count <= Limits.reasonCharacters + 1 && prompt.reason.hasSuffix("…"))
        #expect(prompt.cancelTitle == "No way" && prompt.fallbackTitle == "\u{fffd}PIN")
        try agent.send(.cancel, to: prompt.id)
        #expect(try caller.end().output == "userCancel\n")
    }

    // MARK: - Hostile agents

    @Test(arguments: [
        Message.request(id: 1, .status).encoded().copyBytes(),
        AgentFrame.register.encoded().copyBytes(),
        AgentFrame.registered.encoded().copyBytes(),
        AgentFrame.message(prompt: 1, .dismiss).encoded().copyBytes(),
        [0x82, 0x03, 0x82, 0x01, 0x82, 0x03, 0x81, 0x18, 0x00], [0xff, 0xff], [],
    ]) func agentThatSendsOtherFramesIsDisconnected(_ bytes: [UInt8]) throws {
        let agent = try RawAgent(daemon)
        let caller = try get()
        try agent.send(.visible, to: try agent.shown().id)
        try Frame.send(SecretBytes(bytes), to: agent.socket)
        #expect(try agent.receive() == nil, "no answer: an agent cannot make a client's requests")
        let (output, exitCode) = try caller.end()
        #expect(exitCode == 77 && output.contains("ended by the system"), "\(output)")
        _ = try RawAgent(daemon)
    }

    @Test func clientCannotRegisterAsAgentLater() throws {
        let client = try RawClient(daemon)
        guard case .status? = try client.call(.status) else {
            Issue.record("no status")
            return
        }
        try Frame.send(AgentFrame.register.encoded(), to: client.socket)
        guard case .failure(let failure)? = try client.receive()?.reply else {
            Issue.record("not refused")
            return
        }
        #expect(failure.status == .malformedRequest)
        _ = try RawAgent(daemon)
    }
}
