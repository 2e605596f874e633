// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import Dispatch
import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// A prompt's process that hangs, and a terminal that does, hold neither the caller of the prompter nor anything for ever.
/// The terminal is restored by a process of its user.
@Suite struct HangingPromptTests {
    private static let prompt: UInt64 = 1
    private let terminal: PseudoTerminal
    private let folder: TemporaryFolder
    private var device: UInt64 {
        var status = stat()
        return stat(terminal.path, &status) == 0 ? UInt64(status.st_rdev) : 0
    }

    init() throws {
        terminal = try PseudoTerminal()
        folder = try TemporaryFolder()
    }

    private final class Events: Sendable {
        private let list = Recorder<PromptEvent>()
        let gone = DispatchSemaphore(value: 0)
        let lost = DispatchSemaphore(value: 0)
        var all: [PromptEvent] { list.all }
        func add(_ event: PromptEvent) {
            list.add(event)
            if event == .lost { lost.signal() }
        }
    }

    private func content(_ tries: Int = 3) -> PromptContent {
        PromptContent(method: .passcode, notice: .none, triesLeft: tries, showsFallback: false)
    }

    /// Shows a prompt with a script in place of `latchkey-prompt`, and waits until the script says that it runs.
    private func show(
        _ script: String, restoring: String = "exit 0", as user: UserIdentity? = nil
    ) throws -> (TerminalPrompter, Events, pid_t) {
        try #require(chmod(folder.path, 0o777) == 0)
        if let user { try #require(chown(terminal.path, user.userID, user.groupID) == 0) }
        let text = """
            #!/bin/sh
            cd \(folder.path)
            if [ "$1" = --restore ]; then echo "$2 $(id -u)" >restoring; \(restoring); fi
            echo $$ >started.new; mv started.new started
            \(script)
            """
        try ScriptFile.write(text, to: folder.path + "/prompt", mode: 0o755)
        let own = UserIdentity(userID: geteuid(), groupID: getegid())
        let prompter = TerminalPrompter(program: folder.path + "/prompt") { _ in user ?? own }
        let events = Events()
        let shown = Prompt(
            id: Self.prompt, caller: "notes", processID: getpid(), reason: "", cancelTitle: "", fallbackTitle: "",
            faceUsage: "", sensor: .none, tier: .file, terminal: device, userID: user?.userID ?? geteuid(),
            content: content())
        prompter.show(shown) { events.add($0) }
        let process = try #require(pid_t(try read("started")))
        return (prompter, events, process)
    }

    /// The content of a file that a script writes.
    private func read(_ name: String) throws -> String {
        let deadline = Uptime.deadline(seconds: 20)
        while access(folder.path + "/" + name, R_OK) != 0 {
            try #require(Uptime.nanoseconds < deadline, "\(name) was not written")
            sched_yield()
        }
        let bytes = try Descriptor.open(folder.path + "/" + name, O_RDONLY).readAll(limit: 4096)
        return String(String(decoding: bytes, as: UTF8.self).dropLast())
    }

    private func milliseconds(_ body: () -> Void) -> Int64 {
        let begin = Uptime.nanoseconds
        body()
        return (Uptime.nanoseconds - begin) / 1_000_000
    }

    @Test(.promise("prompt.hanging"), arguments: ["kill -STOP $$", "trap '' TERM HUP; while :; do sleep 1; done"])
    func aPromptThatHangsIsKilledAfterItsDismissalWithoutHoldingTheCaller(script: String) throws {
        let (prompter, events, process) = try show(script)
        #expect(milliseconds { prompter.dismiss(Self.prompt) { events.gone.signal() } } < 500)
        #expect(events.gone.wait(timeout: .now()) == .timedOut, "its place is not free yet")
        #expect(events.gone.wait(timeout: .now() + 20) == .success)
        #expect(Processes.hasEnded(process, within: 0))
        #expect(events.all.isEmpty, "no event after the dismissal")
    }

    @Test(.promise("prompt.hanging")) func messagesToAPromptThatReadsNoneNeverBlock() throws {
        let (prompter, events, process) = try show("while :; do sleep 1; done")
        #expect(
            milliseconds {
                // Many times what a socket holds.
                for number in 0..<20_000 { prompter.update(Self.prompt, content(number % 5)) }
            } < 5_000)
        prompter.dismiss(Self.prompt) { events.gone.signal() }
        #expect(events.gone.wait(timeout: .now() + 20) == .success)
        #expect(Processes.hasEnded(process, within: 0))
    }

    @Test(.promise("terminal.restored")) func aKilledPromptIsReportedLostAfterItsTerminalWasRestored() throws {
        let (_, events, process) = try show("while :; do sleep 1; done")
        kill(process, SIGKILL)
        #expect(events.lost.wait(timeout: .now() + 20) == .success)
        let words = try read("restoring").split(separator: " ")
        #expect(words.count == 2 && words[0].count == 2 * MemoryLayout<termios>.size)
        #expect(words.last == "\(geteuid())")
    }

    @Test func aPromptThatEndsByItselfLeavesTheTerminalAsItIs() throws {
        let (_, events, _) = try show("exit 0")
        #expect(events.lost.wait(timeout: .now() + 20) == .success)
        #expect(access(folder.path + "/restoring", F_OK) != 0)
    }

    @Test(.promise("prompt.hanging"), .needs(.root)) func theTerminalOfAnotherUserIsRestoredByAProcessOfThatUser()
        throws
    {
        let user = UserIdentity(userID: 64_341, groupID: 64_341)
        let (_, events, process) = try show("while :; do sleep 1; done", as: user)
        kill(process, SIGKILL)
        #expect(events.lost.wait(timeout: .now() + 20) == .success)
        #expect(try read("restoring").hasSuffix(" 64341"))
    }

    /// Before, the service itself wrote to the terminal, and the thread of the prompt never ended.
    @Test(.promise("prompt.hanging")) func aStoppedTerminalHoldsNothing() throws {
        let held = try Descriptor.open(terminal.path, O_RDWR | O_NOCTTY)
        let before = try Descriptor.open("/proc/self/task", O_RDONLY | O_DIRECTORY).names(limit: 1 << 20).count
        for _ in 0..<3 {
            let (prompter, events, process) = try show(
                "while :; do sleep 1; done", restoring: "head -c 1000000 /dev/zero; sleep 1000")
            #expect(tcflow(held.number, CInt(TCOOFF)) == 0)
            kill(process, SIGKILL)
            #expect(events.lost.wait(timeout: .now() + 20) == .success)
            prompter.dismiss(Self.prompt) { events.gone.signal() }
            #expect(events.gone.wait(timeout: .now()) == .success)
            #expect(tcflow(held.number, CInt(TCOON)) == 0 && tcflush(held.number, CInt(TCOFLUSH)) == 0)
            #expect(unlink(folder.path + "/started") == 0)
        }
        let after = try Descriptor.open("/proc/self/task", O_RDONLY | O_DIRECTORY).names(limit: 1 << 20).count
        print("threads before and after: \(before), \(after)")
        #expect(ChildProcess.unreapedCount == 0)
    }

    @Test func aPromptThatSendsGarbageIsLost() throws {
        let (prompter, events, process) = try show("printf 'no frame' >&3; while :; do sleep 1; done")
        #expect(events.lost.wait(timeout: .now() + 20) == .success, "an invalid message loses the prompt")
        prompter.dismiss(Self.prompt) { events.gone.signal() }
        #expect(events.gone.wait(timeout: .now()) == .success, "its place is free")
        #expect(Processes.hasEnded(process, within: 0))
    }
}
