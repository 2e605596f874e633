// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

/// What a shell may hand over: closed streams, streams that do not block, limits, arguments that are no text, and the home
/// folder of somebody else.
@Suite struct ProcessStateTests {
    private let daemon: TestDaemon
    private let command = TestDaemon.programs + "/latchkey"

    init() throws { daemon = try TestDaemon() }

    private func shell(_ script: String) throws -> Finished {
        try daemon.run("/bin/sh", ["-c", script, command])
    }

    private func add(_ name: String, _ secret: String) throws {
        let added = try daemon.run("latchkey", ["set", name], input: secret)
        try #require(added.exitCode == 0, "\(added.errors)")
    }

    // MARK: - Streams

    @Test(arguments: [">&-", "<&- >&-"]) func aSecretForAClosedOutputGoesNowhereAndThatIsSaid(_ closed: String) throws {
        try add("token", "secret")
        let got = try shell("\"$0\" get token \(closed)")
        #expect(got.exitCode == 74)
        #expect(
            got.errors == "error: standard output cannot be written: write: Bad file descriptor\n", "\(got.errors)")
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
        #expect(confirmed.exitCode == 74 && confirmed.errors.contains("standard input cannot be read"), "\(confirmed)")
    }

    @Test func aFullDeviceIsAnErrorOfTheOutput() throws {
        try add("token", "secret")
        let got = try shell("\"$0\" get token > /dev/full")
        #expect(got.exitCode == 74 && got.errors.contains("No space left"), "\(got.errors)")
    }

    @Test func streamsThatDoNotBlockAreReadAndWrittenCompletely() throws {
        let (inNear, inFar) = try Sockets.pair()
        for end in [inFar] { #expect(fcntl(end.number, F_SETFL, O_NONBLOCK) == 0) }
        let secret = [UInt8](repeating: 0x61, count: 1_000_000)
        let setting = try Processes.spawn(
            command, ["set", "large"], environment: daemon.environment, descriptors: [inFar, nil, nil])
        // With one byte read, the next read finds none.
        try inNear.write(all: Array(secret[..<1]))
        var left: CInt = 1
        while left != 0 { #expect(ioctl(inNear.number, UInt(0x5411), &left) == 0) }
        try inNear.write(all: Array(secret[1...]))
        shutdown(inNear.number, CInt(SHUT_WR))
        #expect(Processes.wait(setting) == 0)
        for isSlow in [false, true] {
            let (outNear, outFar) = try Sockets.pair()
            #expect(fcntl(outFar.number, F_SETFL, O_NONBLOCK) == 0)
            let getting = try Processes.spawn(
                command, ["get", "large"], environment: daemon.environment, descriptors: [nil, outFar, nil])
            var got: [UInt8] = []
            while got.count < secret.count {
                let piece = try outNear.read(atMost: isSlow ? 1000 : 100_000)
                if piece.isEmpty { break }
                got += piece
            }
            #expect(got == secret)
            #expect(Processes.wait(getting) == 0)
        }
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
        #expect(got.errors == "error: argument 2 is not valid UTF-8: caf\\xE9\nhint: Names are UTF-8.\n")
    }

    // MARK: - Limits and places

    @Test func aDaemonIsNotEndedByTheLimitOfItsFirstClient() throws {
        // 600 blocks of 512 bytes: enough for an empty store.
        let first = try shell("ulimit -f 600; echo x | \"$0\" set small")
        #expect(first.exitCode == 0, "\(first.errors)")
        let process = try daemon.process
        var refused: Finished?
        for number in 0..<20 where refused == nil {
            let set = try daemon.run("latchkey", ["set", "n\(number)"], input: String(repeating: "x", count: 100_000))
            if set.exitCode != 0 { refused = set }
        }
        #expect(refused?.errors.contains("may not grow") == true, "\(refused?.errors ?? "all were added")")
        #expect(try daemon.process == process)
        #expect(try daemon.run("latchkey", ["list"]).output.contains("small"))
    }

    @Test func aDaemonKeepsNeitherTheFolderNorTheSoftLimitOfItsFirstClient() throws {
        let folder = try TemporaryFolder()
        let first = try shell("cd \(folder.path) && ulimit -S -f 600; \"$0\" list")
        #expect(first.exitCode == 0, "\(first.errors)")
        let process = try #require(try daemon.process)
        #expect(Environment.linkTarget("/proc/\(process)/cwd") == "/")
        #expect(
            try daemon.run("latchkey", ["set", "large"], input: String(repeating: "x", count: 900_000)).exitCode == 0)
    }

    @Test(.needs(.root)) func nothingIsMadeInTheHomeOfAnotherUser() throws {
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
}
