// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LatchkeyDesktop

@Suite struct SessionRowsTests {
    private static let graphical = SessionFacts(session: "2", display: "wayland-0")
    private let machine: TemporaryMachine

    init() throws { machine = try TemporaryMachine() }

    private var agent: DoctorRow { .agent(AgentFacts(machine.places, user: 1000), Self.graphical) }

    private func start(_ name: String, user: UInt32) throws {
        try machine.write("/proc/41/status", "Name:\t\(name)\nUid:\t\(user)\t\(user)\t\(user)\t\(user)\n")
    }

    @Test func sessionNamesWherePromptsAppear() {
        let remote = SessionFacts(terminal: "/dev/pts/3", session: "2", isRemote: true)
        #expect(DoctorRow.session(remote) == DoctorRow("session", .ok, "terminal /dev/pts/3, session 2, over SSH"))
        #expect(DoctorRow.session(Self.graphical).found == "session 2, display wayland-0")
        #expect(DoctorRow.session(SessionFacts()).state == .absent)
    }

    @Test func theTerminalOfAnotherUserShowsNoPrompt() {
        var facts = SessionFacts(terminal: "/dev/pts/1")
        facts.ownsTerminal = false
        let row = DoctorRow.session(facts)
        #expect(row.state == .attention && row.hint?.command == "script -q /dev/null")
        #expect(row.found.contains("/dev/pts/1 belongs to another user"))
        facts.display = ":0"
        #expect(DoctorRow.session(facts).state == .ok, "a prompt is shown in a window")
    }

    @Test func agentIsNeededInAGraphicalSessionOnly() {
        #expect(DoctorRow.agent(AgentFacts(machine.places), SessionFacts(terminal: "/dev/pts/3")).state == .absent)
        #expect(agent.state == .attention && agent.hint?.command == "make install PART=agent PREFIX=~/.local")
    }

    @Test(arguments: ["/home/.config", "/etc/xdg"]) func installedAgentIsStarted(folder: String) throws {
        let program = machine.root + "/my agent"
        try machine.write(folder + "/autostart/org.latchkey.Agent.desktop", "[Desktop Entry]\nExec=\(program)\n")
        #expect(agent.found.contains("which is missing") && agent.hint?.command.hasPrefix("make ") == true)
        // Instead of the agent, a script that writes the record of its process.
        let status = machine.root + "/proc/41/status"
        try machine.write(
            "/my agent",
            "#!/bin/sh\nprintf 'Name:\\tlatchkey-agent\\nUid:\\t1000\\t1000\\n' > \(status).new\n"
                + "mv \(status).new \(status)\n", mode: 0o755)
        try machine.write("/proc/41/x")
        #expect(agent.state == .attention && agent.hint?.command == "setsid -f '\(program)'", "\(agent)")
        // With --wait instead of --fork the command ends when the agent has ended.
        let hint = try #require(agent.hint)
        let waiting = hint.command.replacing("setsid -f", with: "setsid -w")
        try DoctorRow("agent", .attention, "", .init(waiting)).mend()
        #expect(agent == DoctorRow("agent", .ok, "latchkey-agent runs, process 41"))
    }

    @Test func processesOfOtherUsersAndNamesAreNoAgent() throws {
        try start("latchkey-agent", user: 1001)
        #expect(agent.state == .attention)
        try start("latchkey-agents", user: 1000)
        #expect(agent.state == .attention)
        try start("latchkey-agent", user: 1000)
        #expect(agent.state == .ok)
    }
}
