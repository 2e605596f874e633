// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// Tests of a prompt as shown on a terminal, of resizing the window, and of restoring the terminal.
@Suite struct PromptScreenTests {
    private let daemon: TestDaemon

    init() throws { daemon = try .withProtectedItem() }

    /// Starts a caller on this screen with additional environment variables.
    private func get(
        _ screen: Screen, _ name: String = "protected",
        _ variables: [String] = ["TERM=xterm-256color", "LC_ALL=C.UTF-8"]
    ) throws -> pid_t {
        try screen.terminal.spawn(
            TestDaemon.programs + "/latchkey", ["get", name], environment: daemon.environment + variables)
    }

    /// Authenticates, and expects that the caller succeeds and that no part of the prompt remains on the screen.
    private func finish(_ screen: Screen, _ caller: pid_t, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try screen.terminal.type("m")
        #expect(screen.shows { !$0.isOnAlternateScreen && $0.lines.last == "value" }, sourceLocation: sourceLocation)
        #expect(screen.model.isCursorVisible && screen.model.unknown.isEmpty, sourceLocation: sourceLocation)
        #expect(screen.model.lines.filter { !$0.isEmpty } == ["value"], sourceLocation: sourceLocation)
        #expect(Processes.wait(caller) == 0, sourceLocation: sourceLocation)
    }

    @Test(arguments: [20, 40, 80, 200] as [UInt16])
    func blockFitsWindowAndIsRemovedCompletely(_ columns: UInt16) throws {
        let screen = try Screen(columns: columns, rows: 30)
        let caller = try get(screen)
        #expect(screen.shows { $0.lines.last?.hasPrefix("╰") == true })
        let seen = screen.model.lines.joined(separator: " ")
        for words in ["latchkey” asks", "“read", "process", "Touch the sensor.", "3 tries left.", "Cancel"] {
            #expect(seen.contains(words), "\(words)")
        }
        #expect(!screen.model.hasWrapped && screen.model.isOnAlternateScreen)
        try screen.terminal.type("x")
        #expect(screen.shows { $0.lines.contains { $0.contains("Not recognised.") } && $0.lines.last?.first == "╰" })
        #expect(screen.shows("P Enter"))
        try finish(screen, caller)
    }

    /// With and without an alternate screen.
    @Test(arguments: ["xterm-256color", "linux"])
    func blockIsRedrawnCleanlyAfterResize(_ kind: String) throws {
        let screen = try Screen(columns: 80, rows: 30)
        let caller = try get(screen, "protected", ["TERM=\(kind)", "LC_ALL=C.UTF-8"])
        #expect(screen.shows { $0.lines.last?.hasPrefix("╰") == true })
        for (columns, rows) in [(40, 30), (20, 30), (200, 30), (80, 12), (81, 30)] as [(UInt16, UInt16)] {
            screen.resize(columns: columns, rows: rows)
            let width = min(74, Int(columns) - 1)
            let isRight = screen.shows { model in
                let (tops, bottoms) = (model.lines.filter { $0.first == "╭" }, model.lines.filter { $0.first == "╰" })
                // Checked together, because the block may be partly redrawn.
                return tops.map(\.count) == [width] && bottoms.map(\.count) == [width]
                    && bottoms.last == model.lines.last
                    && model.lines.count { $0.contains("Touch the sensor.") } == 1
            }
            #expect(isRight, "\(columns) by \(rows): \(screen.model.lines)")
            #expect(!screen.model.hasWrapped)
        }
        try finish(screen, caller)
    }

    @Test func noColourSuppressesStyles() throws {
        for (variables, isDressed) in [([], true), (["NO_COLOR=1"], false)] as [([String], Bool)] {
            let screen = try Screen()
            let caller = try get(screen, "protected", ["TERM=xterm", "LC_ALL=C.UTF-8"] + variables)
            #expect(screen.shows { $0.lines.last?.hasPrefix("╰") == true })
            #expect((screen.model.styles > 0) == isDressed)
            try finish(screen, caller)
        }
    }

