// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// Tests of the daemon's own log.
@Suite struct DaemonLogTests {
    private let daemon: TestDaemon

    init() throws { daemon = try TestDaemon(simulated: true) }

    private func lines() throws -> [DaemonLogLine] { try DaemonLogFile.read(daemon.folder) }

    private func stop() throws {
        let process = try #require(try daemon.process)
        kill(process, SIGTERM)
        #expect(Processes.hasEnded(process, within: 20))
    }

    @Test func startAndStopAreLoggedAndReadWithoutDaemon() throws {
        try daemon.start()
        let process = try #require(try daemon.process)
        try stop()
        #expect(try lines().map(\.event) == ["started", "stopped"])
        #expect(try lines().allSatisfy { $0.processID == process && $0.severity == "notice" })
        var status = stat()
        #expect(lstat(daemon.folder + "/daemon.log", &status) == 0 && status.st_mode & 0o777 == 0o600)
        let text = try daemon.run("latchkey", ["log", "--daemon"])
        #expect(text.exitCode == 0 && text.output.contains("started") && text.output.contains("\(process)"))
        let json = try daemon.run("latchkey", ["log", "--daemon", "--json", "--limit", "1"])
        #expect(json.output.contains("\"event\":\"stopped\"") && !json.output.contains("started"), "\(json.output)")
        #expect(try daemon.process == nil, "showing the log starts no daemon")
    }

    @Test func failuresOfStoreAndConfigurationAreLogged() throws {
        try daemon.write("not a database", to: "keychain.sqlite")
        try daemon.write(String(repeating: "k", count: 32), to: "root.key")
        #expect(try daemon.run("latchkey", ["status"]).exitCode != 0)
        let line = try #require(try lines().first { $0.event == "storeUnusable" })
        #expect(line.severity == "error" && !line.message.isEmpty && !line.status.isEmpty)
        #expect(line.source.contains(".swift:"), "\(line.source)")
        try stop()
        try daemon.write("tier = moon\n", to: "latchkeyd.conf")
        #expect(try daemon.run("latchkeyd", []).exitCode == 1)
        #expect(try lines().last?.event == "failed")
        #expect(try lines().last?.message.contains("tier = moon") == true)
    }

    @Test func journalGetsTheSameEventsOnStandardError() throws {
        // A service manager sets device and inode of the stream; here the shell determines them.
        let script = """
            export JOURNAL_STREAM=$(stat -L -c %d:%i /dev/stderr)
            exec "$LATCHKEY_DAEMON"
            """
        try daemon.write("tier = simulated\nidle_exit_seconds = 1\n", to: "latchkeyd.conf")
        let ended = try daemon.run("/bin/sh", ["-c", script])
        #expect(ended.exitCode == 0 && ended.errors == "<5>started\n<5>stopped\n", "\(ended.errors)")
        let without = try daemon.run("/bin/sh", ["-c", "JOURNAL_STREAM=1:1 exec \"$LATCHKEY_DAEMON\""])
        #expect(without.errors.isEmpty, "standard error is not the journal's stream")
    }

    @Test func logFileIsBoundedAndContainsNoControlCharacters() throws {
        let log = DaemonLogFile(daemon.folder, limit: 1000)
        let failure = Failure(.diskFull, "a\tb\u{1b}[2J\nc\u{202e}", hint: "\(String(repeating: "x", count: 5000))")
        for number in 0..<20 {
            try log.append(DaemonLogLine(.refusalNotRecorded, failure, time: Int64(number), processID: 7))
        }
        let kept = try lines()
        #expect(kept.map(\.time) == [18, 19])
        #expect(
            kept.allSatisfy {
                $0.message == "a b [2J c " && $0.hint.description.count == 512 && $0.status == "diskFull"
            })
        for name in ["/daemon.log", "/daemon.log.1"] {
            var status = stat()
            #expect(lstat(daemon.folder + name, &status) == 0 && status.st_size <= 1000)
        }
        // A line of a later version, or an incomplete line, does not prevent reading others.
        try daemon.write("8\t7\tnotice\tlanded\t\t\t\t\n8\t7\tno", to: "daemon.log")
        #expect(try lines().map(\.event) == ["refusalNotRecorded", "landed"])
    }

    /// The processes of a service write to one file. Two that replace it at the same time would lose the older one.
    @Test func aFileThatAnotherProcessReplacesIsLeftToIt() throws {
        let log = DaemonLogFile(daemon.folder, limit: 200)
        func append(_ number: Int64) throws {
            try log.append(DaemonLogLine(.started, nil, time: number, processID: 7))
        }
        try append(0)
        let other = try Descriptor.open(daemon.folder + "/daemon.log", O_RDONLY)
        try #require(flock(other.number, LOCK_EX) == 0)
        for number in 1..<20 as Range<Int64> { try append(number) }
        #expect(!Files.exists(daemon.folder + "/daemon.log.1"))
        #expect(try lines().map(\.time) == Array(0..<20))
        flock(other.number, LOCK_UN)
        try append(20)
        #expect(Files.exists(daemon.folder + "/daemon.log.1"))
        #expect(try lines().map(\.time) == Array(0...20))
    }
}
