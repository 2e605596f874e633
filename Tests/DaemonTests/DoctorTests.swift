// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

/// `latchkey doctor` beside real daemons: each test makes a defect, runs the printed command, and asks again.
@Suite struct DoctorTests {
    private let daemon: TestDaemon

    init() throws { daemon = try TestDaemon() }

    /// A row of the output, and the command below it.
    private struct Row: Equatable {
        var state: String
        var found: String
        var command: String?
    }

    /// - Parameter settings: assignments to variables, as the shell takes them.
    private func row(_ name: String, settings: String = "") throws -> Row {
        let lines = try shell("\(settings) latchkey doctor").output.split(separator: "\n")
        let index = try #require(
            lines.firstIndex { line in
                let rest = line.drop { $0 != " " }.drop { $0 == " " }
                return rest.hasPrefix(name + " ") && !line.hasPrefix(" ")
            }, "\(lines)")
        let words = lines[index].split(separator: " ", maxSplits: 1)
        let found = words[1].drop { $0 == " " }.dropFirst(name.count).drop { $0 == " " }
        let below = index + 1 < lines.count ? lines[index + 1].drop { $0 == " " } : ""
        var command: String?
        for head in ["run: ", "run as root: "] where below.hasPrefix(head) {
            command = String(below.dropFirst(head.count))
        }
        return Row(state: String(words[0]), found: String(found), command: command)
    }

    private func shell(_ command: String, input: String = "") throws -> Finished {
        try daemon.script(command, input: input)
    }

    private func mend(_ row: Row, input: String = "") throws {
        let done = try shell(try #require(row.command), input: input)
        #expect(done.exitCode == 0, "\(row): \(done.errors)")
    }

    @Test func readyMachineNeedsNoAttention() throws {
        #expect(try shell("latchkey sim start --ready").exitCode == 0)
        let doctor = try daemon.run("latchkey", ["doctor"])
        #expect(doctor.exitCode == 0 && doctor.errors.isEmpty, "\(doctor)")
        let json = try daemon.run("latchkey", ["doctor", "--json"]).output
        #expect(json.hasPrefix("{\"ok\":true,\"rows\":[{\"name\":\"latchkey\",\"state\":\"ok\",\"found\":\"version "))
        #expect(
            json.contains("{\"name\":\"passcode\",\"state\":\"ok\",\"found\":\"set\",\"hint\":null,\"root\":false}"))
    }

    @Test func aReportHasFactsOfTheMachineAndNoNames() throws {
        let report = try shell("latchkey doctor --report")
        #expect(report.exitCode == 0, "a report is no verdict: \(report.errors)")
        #expect(report.output.contains("\nkernel: ") && report.output.contains("\ndoctor, passcode: "))
        let host = try shell("uname -n; id -un; pwd").output.split(separator: "\n").filter { $0.count > 4 }
        for name in host { #expect(!report.output.contains(name), "\(name)") }
        let json = try shell("latchkey doctor --report --json").output
        #expect(json.hasPrefix("[{\"name\":\"latchkey\",\"values\":[\""))
    }

    @Test func noDaemonIsStartedAndNothingIsCreated() throws {
        let service = try row("service")
        #expect(service.state == "absent" && service.command == nil)
        let passcode = try row("passcode")
        #expect(passcode.state == "attention" && passcode.command == "latchkey passcode set")
        #expect(!Files.exists(daemon.folder + "/" + DaemonLock.fileName))
        try mend(passcode, input: "1234\n")
        #expect(try row("service").state == "ok" && row("passcode").state == "ok")
    }

    /// Without a program for the daemon, all other rows are still shown.
    @Test func missingProgramOfTheDaemonIsNamed() throws {
        #expect(try shell("latchkey sim start --ready").exitCode == 0)
        let setting = "LATCHKEY_DAEMON=/nonexistent/latchkeyd"
        let found = try row("daemon program", settings: setting)
        #expect(found.state == "attention" && found.found.contains("/nonexistent/latchkeyd"))
        let failed = try shell(setting + " latchkey doctor")
        #expect(failed.exitCode == 1)
        #expect(failed.errors.contains("error: One line needs attention: daemon program."))
        #expect(failed.output.contains("compiler"))
        // The program beside this one is found then.
        let mended = try shell("export LATCHKEY_DAEMON=/nonexistent; \(found.command ?? "false"); latchkey doctor")
        #expect(
            mended.exitCode == 0 && mended.output.contains("\(TestDaemon.programs)/latchkeyd, version"), "\(mended)")
    }

    @Test func daemonOfAnotherVersionIsNamed() throws {
        try ScriptFile.write("#!/bin/sh\necho 'latchkeyd 0.0.9'\n", to: daemon.folder + "/old")
        let found = try row("daemon program", settings: "LATCHKEY_DAEMON=\(daemon.folder)/old")
        #expect(found.state == "attention" && found.found.contains("latchkeyd 0.0.9"))
        #expect(found.command == "unset LATCHKEY_DAEMON")
    }

    @Test func daemonThatDoesNotAnswerIsNamedInTime() throws {
        try daemon.start()
        let process = try #require(try daemon.process)
        kill(process, SIGSTOP)
        let begin = Uptime.nanoseconds
        let found = try row("service")
        #expect(found.state == "attention" && found.found.contains("process \(process)"), "\(found)")
        #expect(Uptime.nanoseconds - begin < 30_000_000_000)
        try mend(found)
        #expect(Processes.hasEnded(process, within: 20))
        try mend(try row("service"))
        #expect(try row("service").state == "ok")
    }

    @Test func missingPasscodeIsSetByThePrintedCommand() throws {
        try daemon.start()
        let found = try row("passcode")
        #expect(found.state == "attention")
        #expect(try daemon.run("latchkey", ["doctor"]).exitCode == 1)
        try mend(found, input: "1234\n")
        #expect(try row("passcode").state == "ok")
        #expect(try daemon.run("latchkey", ["doctor"]).exitCode == 0)
    }

    @Test func storeThatOthersCanReadIsMended() throws {
        try daemon.start()
        try #require(chmod(daemon.folder, 0o755) == 0)
        let found = try row("store")
        #expect(found.state == "attention" && found.command == "chmod 700 \(daemon.folder)")
        try mend(found)
        #expect(try row("store").state == "ok")
    }

    @Test func problemOfTheStoreIsShown() throws {
        #expect(try shell("latchkey status").exitCode == 0)
        let process = try #require(try daemon.process)
        kill(process, SIGKILL)
        #expect(Processes.hasEnded(process, within: 20))
        let anchor = daemon.folder + "/anchor"
        try #require(rename(anchor, anchor + ".away") == 0)
        // The daemon serves a store with a problem, too, and reports it.
        try daemon.start()
        let found = try row("store")
        #expect(found.state == "attention" && found.found.contains("anchor"), "\(found)")
        #expect(found.command == "latchkey check")
    }

    @Test func enclaveIsConfiguredByThePrintedCommand() throws {
        try daemon.start()
        let process = try #require(try daemon.process)
        let found = try row("enclave")
        #expect(found.state == "absent")
        try mend(found)
        #expect(Processes.hasEnded(process, within: 20))
        #expect(try shell("latchkey status").output.contains("software"))
        #expect(try row("enclave").state == "ok")
    }

    /// The shell of the user has a low limit of locked memory, and the daemon inherits it.
    @Test func limitOfLockedMemoryIsRaisedByThePrintedCommand() throws {
        let script = """
            ulimit -S -l 0; latchkey status > status; latchkey doctor > doctor
            command=$(sed -n '/^attention *memory /{n;s/^ *run: //p}' doctor)
            process=$(sed -n 's/^daemon *process //p' status)
            eval "$command" > ended || exit 3; tail --pid="$process" -f /dev/null
            latchkey status > /dev/null; latchkey doctor | grep ' memory '
            """
        // Root may exceed the limit, unless it has dropped CAP_IPC_LOCK.
        let limited = geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=-ipc_lock"] : []
        let done = try daemon.script("cd \(daemon.folder); " + script, shell: limited + ["/bin/sh", "-c"])
        #expect(done.output.hasPrefix("ok ") && done.output.contains("secrets are locked"), "\(done)")
    }
}
