// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// A daemon of tier `user` with the program of its sensors beside it, here the one with a scripted sensor.
@Suite(.timeLimit(.minutes(2))) struct UserSensorsTests {
    private let daemon = try? TestDaemon()
    private let programs: String

    init() throws {
        let daemon = try #require(daemon)
        programs = daemon.folder + "/programs"
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: false)
        // A copy, because the daemon looks beside its own file.
        try copy(TestDaemon.programs + "/latchkeyd", to: "latchkeyd")
    }

    /// Copies a program by another process. A process that another test starts meanwhile inherits a file that is open for
    /// writing here, and until it has closed it the program cannot be started (ETXTBSY).
    private func copy(_ program: String, to name: String) throws {
        let finished = try #require(daemon).run("/bin/cp", ["--preserve=mode", program, programs + "/" + name])
        try #require(finished.exitCode == 0, "\(finished.errors)")
    }

    /// Installs a program of the sensors: a script that notes its process ID, environment and arguments.
    private func install(_ command: String) throws {
        let script = """
            #!/bin/sh
            echo $$ > '\(programs)/pid.new'
            tr '\\0' '\\n' < /proc/$$/environ > '\(programs)/environment'
            mv '\(programs)/pid.new' '\(programs)/pid'
            \(command)
            """
        try script.write(toFile: programs + "/script", atomically: true, encoding: .utf8)
        chmod(programs + "/script", 0o755)
        try copy(programs + "/script", to: "latchkey-authd")
    }

    private func scripted() throws {
        try install(
            "exec '\(TestDaemon.programs)/latchkey-authd-testing' \"$@\" --sockets '\(programs)'")
    }

    private func start() throws {
        let daemon = try #require(daemon)
        let process = try Processes.spawn(
            programs + "/latchkeyd", ["--detach"], environment: daemon.environment + ["LD_BIND_NOW=1"],
            descriptors: [nil, nil, nil])
        Processes.wait(process)
        _ = try daemon.connect()
    }

    private var process: pid_t {
        get throws {
            let text = try String(contentsOfFile: programs + "/pid", encoding: .utf8)
            return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        }
    }

    private func status() throws -> [String: Any] {
        let finished = try #require(daemon).run("latchkey", ["status", "--json"])
        return try #require(try JSONSerialization.jsonObject(with: Data(finished.output.utf8)) as? [String: Any])
    }

    /// Asks until the answer fulfils the condition; each attempt waits for the daemon.
    private func status(until isReached: ([String: Any]) -> Bool) throws {
        let deadline = Uptime.deadline(seconds: 30)
        while !isReached(try status()) { try #require(Uptime.nanoseconds < deadline) }
    }

    @Test func theSensorIsUsedAndTheEndOfItsProcessLocksUntilTheNextOne() throws {
        try scripted()
        try start()
        let first = try process
        #expect(try status()["biometry"] as? String == "touchID")
        #expect(try status()["keychainLocked"] as? Bool == false)
        kill(first, SIGKILL)
        // Locked, without a sensor, until the next process has reported.
        try status { $0["keychainLocked"] as? Bool == true }
        try status { $0["keychainLocked"] as? Bool == false && $0["biometry"] as? String == "touchID" }
        #expect(try process != first)
    }

    @Test func theProcessInheritsNoEnvironmentAndEndsWithTheDaemon() throws {
        try scripted()
        try start()
        let environment = try String(contentsOfFile: programs + "/environment", encoding: .utf8)
        #expect(environment.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty)
        let sensors = try process
        let daemon = try #require(try daemon?.process)
        kill(daemon, SIGKILL)
        #expect(Processes.hasEnded(sensors, within: 10))
    }

    @Test func aProgramThatDoesNotKnowItsOptionChangesNothing() throws {
        try install("exit 64")
        try start()
        #expect(try status()["keychainLocked"] as? Bool == false)
    }

    @Test func aProgramThatFailsLocks() throws {
        try install("exit 1")
        try start()
        #expect(try status()["keychainLocked"] as? Bool == true)
    }

    @Test func theProgramDoesNotStartByHand() throws {
        let finished = try #require(daemon).run("latchkey-authd-testing", ["--user"])
        #expect(finished.exitCode == 64 && finished.errors.contains("is started by latchkeyd"))
    }
}
