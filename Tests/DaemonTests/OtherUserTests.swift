// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// What other users, and other programs of the same user, cannot do to a daemon.
@Suite(.needs(.root)) struct OtherUserTests {
    /// A user id without an account.
    private static let user: uid_t = 64_321
    private let daemon: TestDaemon
    /// Copies of the built programs, which the other user can execute.
    private let programs: RootFolder

    init() throws {
        daemon = try TestDaemon(simulated: true)
        programs = try RootFolder()
        for name in ["latchkey", "latchkeyd", "latchkey-test-client"] {
            try programs.copyBuilt(TestDaemon.programs + "/" + name)
        }
    }

    private func runAsOther(_ program: String, _ arguments: [String]) throws -> Finished {
        let path = program.hasPrefix("/") ? program : programs.path + "/" + program
        let environment = daemon.environment.filter { !$0.hasPrefix("LATCHKEY_DAEMON=") }
        return try Finished(
            "/usr/bin/setpriv",
            ["--reuid=\(Self.user)", "--regid=\(Self.user)", "--clear-groups", path] + arguments, input: "",
            environment: environment + ["LATCHKEY_DAEMON=\(programs.path)/latchkeyd"])
    }

    /// Abuse case 1.
    @Test(.promise("attacker.other-user")) func anotherUserCannotConnect() throws {
        try daemon.start()
        let socket = daemon.folder + "/daemon.sock"
        #expect(try daemon.run("latchkey-test-client", ["knock", socket]).output == "answered\n")
        let stopped = try runAsOther("latchkey-test-client", ["knock", socket])
        #expect(stopped.output == "cannot connect: connect: Permission denied\n", "\(stopped.output) \(stopped.errors)")
        // Even if the modes of folder and socket permit it, the daemon only serves its own user.
        #expect(chmod(daemon.folder, 0o711) == 0 && chmod(socket, 0o666) == 0)
        #expect(try runAsOther("latchkey-test-client", ["knock", socket]).output == "closed\n")
        #expect(try daemon.run("latchkey-test-client", ["knock", socket]).output == "answered\n")
    }

    @Test(.promise("attacker.same-user")) func otherProgramOfSameUserCannotReadDaemonMemory() throws {
        for name in ["", "/latchkeyd.conf"] { #expect(chown(daemon.folder + name, Self.user, Self.user) == 0) }
        let status = try runAsOther("latchkey", ["status", "--json"])
        #expect(status.exitCode == 0, "\(status.errors)")
        let number = status.output.split(separator: "\"process\":").last?.prefix { $0.isNumber } ?? ""
        let process = try #require(pid_t(number), "\(status.output)")
        defer { kill(process, SIGKILL) }
        for file in ["mem", "environ", "maps"] {
            let read = try runAsOther("/usr/bin/head", ["-c", "1", "/proc/\(process)/\(file)"])
            #expect(read.exitCode != 0 && read.errors.contains("Permission denied"), "\(file): \(read.errors)")
        }
        // An unprotected process can be read, so the refusal is not due to the user.
        #expect(try runAsOther("/usr/bin/head", ["-c", "1", "/proc/self/environ"]).exitCode == 0)
    }
}
