// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import Testing

/// Tests of finding and starting the daemon.
@Suite struct StartTests {
    @Test func simultaneousFirstCallersReachOneDaemon() throws {
        let daemon = try TestDaemon()
        let callers = try (0..<64).map { _ in
            let (near, far) = try Sockets.pair()
            let process = try Processes.spawn(
                TestDaemon.programs + "/latchkey-test-client", ["whose"], environment: daemon.environment,
                descriptors: [nil, far, nil])
            return (near, process)
        }
        var answers: Set<String> = []
        for (near, process) in callers {
            let status = Processes.wait(process)
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = read(near.number, &buffer, buffer.count)
            answers.insert(String(decoding: buffer[..<max(0, count)], as: UTF8.self))
            #expect(status == 0)
        }
        #expect(answers.count == 1, "\(answers)")
        #expect(answers.first == (try daemon.process).map { "\($0)\n" })
    }

    @Test func simultaneousProcessesLoseNoItems() throws {
        let daemon = try TestDaemon()
        let processes = try (0..<64).map { number in
            try Processes.spawn(
                TestDaemon.programs + "/latchkey-test-client", ["mix", "writer \(number)"],
                environment: daemon.environment, descriptors: [nil, nil, nil])
        }
        for process in processes { #expect(Processes.wait(process) == 0) }
        let report = try daemon.run("latchkey", ["status", "--json"])
        #expect(report.output.contains("\"items\":1280"), "\(report.output)\(report.errors)")
    }

    @Test(.promise("abuse.38")) func exactlyOneOfManyProcessesAddsAnItem_KC05_abuse38() throws {
        let daemon = try TestDaemon()
        let racers = try (0..<16).map { number in
            let (near, far) = try Sockets.pair()
            let process = try Processes.spawn(
                TestDaemon.programs + "/latchkey-test-client", ["race", "racer \(number)"],
                environment: daemon.environment, descriptors: [nil, far, nil])
            return (near, process)
        }
        var won = 0
        for (near, process) in racers {
            #expect(Processes.wait(process) == 0)
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = max(0, read(near.number, &buffer, buffer.count))
            let text = String(decoding: buffer[..<count], as: UTF8.self)
            won += try #require(Int(text.filter { !$0.isNewline }), "\(text)")
        }
        #expect(won == 20)
        #expect(try daemon.run("latchkey", ["status", "--json"]).output.contains("\"items\":20,"))
    }

    @Test func commandSubstitutionReturnsWhileDaemonRuns() throws {
        // The daemon must not hold the pipe of its first caller open.
        let daemon = try TestDaemon()
        let shell = try daemon.script("x=$(latchkey status --json); echo \"got $x\"")
        #expect(shell.output.hasPrefix("got {\"tier\":\"user\""), "\(shell.output)\(shell.errors)")
        #expect(try daemon.process != nil)
    }

    @Test func failingDaemonIsStartedWithBackOff() throws {
        let daemon = try TestDaemon()
        // It logs no reason, as one that the kernel ends. The shell creates the program: a file that this process had open
        // for writing may fail with ETXTBSY.
        let caller = try daemon.script(
            """
            cd "$LATCHKEY_HOME"; printf '#!/bin/sh\necho >> "$LATCHKEY_HOME/starts"\nexit 1\n' > counting
            chmod +x counting
            LATCHKEY_DAEMON="$PWD/counting" latchkey status
            """)
        #expect(caller.exitCode == 69 && caller.errors.contains("did not start within"), "\(caller)")
        let starts = try #require(try Files.read(daemon.folder + "/starts", limit: 1 << 16)).count
        #expect((2...20).contains(starts), "\(starts) starts in ten seconds")
    }

    @Test func idleDaemonExitsAndRestartsWithItsItems() throws {
        let daemon = try TestDaemon()
        try daemon.write("idle_exit_seconds = 1\n", to: "latchkeyd.conf")
        #expect(try daemon.run("latchkey", ["set", "--protect", "none", "kept"], input: "value").exitCode == 0)
        let first = try daemon.run("latchkey-test-client", ["whose"]).output
        // A daemon that exits normally empties the lock file.
        let lock = try DaemonLock.open(daemon.folder)
        let watch = try FileWatch(daemon.folder + "/" + DaemonLock.fileName)
        while DaemonLock.address(lock) != nil { try #require(try watch.wait(until: Uptime.deadline(seconds: 20))) }
        let again = try daemon.run("latchkey", ["get", "kept"])
        #expect(again.output == "value")
        let second = try daemon.run("latchkey-test-client", ["whose"]).output
        #expect(first != second, "\(first)\(second)")
        for process in [first, second] { #expect(Int32(process.dropLast()) != nil, "\(process)") }
    }

    @Test func callersWithAndWithoutRuntimeFolderReachSameDaemon() throws {
        let daemon = try TestDaemon()
        let with = try daemon.run(
            "latchkey-test-client", ["whose"], environment: ["XDG_RUNTIME_DIR=\(daemon.folder)"])
        let without = try daemon.run("latchkey-test-client", ["whose"])
        #expect(with.exitCode == 0)
        #expect(with.output == without.output)
    }

    @Test func missingDaemonIsReportedWithAdvice() throws {
        let daemon = try TestDaemon()
        let other = try Finished(
            TestDaemon.programs + "/latchkey", ["status"], input: "",
            environment: ["LATCHKEY_HOME=\(daemon.folder)", "LATCHKEY_DAEMON=/nowhere/latchkeyd"])
        #expect(other.exitCode == 69)
        #expect(other.errors.contains("error: latchkeyd is not installed: looked for /nowhere/latchkeyd"))
        #expect(other.errors.contains("hint: Install it with: make install PREFIX=~/.local"))
    }

    @Test func secCopyErrorMessageStringContainsTheAdvice() throws {
        let daemon = try TestDaemon()
        let app = try Finished(
            TestDaemon.programs + "/latchkey-test-client", ["read", "any"], input: "",
            environment: ["LATCHKEY_HOME=\(daemon.folder)", "LATCHKEY_DAEMON=/nowhere/latchkeyd"])
        #expect(app.output.contains("read -25291 nothing"), "\(app.output)")
        #expect(app.output.contains("make install PREFIX=~/.local"), "\(app.output)")
    }
}
