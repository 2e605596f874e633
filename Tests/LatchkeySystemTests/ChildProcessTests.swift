// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// Children are started, signalled and reaped through a pidfd, and nothing of that waits for ever.
@Suite struct ChildProcessTests {
    private func shell(_ command: String, _ descriptors: [Descriptor?] = [nil, nil, nil]) throws -> ChildProcess {
        try ChildProcess.start("/bin/sh", ["-c", command], environment: ["ONLY=this"], descriptors: descriptors)
    }

    /// Whether a process runs, and is no zombie.
    private func runs(_ process: pid_t) -> Bool { !Processes.hasEnded(process, within: 0) }

    @Test func theProgramHasItsDescriptorsItsEnvironmentAndNothingElse() throws {
        let (near, far) = try Sockets.pair()
        let leaked = try Descriptor.open("/dev/null", O_RDONLY)
        #expect(fcntl(leaked.number, F_SETFD, 0) == 0)
        let child = try shell("cd /proc/$$/fd; echo * $ONLY $(ps -o sid= -p $$ | tr -d ' ') >&3", [nil, nil, nil, far])
        #expect(child.end(within: 20) == .exited(0))
        let text = String(decoding: try near.read(atMost: 4096), as: UTF8.self)
        // The fifth is the listed folder.
        #expect(text == "0 1 2 3 4 this \(child.processID)\n")
        withExtendedLifetime(leaked) {}
    }

    @Test func theEndOfAProcessIsReported() throws {
        #expect(try shell("exit 7").end(within: 20) == .exited(7))
        #expect(try shell("kill -9 $$").end(within: 20) == .signalled(SIGKILL))
        let child = try shell("exit 3")
        #expect(child.wait(until: Uptime.deadline(seconds: 20)) == .exited(3))
        #expect(child.wait(until: 0) == .exited(3) && child.end(within: 0) == .exited(3), "as often as it is asked for")
    }

    @Test func aProgramThatCannotBeExecutedIsAnError() throws {
        for (path, code) in [("/nonexistent", ENOENT), ("/", EACCES)] {
            #expect(throws: SystemError("execve", code: code)) {
                try ChildProcess.start(path, [], environment: [], descriptors: [nil])
            }
        }
    }

    @Test(arguments: ["sleep 1000", "kill -STOP $$", "trap '' TERM INT HUP; while :; do sleep 1; done"])
    func aProcessThatDoesNotEndIsKilled(command: String) throws {
        let child = try shell(command)
        let process = child.processID
        let begin = Uptime.nanoseconds
        #expect(child.end(within: 0) == .signalled(SIGKILL))
        #expect(Uptime.nanoseconds - begin < 2_000_000_000)
        #expect(!runs(process))
    }

    /// The number of a process that was reaped is free, and here the next process gets it.
    @Test(.promise("process.signals"), .needs(.root)) func aSignalAfterTheEndReachesNoOtherProcess() throws {
        var reached: pid_t?
        for _ in 0..<100 where reached == nil {
            let child = try shell("exit 0")
            #expect(child.end(within: 20) == .exited(0))
            // Writable for root in the initial process namespace; the number is that of the last process.
            let last = try Descriptor.open("/proc/sys/kernel/ns_last_pid", O_WRONLY)
            try last.write(all: Array("\(child.processID - 1)".utf8))
            let other = try Processes.spawn("/usr/bin/sleep", ["1000"])
            child.signal(SIGKILL)
            child.endTree()
            if other == child.processID { reached = other }
            #expect(runs(other))
            Processes.wait(other, killAfter: 0)
        }
        #expect(reached != nil, "no process got the number of the one that ended")
    }

    @Test(.promise("process.signals")) func everythingBelowAProcessEndsWithIt() throws {
        let (near, far) = try Sockets.pair()
        // Each level has a session of its own, and the last one was orphaned before.
        let script = """
            import ctypes, os, time
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
            for level in range(4):
                if os.fork():
                    if level < 2: time.sleep(1000)
                    break
                os.setsid()
            os.write(3, b"%d " % os.getpid())
            time.sleep(1000 if level == 3 else 0.1)
            """
        let child = try ChildProcess.start(
            "/usr/bin/python3", ["-c", script], environment: [], descriptors: [nil, nil, nil, far])
        var text = ""
        while text.filter({ $0 == " " }).count < 2 {
            text += String(decoding: try near.read(atMost: 64), as: UTF8.self)
        }
        let processes = text.split(separator: " ").compactMap { pid_t($0) }
        #expect(child.endTree() == .signalled(SIGKILL))
        for process in processes { #expect(Processes.hasEnded(process, within: 10)) }
    }

    @Test func aChildThatIsForgottenIsReaped() throws {
        var child: ChildProcess? = try shell("exit 0")
        let process = try #require(child?.processID)
        child = nil
        let deadline = Uptime.deadline(seconds: 20)
        while access("/proc/\(process)/stat", F_OK) == 0 {
            try #require(Uptime.nanoseconds < deadline, "it remains as a zombie")
            sched_yield()
        }
    }
}

/// A user who stops the child that is to become the prompt's process costs the service nothing that remains.
@Suite(.needs(.root)) struct StoppedChildTests {
    /// A user id without an account.
    private static let user = UserIdentity(userID: 64_331, groupID: 64_331)

    private static func count(_ folder: String) throws -> Int {
        try Descriptor.open(folder, O_RDONLY | O_DIRECTORY).names(limit: 1 << 20).count
    }

    @Test(.promise("prompt.hanging")) func childrenThatTheirUserStopsAreKilledAtTheDeadlineAndLeaveNothing() async {
        // In a process of its own, whose threads and descriptors are not those of other tests.
        await #expect(processExitsWith: .success) { try StoppedChildTests.startChildrenThatAreStopped() }
    }

    private static func startChildrenThatAreStopped() throws {
        let terminal = try PseudoTerminal()
        var status = stat()
        try #require(stat(terminal.path, &status) == 0 && chown(terminal.path, user.userID, 0) == 0)
        // All processes of the user, so the child too as soon as it has become the user.
        let stopper = try ChildProcess.start(
            "/usr/bin/perl", ["-e", "kill 'STOP', -1 while 1"], environment: [], descriptors: [nil, nil, nil], as: user)
        let (_, channel) = try Sockets.pair()
        let (descriptors, threads) = (try count("/proc/self/fd"), try count("/proc/self/task"))
        var (late, started) = (0, 0)
        let rounds = 100
        for _ in 0..<rounds {
            let begin = Uptime.nanoseconds
            do throws(SystemError) {
                let child = try ChildProcess.start(
                    "/usr/bin/sleep", ["1000"], environment: [], onTerminal: UInt64(status.st_rdev), as: user,
                    channel: channel, until: begin + 50_000_000)
                started += 1
                #expect(child.process.end(within: 0) == .signalled(SIGKILL))
            } catch {
                #expect(error.code == ETIMEDOUT)
                late += 1
            }
            #expect(Uptime.nanoseconds - begin < 3_000_000_000)
        }
        stopper.end(within: 0)
        #expect(late > 0, "none of \(rounds) was stopped in time; \(started) were started")
        #expect(ChildProcess.unreapedCount == 0)
        // Each round would leave at least one.
        for (folder, before) in [("/proc/self/fd", descriptors), ("/proc/self/task", threads)] {
            let deadline = Uptime.deadline(seconds: 60)
            while try count(folder) >= before + rounds / 2, Uptime.nanoseconds < deadline { poll(nil, 0, 50) }
            #expect(try count(folder) < before + rounds / 2)
        }
    }
}
