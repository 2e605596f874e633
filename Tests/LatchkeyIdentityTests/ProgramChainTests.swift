// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// What a program is called with those that started it.
@Suite struct ProgramChainTests {
    @Test(arguments: [
        (["/usr/bin/firefox", "/usr/bin/gnome-shell", "/usr/lib/systemd/systemd"], "/usr/bin/firefox", "gnome-shell"),
        // An interpreter and a tool that passes on are named with what started them.
        (
            [
                "/usr/bin/secret-tool", "/usr/bin/bash", "/usr/libexec/gnome-terminal-server",
                "/usr/lib/systemd/systemd",
            ],
            "/usr/bin/secret-tool ← /usr/bin/bash", "bash ← gnome-terminal-server"
        ),
        (
            ["/usr/bin/gh", "/usr/bin/bash", "/home/a/bin/claude", "/usr/bin/kgx"], "/usr/bin/gh", "bash ← claude ← kgx"
        ),
        (
            ["/usr/bin/git-credential-latchkey", "/usr/bin/git", "/opt/editor/editor", "/usr/bin/gnome-shell"],
            "/usr/bin/git-credential-latchkey ← /usr/bin/git ← /opt/editor/editor", "git ← editor ← gnome-shell"
        ),
        // In the tiers with two users, what started it may not be determined.
        (
            ["/usr/bin/secret-tool", "undetermined:/usr/bin/dash", "/usr/bin/claude", "/usr/bin/kgx"],
            "/usr/bin/secret-tool ← undetermined:/usr/bin/dash ← /usr/bin/claude", "dash ← claude ← kgx"
        ),
        (["/usr/bin/python3.13", "/usr/sbin/cron"], "/usr/bin/python3.13", ""),
        (["/usr/bin/bash"], "/usr/bin/bash", ""), ([""], "", ""),
        // A file name must not look like two programs.
        (["/tmp/gh ← bash", "/tmp/a ← b"], "/tmp/gh \u{fffd} bash", "a \u{fffd} b"),
    ])
    func isNamedAsFarAsProgramsPassOn(_ programs: [String], _ name: String, _ startedBy: String) {
        let chain = ProgramChain(programs)
        #expect(chain.name == name)
        #expect(chain.startedBy == startedBy)
    }

    @Test(.promise("secrets.asker"))
    func aRunningProcessIsReadWithTheOnesThatStartedIt() throws {
        let child = try Child("/bin/cat")
        try child.awaitEcho()
        let start = try #require(TerminalJob(child.processID)?.startTime)
        let name = ProcessName(processID: child.processID, startTime: start, userID: geteuid())
        let running = try NamedProcess(name)
        #expect(running.isUnchanged)
        let chain = try ProgramChain(of: running) { (name) throws(Failure) in try NamedProcess(name).executable() }
        #expect(chain.programs.first?.hasSuffix("/cat") == true)
        #expect(chain.programs.dropFirst().first == Environment.executable)
    }

    @Test(.promise("secrets.asker"))
    func aProcessOfAnotherStartTimeOrUserIsNone() throws {
        let child = try Child("/bin/cat")
        try child.awaitEcho()
        let start = try #require(TerminalJob(child.processID)?.startTime)
        for (time, user) in [(start + 1, geteuid()), (0, geteuid()), (start, geteuid() + 1)] {
            let name = ProcessName(processID: child.processID, startTime: time, userID: user)
            #expect(throws: Failure.self) { try NamedProcess(name) }
        }
        #expect(throws: Failure.self) {
            try NamedProcess(ProcessName(processID: 0, startTime: start, userID: geteuid()))
        }
    }

    @Test func aProcessThatHasEndedIsNoLongerUnchanged() throws {
        var child: Child? = try Child("/bin/cat")
        try child?.awaitEcho()
        let number = try #require(child?.processID)
        let start = try #require(TerminalJob(number)?.startTime)
        let running = try NamedProcess(ProcessName(processID: number, startTime: start, userID: geteuid()))
        child = nil
        #expect(!running.isUnchanged)
        #expect(throws: Failure.self) { try running.executable() }
    }
}
