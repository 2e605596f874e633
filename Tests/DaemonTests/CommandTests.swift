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

    @Test func userTierRefusesSimulation() throws {
        let answer = try run("sim", "touch")
        #expect(answer.exitCode == 77)
        #expect(answer.errors.contains("runs in tier user and simulates nothing"))
    }

    @Test func currentSetItemIsRefusedWithoutSensor() throws {
        _ = try run("passcode", "set", input: "1234\n")
        let answer = try run("set", "bound", "--protect", "current-set", input: "x")
        #expect(answer.exitCode == 77)
        #expect(
            answer.errors.contains("needs a sensor") && answer.errors.contains("latchkey doctor"), "\(answer.errors)")
    }

    @Test func demoRunsWithoutTerminal() throws {
        let demo = try daemon.run("latchkey-demo", [])
        #expect(demo.exitCode == 0, "\(demo.output)\(demo.errors)")
        #expect(demo.output.contains("every step was checked"))
    }
}