    @Test(arguments: [["LATCHKEY_PROMPT=plain", "TERM=xterm"], ["TERM=dumb"], []])
    func plainPromptWritesOneLinePerChange(_ variables: [String]) throws {
        let screen = try Screen()
        let caller = try get(screen, "protected", variables)
        #expect(screen.hears("Touch the sensor. 3 tries left. Keys: Esc/Ctrl-C for Cancel."))
        try screen.terminal.type("x")
        #expect(screen.hears("Not recognised. 2 tries left. Touch the sensor."))
        #expect(screen.hears("P for Enter Passcode."))
        try screen.terminal.type("p")
        #expect(screen.hears("Type your passcode, then press Enter. It is not shown while you type. 3 tries left."))
        try screen.terminal.type("9\r")
        #expect(screen.hears("Checking the passcode."))
        #expect(screen.hears("The passcode is wrong. 2 tries left."))
        try screen.terminal.type("1234\r")
        #expect(screen.shows { $0.lines.last == "value" })
        let lines = screen.model.lines
        #expect(lines.suffix(3) == ["Checking the passcode.", "The Latchkey prompt is over.", "value"], "\(lines)")
        #expect(screen.model.unknown.isEmpty && screen.model.styles == 0)
        #expect(Processes.wait(caller) == 0)
    }

    /// The caller's variables are only used if they are short and printable.
    @Test(arguments: ["TERM=xterm\u{1b}[31m", "TERM=xterm" + String(repeating: "x", count: 100)])
    func invalidVariableOfCallerIsIgnored_abuse8(_ variable: String) throws {
        let screen = try Screen()
        let caller = try get(screen, "protected", [variable])
        #expect(screen.hears("Touch the sensor. 3 tries left. Keys: Esc/Ctrl-C for Cancel."))
        try screen.terminal.type("m")
        #expect(screen.hears("value"))
        #expect(Processes.wait(caller) == 0)
    }

    /// Abuse case 19 with the real daemon: the name of an item is part of the reason.
    @Test func hostileTextIsShownWithoutControlCharacters_abuse19() throws {
        let name =
            "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}drowssap\u{200b}" + String(repeating: "語🔑 ", count: 1_000)
        let stored = try daemon.run("latchkey", ["set", name, "--protect", "presence"], input: "value")
        #expect(stored.exitCode == 0, "\(stored.errors)")
        for columns in [20, 40, 80, 200] as [UInt16] {
            let screen = try Screen(columns: columns, rows: 40)
            let caller = try get(screen, name)
            #expect(screen.shows { $0.lines.last?.hasPrefix("╰") == true })
            #expect(screen.model.unknown.isEmpty && !screen.model.hasWrapped)
            let lines = screen.model.lines
            // Program and path are quoted as well, in lines before and after the reason.
            let start = try #require(lines.firstIndex { $0.contains("\u{fffd}[2J") })
            let reason = lines[start...].prefix { $0 != "│" }
            #expect((1...Limits.reasonLines).contains(reason.count), "\(reason)")
            #expect(reason.joined().contains("\u{fffd}[2J"), "\(reason)")
            try finish(screen, caller)
        }
    }

    @Test func promptWritesOnlyASCIIWithoutUTF8() throws {
        let screen = try Screen()
        let caller = try get(screen, "protected", ["TERM=xterm", "LC_ALL=C"])
        #expect(screen.shows { $0.lines.last?.hasPrefix("+-") == true })
        #expect(screen.model.lines.joined().utf8.allSatisfy { $0 < 0x80 })
        try finish(screen, caller)
    }

    @Test func facePermissionIsRequestedFirst_LA07() throws {
        for arguments in [["sim", "sensor", "face"], ["sim", "enrol"]] {
            #expect(try daemon.run("latchkey", arguments).exitCode == 0)
        }
        let screen = try Screen()
        let caller = try get(screen)
        #expect(screen.shows("Y Allow   N Do Not Allow   Esc/Ctrl-C Cancel"))
        #expect(screen.shows("It uses the camera for “Latchkey shows"))
        try screen.terminal.type("y")
        #expect(screen.shows("Look at the sensor."))
        try finish(screen, caller)
    }

    // MARK: - End of a prompt

