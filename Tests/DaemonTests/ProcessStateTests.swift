// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

/// What a shell may hand over: closed streams, streams that do not block, limits, arguments that are no text, and the home
/// folder of somebody else.
@Suite(.timeLimit(.minutes(3))) struct ProcessStateTests {
    private let daemon: TestDaemon
    private let command = TestDaemon.programs + "/latchkey"

    init() throws { daemon = try TestDaemon() }

    private func shell(_ script: String) throws -> Finished {
        try daemon.run("/bin/sh", ["-c", script, command])
    }

    private func add(_ name: String, _ secret: String) throws {
        let added = try daemon.run("latchkey", ["set", "--protect", "none", name], input: secret)
        try #require(added.exitCode == 0, "\(added.errors)")
    }

    // MARK: - Streams

    @Test(arguments: [">&-", "<&- >&-"]) func aSecretForAClosedOutputGoesNowhereAndThatIsSaid(_ closed: String) throws {
        try add("token", "secret")
        let got = try shell("\"$0\" get token \(closed)")
        #expect(got.exitCode == 74)
        #expect(
            got.errors == "error: Standard output cannot be written: Bad file descriptor\n", "\(got.errors)")
        #expect(try shell("\"$0\" get token \(closed) 2>&-").exitCode == 74)
        #expect(try daemon.run("latchkey", ["get", "token"]).output == "secret")
    }

    @Test func aClosedInputAddsNothing() throws {
        for name in ["a", "b"] {
            let set = try shell("\"$0\" set \(name) <&-" + (name == "b" ? " >&- 2>&-" : ""))
            #expect(set.exitCode == 74)
            #expect(try daemon.run("latchkey", ["get", name]).exitCode == 66)
        }
        let confirmed = try shell("\"$0\" passcode set <&-")
        #expect(confirmed.exitCode == 74 && confirmed.errors.contains("Standard input cannot be read"), "\(confirmed)")
    }

    @Test func aFullDeviceIsAnErrorOfTheOutput() throws {
        try add("token", "secret")
        let got = try shell("\"$0\" get token > /dev/full")
        #expect(got.exitCode == 74 && got.errors.contains("No space left"), "\(got.errors)")
    }

    /// Starts the command with a stream that does not block, as one of its standard streams.
    ///
    /// - Returns: the process, and the other end of the stream.
    private func start(_ arguments: [String], _ stream: StandardStream) throws -> (pid_t, Descriptor) {
        let (near, far) = try Sockets.pair()
        #expect(fcntl(far.number, F_SETFL, O_NONBLOCK) == 0)
        let process = try Processes.spawn(
            command, arguments, environment: daemon.environment,
            descriptors: stream == .input ? [far, nil, nil] : [nil, far, nil])
        return (process, near)
    }

    @Test func streamsThatDoNotBlockAreReadAndWrittenCompletely() throws {
        let secret = [UInt8](repeating: 0x61, count: 1_000_000)
        let (setting, input) = try start(["set", "--protect", "none", "large"], .input)
        // With one byte read, the next read finds none.
        try input.write(all: Array(secret[..<1]))
        let deadline = Uptime.deadline(seconds: 20)
        var left: CInt = 1
        while left != 0, Uptime.nanoseconds < deadline {
            #expect(ioctl(input.number, UInt(0x5411), &left) == 0)
        }
        try input.write(all: Array(secret[1...]))
        shutdown(input.number, CInt(SHUT_WR))
        #expect(Processes.wait(setting) == 0)
        for pieceBytes in [1000, 100_000] {
            let (getting, output) = try start(["get", "large"], .output)
            var got: [UInt8] = []
            while case let piece = try output.read(atMost: pieceBytes), !piece.isEmpty { got += piece }
            #expect(got == secret)
            #expect(Processes.wait(getting) == 0)
        }
    }

    /// What cannot be said is in the status all the same.
    @Test func theStatusOfAFailureDoesNotDependOnStandardError() throws {
        #expect(try shell("\"$0\" get missing 2>&-").exitCode == 66)
        #expect(try shell("\"$0\" get missing 2>/dev/full").exitCode == 66)
        let far = try Sockets.pair().1
        let process = try Processes.spawn(
            command, ["get", "missing"], environment: daemon.environment, descriptors: [nil, nil, far])
        #expect(Processes.wait(process) == 66 << 8, "standard error has no reader")
    }

    @Test func aDescriptorOfThisLibraryIsNeverAStandardStream() async {
        await #expect(processExitsWith: .success) {
            for number in [0, 1, 2] as [CInt] { close(number) }
            let file = try Descriptor.open("/dev/null", O_RDWR)
            let (near, far) = try Sockets.pair()
            precondition([file, near, far].allSatisfy { $0.number > 2 && fcntl($0.number, F_GETFD) == FD_CLOEXEC })
        }
    }

    @Test func aProgramTakesThePlacesOfClosedStreams() async {
        await #expect(processExitsWith: .success) {
            for number in [0, 2] as [CInt] { close(number) }
            ProgramStart.begin()
            for number in [0, 2] as [CInt] {
                precondition(fcntl(number, F_GETFD) >= 0)
                precondition(write(number, "x", 1) == -1 && errno == EBADF)
            }
        }
    }

    // MARK: - Arguments

    @Test func anArgumentThatIsNoTextIsRefusedAndNamesNothingElse() throws {
        try add("caf\u{fffd}", "of another item")
        let got = try shell("\"$0\" get \"$(printf 'caf\\351')\"")
        #expect(got.exitCode == 64 && got.output.isEmpty)
        #expect(got.errors == "error: NAME is not valid UTF-8: caf\\xE9\nhint: Names are UTF-8.\n")
        for word in ["--service=$(printf 'caf\\351')", "-s$(printf 'caf\\351')", "-s \"$(printf 'caf\\351')\""] {
            let set = try shell("echo x | \"$0\" set token \(word)")
            #expect(set.exitCode == 64 && set.errors.hasPrefix("error: --service is not valid UTF-8: caf\\xE9\n"))
        }
        for word in [
            "$(printf 'caf\\351')", "key $(printf 'caf\\351')", "list --$(printf 'caf\\351')",
            "list -$(printf '\\351')",
        ] {
            let refused = try shell("\"$0\" \(word)")
            #expect(refused.exitCode == 64 && refused.errors.contains("\\xE9"), "\(word): \(refused)")
        }
    }

    /// A combining mark after a separator is a part of its character.
    @Test func aMarkAfterASeparatorBelongsToTheValue() throws {
        for word in ["--service=\u{301}x", "-s\u{301}x"] {
            #expect(
                try daemon.run("latchkey", ["set", "token", word], input: "of \(word)").exitCode
                    == (word.hasPrefix("--") ? 0 : 73))
        }
        #expect(
            try daemon.run("latchkey", ["get", "token", "--service", "\u{301}x"]).output == "of --service=\u{301}x")
    }

    @Test func aFileWhoseNameIsNoTextIsReadAndWritten() throws {
        let folder = try TemporaryFolder()
        try #require(try daemon.run("latchkey", ["key", "create", "signer"]).exitCode == 0)
        let start = "cd \(folder.path); f=$(printf 'caf\\351'); "
        let made = try shell(
            start + "printf text > \"$f\" && \"$0\" key sign signer \"$f\" --output \"$f.sig\" "
                + "&& \"$0\" key verify signer \"$f\" --signature=\"$f.sig\"")
        #expect(made.exitCode == 0, "\(made.errors)")
        let name = Array("caf".utf8) + [0xe9]
        let names = try Descriptor.open(folder.path, O_RDONLY | O_DIRECTORY).names(limit: 10)
        #expect(names.map(\.bytes) == [name, name + Array(".sig".utf8)])
        let again = try shell(start + "\"$0\" key sign signer \"$f\" --output \"$f.sig\"")
        #expect(
            again.exitCode == 73 && again.errors.hasPrefix("error: caf\\xE9.sig exists already."), "\(again.errors)")
        // The name that a repaired one would have.
        try Descriptor.open(folder.path + "/caf\u{fffd}", O_WRONLY | O_CREAT).write(all: [1])
        let missing = try shell(start + "rm \"$f\"; \"$0\" key sign signer \"$f\" --hex")
        #expect(missing.exitCode == 66 && missing.errors == "error: There is no file caf\\xE9.\n", "\(missing.errors)")
        let restored = try shell(start + "\"$0\" import \"$f\"")
        #expect(
            restored.exitCode == 66 && restored.errors == "error: There is no file caf\\xE9.\n", "\(restored.errors)")
        let exported = try shell(start + "\"$0\" export \"$f.sig\"")
        #expect(exported.exitCode == 73, "\(exported.errors)")
    }

    @Test func aFolderThatIsNoTextIsRefused() throws {
        let listed = try shell("LATCHKEY_HOME=/tmp/$(printf 'caf\\351') \"$0\" list")
        #expect(listed.exitCode == 69 && listed.errors.contains("LATCHKEY_HOME is not valid UTF-8"), "\(listed)")
        try add("token", "secret")
        let got = try shell("LATCHKEY_APP_ID=$(printf 'caf\\351') \"$0\" get token")
        #expect(got.exitCode == 69 && got.errors.contains("LATCHKEY_APP_ID is not valid UTF-8"), "\(got)")
    }

    // MARK: - Limits and places

    @Test func aDaemonIsNotEndedByTheLimitOfItsFirstClient() throws {
        // 600 blocks of 512 bytes: enough for an empty store.
        let first = try shell("ulimit -f 600; echo x | \"$0\" set small")
        #expect(first.exitCode == 0, "\(first.errors)")
        let process = try daemon.process
        var refused: Finished?
        for number in 0..<20 where refused == nil {
            let set = try daemon.run(
                "latchkey", ["set", "--protect", "none", "n\(number)"], input: String(repeating: "x", count: 100_000))
            if set.exitCode != 0 { refused = set }
        }
        #expect(refused?.errors.contains("may not grow") == true, "\(refused?.errors ?? "all were added")")
        #expect(try daemon.process == process)
        #expect(try daemon.run("latchkey", ["list"]).output.contains("small"))
    }

    @Test func aDaemonDoesNotKeepTheSoftLimitOfItsFirstClient() throws {
        let first = try shell("ulimit -S -f 600; \"$0\" list")
        #expect(first.exitCode == 0, "\(first.errors)")
        #expect(
            try daemon.run(
                "latchkey", ["set", "--protect", "none", "large"], input: String(repeating: "x", count: 900_000)
            ).exitCode == 0)
    }

    /// The entries of the daemon in /proc belong to root.
    @Test(.needs(.root)) func aDaemonDoesNotKeepTheFolderOfItsFirstClient() throws {
        let folder = try TemporaryFolder()
        let first = try shell("cd \(folder.path) && \"$0\" list")
        #expect(first.exitCode == 0, "\(first.errors)")
        let process = try #require(try daemon.process)
        #expect(Environment.linkTarget("/proc/\(process)/cwd") == "/")
    }

    /// The table in docs/reference/protocol.md.
    @Test(.needs(.root)) func aDaemonHasTheStateThatTheTableNames() throws {
        let first = try shell(
            """
            umask 0; trap '' TERM HUP USR1; echo 321 > /proc/self/oom_score_adj; export LC_ALL=C.UTF-8
            ulimit -c unlimited; exec nice -n 7 "$0" list
            """)
        #expect(first.exitCode == 0, "\(first.errors)")
        let process = try #require(try daemon.process)
        // A file of /proc has no size.
        func file(_ name: String) throws -> String { try daemon.run("/bin/cat", ["/proc/\(process)/\(name)"]).output }
        let status = try file("status").split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
        func value(_ name: String) -> UInt64? { status.first { $0[0] == name }.flatMap { UInt64($0[1], radix: 16) } }
        // The mask is octal.
        #expect(value("Umask:") == 0x0077)
        func set(_ signals: CInt...) -> UInt64 { signals.reduce(0) { $0 | 1 << UInt64($1 - 1) } }
        // Those that end it are received by a descriptor. The C library has signal 32 for itself.
        #expect(value("SigBlk:") == set(SIGHUP, SIGINT, SIGTERM))
        #expect(value("SigIgn:").map { $0 & ~set(32) } == set(SIGPIPE, SIGXFSZ))
        #expect(try file("oom_score_adj") == "321\n")
        #expect(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), UInt32(process)) == 7)
        #expect(getsid(process) == process && Terminal.controlling(process) == 0)
        #expect(try file("environ").split(separator: "\0").contains("LC_ALL=C.UTF-8"))
        #expect(try file("limits").split(separator: "\n").contains { $0.hasPrefix("Max core file size        0 ") })
        for stream in 0...2 { #expect(Environment.linkTarget("/proc/\(process)/fd/\(stream)") == "/dev/null") }
        #expect(try FileRecord(at: daemon.folder + "/keychain.sqlite").mode & 0o777 == 0o600)
    }

    @Test(.needs(.root)) func nothingIsMadeInTheHomeOfAnotherUser() throws {
        // With an installed service the command uses that.
        guard !Files.exists(SystemSockets.installed.configuration) else { return }
        let folder = try TemporaryFolder()
        try #require(chown(folder.path, 64_321, 64_321) == 0)
        for variable in ["HOME", "XDG_DATA_HOME"] {
            let listed = try Finished(
                command, ["list"], input: "", environment: ["PATH=/usr/bin", "\(variable)=\(folder.path)"])
            #expect(listed.exitCode == 69, "\(variable): \(listed.errors)")
            #expect(listed.errors.contains("belongs to user 64321, not to you (0)"), "\(listed.errors)")
        }
        let names = try Descriptor.open(folder.path, O_RDONLY | O_DIRECTORY).names(limit: 10)
        #expect(names.isEmpty)
    }

    // MARK: - Simulation

    @Test func aVerbOfTheSimulatorStartsNoDaemon() throws {
        let folder = try TemporaryFolder()
        let home = ["LATCHKEY_HOME=" + folder.path]
        for words in [["touch"], ["enter"], ["passcode", "set"], ["transcript"], ["stop"], ["restart"], ["code"]] {
            let refused = try daemon.run("latchkey", ["sim"] + words, input: "1234\n", environment: home)
            #expect(refused.exitCode == 69, "\(words): \(refused)")
            #expect(refused.errors.contains("has no simulated keychain"), "\(refused.errors)")
        }
        let names = try Descriptor.open(folder.path, O_RDONLY | O_DIRECTORY).names(limit: 10)
        #expect(names.isEmpty, "\(names)")
    }

    @Test func afterARefusedStartNoPersonSeemsToBeThere() throws {
        try add("token", "secret")
        let refused = try daemon.run("latchkey", ["sim", "start"])
        #expect(refused.exitCode == 1, "\(refused)")
        #expect(try daemon.run("latchkey", ["sim", "touch"]).exitCode == 77)
        // It would set the passcode of the person's own keychain.
        #expect(try daemon.run("latchkey", ["sim", "passcode", "set"], input: "1234\n").exitCode == 69)
        #expect(try daemon.run("latchkey", ["get", "token"]).output == "secret")
    }
}
