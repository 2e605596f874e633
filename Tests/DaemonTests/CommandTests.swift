// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import Testing

/// Tests of the command line as scripts use it: standard streams, exit codes, JSON.
@Suite struct CommandTests {
    private let daemon: TestDaemon

    init() throws { daemon = try TestDaemon() }

    private func run(_ arguments: String..., input: String = "") throws -> Finished {
        try daemon.run("latchkey", arguments, input: input)
    }

    /// The advice of statuses, such as «See: latchkey doctor».
    @Test func adviceNamesCommandsThatExist() throws {
        var named = 0
        for status in Status.allCases {
            let advice = status.advice.description
            guard let range = advice.firstRange(of: "latchkey ") else { continue }
            let words = advice[range.upperBound...].split(separator: " ").filter { !$0.hasPrefix("-") }
            let help = try daemon.run("latchkey", ["help"] + words.map(String.init))
            #expect(help.exitCode == 0, "\(advice): \(help.errors)")
            named += 1
        }
        #expect(named > 10)
    }

    @Test func secretIsReturnedUnchanged() throws {
        #expect(try run("set", "--protect", "none", "token", input: "line one\nline two\n").exitCode == 0)
        let got = try run("get", "token")
        #expect(got.output == "line one\nline two\n")
        #expect(got.errors.isEmpty)
    }

    @Test func existingItemIsReplacedOnlyOnRequest() throws {
        _ = try run("set", "--protect", "none", "token", input: "old")
        let refused = try run("set", "--protect", "none", "token", input: "new")
        #expect(refused.exitCode == 73)
        #expect(
            refused.errors == "error: token exists already.\nhint: Replace it with --replace, or delete it first.\n")
        #expect(try run("get", "token").output == "old")
        #expect(try run("set", "--protect", "none", "token", "--replace", input: "new").exitCode == 0)
        #expect(try run("get", "token").output == "new")
    }

    @Test func listShowsNamesAndNoSecret() throws {
        _ = try run(
            "set", "--protect", "none", "token", "--service", "mail", "--label", "Work \u{1b}[31mred", input: "hidden")
        let table = try run("list")
        #expect(table.output.contains("token") && table.output.contains("mail"))
        #expect(!table.output.contains("hidden") && !table.output.contains("\u{1b}"))
        let json = try run("list", "--json")
        #expect(json.output.contains("\"name\":\"token\"") && json.output.contains("\\u001b[31mred"))
    }

    /// Names that another program chose: a sequence in 8 bits, an override of the direction, a separator of lines, a character
    /// without a width, and a line of their own.
    private static let hostile = "evil\u{9b}2J\u{202e}txt\u{2028}\u{200b}\u{1b}]0;x\u{7}\nerror: forged"

    /// What a person or a program reads about items with hostile names.
    private func hostileOutputs() throws -> [(command: [String], finished: Finished)] {
        let name = Self.hostile
        let stored = try run("set", "--protect", "none", name, "--service", name, "--label", name, input: "x")
        #expect(stored.exitCode == 0, "\(stored.errors)")
        let app = try RawClient(daemon, hello: Request.Hello(application: name))
        #expect(try app.call(.adding(name)) == .done)
        let commands: [[String]] = [
            ["list"], ["list", "--all"], ["log"], ["status"], ["check"], ["apps"], ["key", "list"], ["get", name],
            ["get", name + "missing"], ["delete", name + "missing"], ["set", name], ["key", "show", name],
            ["help", name],
            [name], ["set", "x", "--protect", name], ["import", "/tmp/" + name], ["get", name, "--group", name],
            ["delete", name], ["reset", "--protected"], ["log", "--daemon"], ["sim", name], ["doctor"],
            ["complete", "--", name],
        ]
        return try commands.flatMap { command in
            try [command, command + ["--json"]].map { words in
                (words, try daemon.run("latchkey", words))
            }
        }
    }

    @Test(.promise("output.terminal")) func noOutputLetsANameControlTheTerminal() throws {
        let outputs = try hostileOutputs()
        #expect(outputs.contains { $0.finished.output.contains("evil") })
        #expect(outputs.contains { $0.finished.errors.contains("evil") })
        #expect(outputs.contains { $0.finished.output.contains("evil\\u009b2J\\u202etxt\\u2028\\u200b\\u001b") })
        for (command, finished) in outputs {
            // A secret is written as it is.
            for text in [finished.output, finished.errors] {
                let wrong = text.unicodeScalars.filter { $0.controlsText && $0 != "\n" && $0 != "\t" }
                #expect(wrong.isEmpty, "\(command): \(wrong.map { String($0.value, radix: 16) })")
                #expect(!text.contains("\nerror: forged") && !text.hasPrefix("error: forged"), "\(command): \(text)")
            }
        }
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
        _ = try run("set", "--protect", "none", "token", input: "x")
        #expect(try run("delete", "token").exitCode == 0)
        #expect(try run("get", "token").exitCode == 66)
    }

    @Test func wrongUsageIsExplained() throws {
        for arguments in [["set"], ["delete", "a", "b"], ["frobnicate"], ["list", "--nonsense"], ["sim", "dance"]] {
            let answer = try daemon.run("latchkey", arguments)
            #expect(answer.exitCode == 64, "\(arguments)")
            #expect(answer.errors.hasPrefix("error: ") && answer.errors.contains("hint: "), "\(answer.errors)")
        }
        #expect(try run("--help").output.contains("usage: latchkey COMMAND"))
        #expect(try run("get", "--help").exitCode == 0)
    }

    @Test func userTierRefusesSimulation() throws {
        // In an empty folder no daemon is started: `aVerbOfTheSimulatorStartsNoDaemon`.
        #expect(try run("set", "--protect", "none", "token", input: "secret").exitCode == 0)
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
