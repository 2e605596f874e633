// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import Glibc
import LatchkeyModel
import LatchkeySystem
import Synchronization
import TestPromises
import TestSupport
import Testing

/// A prompt of another user runs as that user, and only on a terminal of that user.
@Suite(.needs(.root)) struct OtherUserTerminalTests {
    /// User ids without an account.
    private static let user = UserIdentity(userID: 64_321, groupID: 64_322)
    private static let stranger: uid_t = 64_323

    private let terminal: PseudoTerminal
    private let device: UInt64

    init() throws {
        terminal = try PseudoTerminal()
        var status = stat()
        #expect(stat(terminal.path, &status) == 0)
        device = UInt64(status.st_rdev)
        #expect(chown(terminal.path, Self.user.userID, Self.user.groupID) == 0)
    }

    private func start(
        _ command: String, as user: UserIdentity = user, channel: Descriptor
    ) throws(SystemError) -> (process: ChildProcess, terminal: OpenedTerminal) {
        try ChildProcess.start(
            "/bin/sh", ["-c", command], environment: ["ONLY=this"], onTerminal: device, as: user, channel: channel)
    }

    /// The terminal's output until all programs have closed it.
    private func output() -> String { terminal.readToEnd().replacing("\r\n", with: "\n") }

    @Test(.promise("prompt.terminal")) func theProgramHasNoRightOfTheService() throws {
        let (near, far) = try Sockets.pair()
        let started = try start(
            "id -u; id -g; id -G; grep -E '^(Uid|CapEff|CapPrm|NoNewPrivs)' /proc/self/status; echo done >&3",
            channel: far)
        #expect(started.process.end(within: 20) == .exited(0))
        var modes = termios()
        #expect(tcgetattr(started.terminal.descriptor.number, &modes) == 0)
        #expect(started.terminal.modes.c_lflag == modes.c_lflag && started.terminal.modes.c_iflag == modes.c_iflag)
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(read(near.number, &bytes, 16) == 5, "descriptor 3 is the channel")
        let number = Self.user.userID
        let expected = """
            64321
            64322
            64322
            Uid:\t\(number)\t\(number)\t\(number)\t\(number)
            CapPrm:\t0000000000000000
            CapEff:\t0000000000000000
            NoNewPrivs:\t1

            """
        withExtendedLifetime(started) {}
        #expect(try readAll(Terminal(started.terminal.descriptor)) == expected)
    }

    /// Reads what was written so far: the terminal stays open while `held` exists.
    private func readAll(_ held: Terminal) throws -> String {
        held.write("\u{4}")
        let output = try #require(terminal.read(through: "\u{4}"))
        return String(output.dropLast()).replacing("\r\n", with: "\n")
    }

    @Test(.promise("prompt.terminal")) func theProgramInheritsNothingElse() throws {
        let (_, far) = try Sockets.pair()
        let leaked = try Descriptor.open("/dev/null", O_RDONLY)
        #expect(fcntl(leaked.number, F_SETFD, 0) == 0)
        // The shell lists its own descriptors, so that those of a pipe are not among them. The fifth is the listed folder.
        let started = try start("cd /proc/$$/fd; echo *; /usr/bin/env | grep -c LATCHKEY_", channel: far)
        started.process.end(within: 20)
        #expect(try readAll(Terminal(started.terminal.descriptor)) == "0 1 2 3 4\n0\n")
        withExtendedLifetime(leaked) {}
    }

    @Test(.promise("attacker.other-user")) func aTerminalOfAnotherUserIsRefused() throws {
        let (_, far) = try Sockets.pair()
        // The mode would allow everybody to open it.
        #expect(chmod(terminal.path, 0o666) == 0)
        for owner in [Self.stranger, 0] {
            #expect(chown(terminal.path, owner, owner) == 0)
            #expect(throws: SystemError.self) { try start("echo opened", channel: far) }
        }
        #expect(chown(terminal.path, Self.user.userID, 0) == 0)
        let held = try #require(Terminal.open(device: device, ownedBy: Self.user.userID))
        #expect(try readAll(held).isEmpty, "nothing was written")
    }

    @Test func aTerminalThatTheUserMayNotOpenIsRefused() throws {
        let (_, far) = try Sockets.pair()
        #expect(chmod(terminal.path, 0o000) == 0)
        #expect(throws: SystemError.self) { try start("echo opened", channel: far) }
    }

    @Test func aDeviceThatIsNoTerminalIsRefused() throws {
        let (_, far) = try Sockets.pair()
        var status = stat()
        #expect(stat("/dev/null", &status) == 0)
        #expect(throws: SystemError.self) {
            try ChildProcess.start(
                "/bin/true", [], environment: [], onTerminal: UInt64(status.st_rdev), as: Self.user, channel: far)
        }
    }

    // MARK: - The prompter

    private func prompt(user: UInt32) -> Prompt {
        Prompt(
            id: 1, caller: "notes", processID: getpid(), reason: "", cancelTitle: "", fallbackTitle: "", faceUsage: "",
            sensor: .none, tier: .file, terminal: device, userID: user,
            content: PromptContent(method: .passcode, notice: .none, triesLeft: 3, showsFallback: false))
    }

    private func firstEvent(
        of user: UInt32, _ identity: @escaping @Sendable (UInt32) -> UserIdentity?
    ) async -> PromptEvent {
        // A program that ends at once, so that its prompt is lost, or unavailable if it was not started.
        let prompter = TerminalPrompter(program: "/bin/true", asUser: identity)
        let prompt = prompt(user: user)
        return await withCheckedContinuation { continuation in
            prompter.show(prompt) { continuation.resume(returning: $0) }
        }
    }

    @Test(.promise("prompt.terminal")) func promptRunsAsTheUserWhoOwnsTheTerminal() async {
        #expect(await firstEvent(of: Self.user.userID) { _ in Self.user } == .lost)
        #expect(await firstEvent(of: Self.stranger) { UserIdentity(userID: $0, groupID: $0) } == .unavailable)
    }

    @Test(.promise("prompt.terminal")) func promptWithoutAnIdentityOfItsUserIsUnavailable() async {
        #expect(await firstEvent(of: Self.user.userID) { _ in nil } == .unavailable)
        #expect(await firstEvent(of: Self.stranger) { _ in Self.user } == .unavailable)
    }
}