    /// The process id of the process that shows the prompt.
    private func prompter(_ screen: Screen) throws -> pid_t {
        #expect(screen.shows { $0.lines.last?.hasPrefix("╰") == true })
        return try #require(screen.model.lines.joined().number(after: "Latchkey prompt, process "))
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGKILL])
    func terminatedPromptRestoresScreenAndModes(_ signal: CInt) throws {
        let screen = try Screen()
        let keeper = Terminal(try Descriptor.open(screen.terminal.path, O_RDWR | O_NOCTTY))
        let before = try #require(keeper.modes())
        let caller = try get(screen)
        kill(try prompter(screen), signal)
        #expect(screen.shows("ended by the system"))
        #expect((Processes.wait(caller) >> 8) & 0xff == 77)
        let after = try #require(keeper.modes())
        #expect(after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag, "the modes are restored")
        #expect(!screen.model.isOnAlternateScreen && screen.model.isCursorVisible)
        #expect(!screen.model.lines.joined().contains("Touch the sensor"), "\(screen.model.lines)")
    }

    @Test func controlZIsIgnoredAndControlCCancels() throws {
        let screen = try Screen()
        let caller = try get(screen)
        _ = try prompter(screen)
        try screen.terminal.type("\u{1a}\u{1c}\u{13}x")
        #expect(screen.shows("Not recognised. 2 tries left."))
        #expect(TerminalJob(caller)?.isStopped == false)
        try screen.terminal.type("\u{3}")
        #expect(screen.shows("Authentication was cancelled"))
        #expect((Processes.wait(caller) >> 8) & 0xff == 77)
    }

    @Test func stoppedCallerLosesItsPrompt_LA32() throws {
        let screen = try Screen()
        let caller = try get(screen)
        _ = try prompter(screen)
        kill(caller, SIGSTOP)
        #expect(screen.shows { !$0.isOnAlternateScreen && $0.lines.isEmpty })
        kill(caller, SIGCONT)
        #expect(screen.shows("ended by the system"))
        #expect((Processes.wait(caller) >> 8) & 0xff == 77)
    }

    @Test func shellThatTakesTerminalKeepsItsModes_LA32() throws {
        let screen = try Screen()
        let keeper = Terminal(try Descriptor.open(screen.terminal.path, O_RDWR | O_NOCTTY))
        let caller = try get(screen)
        _ = try prompter(screen)
        // Sets other modes than the prompt's, as a line editor would.
        var taken = try #require(keeper.modes())
        taken.c_lflag |= tcflag_t(ISIG)
        keeper.restore(taken)
        #expect(screen.shows("ended by the system"))
        #expect((Processes.wait(caller) >> 8) & 0xff == 77)
        #expect(keeper.modes()?.c_lflag == taken.c_lflag)
    }

    /// If both read keys, parts of a passcode could reach the shell's history.
    @Test func backgroundCallerTakesNoKeysFromLineEditor_LA31() throws {
        let screen = try Screen()
        let keeper = Terminal(try Descriptor.open(screen.terminal.path, O_RDWR | O_NOCTTY))
        var edited = try #require(keeper.modes())
        edited.c_lflag &= ~tcflag_t(ICANON)
        keeper.restore(edited)
        let shell = try screen.terminal.spawn(
            "/bin/sh", ["-c", "set -m; \(TestDaemon.programs)/latchkey get protected & wait"],
            environment: daemon.environment + ["TERM=xterm"])
        #expect(screen.shows("No prompt can be shown here"))
        #expect(!screen.model.lines.joined().contains("Touch the sensor"))
        Processes.wait(shell)
    }

    @Test func terminalHangupEndsRequest() throws {
        var screen: Screen? = try Screen()
        let caller = try get(try #require(screen))
        _ = try prompter(try #require(screen))
        screen = nil
        // The hang-up ends the caller and with it the prompt, so that the next one can be shown.
        Processes.wait(caller)
        let next = try Screen()
        let other = try get(next)
        _ = try prompter(next)
        try finish(next, other)
    }

    @Test func arrowKeysDoNotCancel() throws {
        let screen = try Screen()
        let caller = try get(screen)
        _ = try prompter(screen)
        for key in ["\u{1b}[A", "\u{1b}OP", "\u{1b}[1;5C"] { try screen.terminal.type(key) }
        try screen.terminal.type("x")
        #expect(screen.shows("Not recognised. 2 tries left."))
        try finish(screen, caller)
    }
}
