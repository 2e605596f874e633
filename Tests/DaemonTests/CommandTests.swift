// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// Tests of the command line as scripts use it: standard streams, exit codes, JSON.
@Suite struct CommandTests {
    private let daemon: TestDaemon

    init() throws { daemon = try TestDaemon() }

    private func run(_ arguments: String..., input: String = "") throws -> Finished {
        try daemon.run("latchkey", arguments, input: input)
    }

    @Test func secretIsReturnedUnchanged() throws {
        #expect(try run("set", "token", input: "line one\nline two\n").exitCode == 0)
        let got = try run("get", "token")
        #expect(got.output == "line one\nline two\n")
        #expect(got.errors.isEmpty)
    }

    @Test func existingItemIsReplacedOnlyOnRequest() throws {
        _ = try run("set", "token", input: "old")
        let refused = try run("set", "token", input: "new")
        #expect(refused.exitCode == 73)
        #expect(
            refused.errors == "error: token exists already.\nhint: Replace it with --replace, or delete it first.\n")
        #expect(try run("get", "token").output == "old")
        #expect(try run("set", "token", "--replace", input: "new").exitCode == 0)
        #expect(try run("get", "token").output == "new")
    }

    @Test func listShowsNamesAndNoSecret() throws {
        _ = try run("set", "token", "--service", "mail", "--label", "Work \u{1b}[31mred", input: "hidden")
        let table = try run("list")
        #expect(table.output.contains("token") && table.output.contains("mail"))
        #expect(!table.output.contains("hidden") && !table.output.contains("\u{1b}"))
        let json = try run("list", "--json")
        #expect(json.output.contains("\"name\":\"token\"") && json.output.contains("\\u001b[31mred"))
    }

    @Test(arguments: [
        (["list", "-qz"], "-q"), (["list", "-jq"], "-q"), (["list", "--json", "-v"], "-v"), (["list", "--no"], "--no"),
        (["set", "--re", "a"], "--re"),
    ]) func unknownOptionIsNamed(words: [String], option: String) throws {
        let refused = try daemon.run("latchkey", words)
        #expect(refused.exitCode == 64)
        #expect(refused.errors.hasPrefix("error: unknown option \(option)\n"), "\(refused.errors)")
    }

    @Test func terminatingSignalRestoresEcho() throws {
        let screen = try Screen()
        let keeper = Terminal(try Descriptor.open(screen.terminal.path, O_RDWR | O_NOCTTY))
        let before = try #require(keeper.modes()).c_lflag
        let caller = try screen.terminal.spawn(
            TestDaemon.programs + "/latchkey", ["set", "token"], environment: daemon.environment)
        #expect(screen.hears("Secret for token: "))
        #expect(keeper.modes()?.c_lflag != before)
        kill(caller, SIGTERM)
        #expect(Processes.wait(caller) & 0x7f == SIGTERM)
        #expect(keeper.modes()?.c_lflag == before)
    }

    @Test func existingItemIsRefusedBeforeSecretIsTyped() throws {
        #expect(try run("set", "token", input: "x").exitCode == 0)
        let screen = try Screen()
        let caller = try screen.terminal.spawn(
            TestDaemon.programs + "/latchkey", ["set", "token"], environment: daemon.environment)
        let said = screen.everything()
        #expect(said.contains("token exists already") && !said.contains("Secret for"), "\(said)")
        #expect((Processes.wait(caller) >> 8) & 0xff == 73)
    }

    @Test func backgroundCommandThatPromptsCanBeEnded() throws {
        let screen = try Screen()
        let shell = try screen.terminal.spawn(
            "/bin/bash",
            [
                "-c",
                """
                set -m; \(TestDaemon.programs)/latchkey set token & p=$!; wait $p; echo "stopped by $(kill -l $?)"
                kill %1; while kill -0 $p 2> /dev/null; do :; done; echo "it ended"
                """,
            ], environment: daemon.environment)
        defer {
            kill(shell, SIGKILL)
            Processes.wait(shell)
        }
        #expect(screen.hears("stopped by TTOU"))
        #expect(screen.hears("it ended"))
    }

    @Test(arguments: [4096, 4097]) func tooLongTypedSecretIsRefused(count: Int) throws {
        let screen = try Screen()
        let caller = try screen.terminal.spawn(
            TestDaemon.programs + "/latchkey", ["set", "token"], environment: daemon.environment)
        #expect(screen.hears("Secret for token: "))
        let secret = String(repeating: "x", count: count)
        try screen.terminal.type(secret + "\r")
        let said = screen.everything()
        let exitCode = (Processes.wait(caller) >> 8) & 0xff
        let got = try run("get", "token")
        if count > 4096 {
            #expect(exitCode == 64 && said.contains("4096 bytes"), "\(said)")
            #expect(got.exitCode == 66)
        } else {
            #expect(exitCode == 0 && got.output == secret, "\(said)")
        }
    }

    @Test func missingItemHasItsOwnExitCode() throws {
        #expect(try run("get", "nothing").exitCode == 66)
        #expect(try run("delete", "nothing").exitCode == 66)
        _ = try run("set", "token", input: "x")
        #expect(try run("delete", "token").exitCode == 0)
        #expect(try run("get", "token").exitCode == 66)
    }

    @Test func wrongUsageIsExplained() throws {
        for arguments in [["set"], ["get", "a", "b"], ["frobnicate"], ["list", "--nonsense"], ["sim", "dance"]] {
            let answer = try daemon.run("latchkey", arguments)
            #expect(answer.exitCode == 64, "\(arguments)")
            #expect(answer.errors.hasPrefix("error: ") && answer.errors.contains("hint: "), "\(answer.errors)")
        }
        #expect(try run("--help").output.contains("usage: latchkey COMMAND"))
        #expect(try run("get", "--help").exitCode == 0)
    }

    /// Runs `latchkey passcode VERB` on a terminal and types each line when its prompt has appeared.
    private func passcode(_ verb: String, _ lines: [(asked: String, typed: String)]) throws -> (String, CInt) {
        let screen = try Screen()
        let caller = try screen.terminal.spawn(
            TestDaemon.programs + "/latchkey", ["passcode", verb], environment: daemon.environment)
        for (asked, typed) in lines {
            #expect(screen.hears(asked), "\(verb): \(asked)")
            try screen.terminal.type(typed)
        }
        let rest = screen.everything()
        return (rest, Processes.wait(caller) >> 8)
    }

    @Test func passcodeIsSetChangedCheckedAndRemoved() throws {
        #expect(try run("passcode", "set", input: "123\n").errors.contains("at least 4 characters"))
        #expect(try run("passcode", "set", input: "1234\n").exitCode == 0)
        #expect(try run("passcode", "set", input: "1234\n").exitCode == 77)
        #expect(try run("passcode", "remove").exitCode == 77, "no prompt can be shown")
        let prompt = "Type your passcode, then press Enter."
        let wrong = try passcode(
            "change",
            [
                ("Use at least 6 digits or 8 characters", ""), ("New passcode: ", "5678\r"),
                ("The same again: ", "5678\r"), ("change the passcode of this keychain.", ""), (prompt, "0000\r"),
                ("The passcode is wrong.", "\u{1b}"),
            ])
        #expect(wrong.1 == 77, "\(wrong.0)")
        #expect(
            try passcode(
                "change", [("New passcode: ", "5678\r"), ("The same again: ", "5678\r"), (prompt, "1234\r")]
            ).1 == 0)
        #expect(try passcode("check", [(prompt, "5678\r")]).1 == 0)
        let removed = try passcode("remove", [("remove the passcode of this keychain", ""), (prompt, "5678\r")])
        #expect(removed.1 == 0, "\(removed.0)")
        #expect(try run("status", "--json").output.contains("\"passcode\":false"))
    }

    @Test func wrongPasscodesDelayEntryAndPromptCountsDown_LA30() throws {
        #expect(try run("passcode", "set", input: "1234\n").exitCode == 0)
        let prompt = "Type your passcode, then press Enter."
        let wrong = try passcode(
            "check", [(prompt, "0000\r"), ("The passcode is wrong.", "0001\r"), ("The passcode is wrong.", "0002\r")])
        #expect(wrong.1 == 77)
        // While entry is delayed, typed text does not count as an attempt; afterwards the right passcode is accepted.
        let delayed = try passcode(
            "check",
            [("Try again in ", "9999\r"), (prompt, "1234\r")])
        #expect(delayed.1 == 0, "\(delayed.0)")
    }

    @Test func userTierRefusesSimulation() throws {
        let answer = try run("sim", "touch")
        #expect(answer.exitCode == 77)
        #expect(answer.errors.contains("runs in tier user and simulates nothing"))
    }

    @Test func currentSetItemIsRefusedWithoutSensor() throws {
        _ = try run("passcode", "set", input: "1234\n")
        let answer = try run("set", "bound", "--protect", "current-set", input: "x")
        #expect(answer.exitCode == 77)
        #expect(answer.errors.contains("no sensor") && answer.errors.contains("Tier user"), "\(answer.errors)")
    }

    @Test func demoRunsWithoutTerminal() throws {
        let demo = try daemon.run("latchkey-demo", [])
        #expect(demo.exitCode == 0, "\(demo.output)\(demo.errors)")
        #expect(demo.output.contains("every step was checked"))
    }
}
