// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// The identity of real processes of the user of the test.
@Suite struct IdentifyTests {
    private let undetermined = ["user:\(getuid())"]

    @Test(.needs(.protectedPrograms)) func programOfTheSystemIsIdentifiedByItsPath() throws {
        let child = try Child("/usr/bin/cat")
        let identity = try child.identity()
        #expect(identity.label == "cat" && identity.program == "/usr/bin/cat" && identity.strength == .program)
        #expect(identity.groups == ["/usr/bin/cat"] && identity.application == "/usr/bin/cat")
        let caller = identity.caller(try child.name())
        #expect(caller.groups == identity.groups && caller.application == identity.application)
        #expect(caller.label == "cat" && caller.program == "/usr/bin/cat" && caller.userID == getuid())
    }

    @Test func defaultReferenceIsTheFirstProcessOfTheSystem() throws {
        let child = try Child("/usr/bin/cat")
        try child.awaitEcho()
        let identifier = ProgramIdentifier(declarations: DeclarationFolder("/nonexistent"))
        let isInSystem = ["user", "mnt"].allSatisfy { name in
            let (ours, its) = (
                Environment.linkTarget("/proc/self/ns/\(name)"), Environment.linkTarget("/proc/1/ns/\(name)")
            )
            return ours != nil && ours == its
        }
        guard Environment.linkTarget("/proc/1/ns/user") != nil else {
            // The first process cannot be examined without CAP_SYS_PTRACE, nor in some containers.
            #expect(throws: Failure(.daemonUnavailable)) { try identifier.identify(child.name()) }
            return
        }
        let identity = try identifier.identify(child.name())
        if !isInSystem { #expect(identity.groups == undetermined) }
        if isInSystem, Need.protectedPrograms.isMet() { #expect(identity.groups == ["/usr/bin/cat"]) }
    }

    @Test(
        .promise("attacker.other-app", "abuse.5"),
        arguments: [
            ("/bin/sh", ["-c", "while read -r line; do echo \"$line\"; done"]),
            ("/usr/bin/perl", ["-e", "$| = 1; print while <STDIN>"]),
        ])
    func scriptUnderAnInterpreterHasTheIdentityOfItsUser_abuse5(program: String, arguments: [String]) throws {
        let child = try Child(program, arguments)
        try child.awaitEcho()
        let identity = try child.identity()
        #expect(identity.groups == undetermined && identity.strength == .user)
        #expect(identity.label == Caller.undetermined && identity.program.isEmpty)
    }

    @Test(.promise("abuse.5")) func userWritableCopyOfSystemProgramHasTheIdentityOfItsUser_abuse6() throws {
        let folder = try TemporaryFolder()
        let copy = folder.path + "/cat"
        Processes.wait(try Processes.spawn("/usr/bin/cp", ["/usr/bin/cat", copy]))
        let identity = try Child(copy).identity()
        #expect(identity.groups == undetermined && identity.strength == .user)
    }

    /// A connection is for one execution: a process that executed something else in between, and then the same program again, is
    /// not the one that was identified.
    @Test(.promise("users.connection")) func eachExecutionHasAnotherNumberAlsoOfTheSameProgram() throws {
        let child = try Child("/bin/sh", ["-c", "read x; echo; read x; exec /bin/sh -c 'echo; read x'"])
        try child.awaitEcho()
        let (first, again) = (try child.identity(), try child.identity())
        #expect(first == again)
        try child.awaitEcho()
        var second = try child.identity()
        #expect(second.execution != first.execution && second != first)
        second.execution = first.execution
        #expect(second == first)
    }

    @Test(.promise("identity.reuse", "abuse.2")) func processIDOfAnotherProcessIsAnError_abuse3() throws {
        let child = try Child("/usr/bin/cat")
        try child.awaitEcho()
        var name = try child.name()
        name.startTime -= 1
        let identifier = ProgramIdentifier(reference: getpid())
        #expect(throws: Failure(.peerNotTrusted)) { try identifier.identify(name) }
    }

    @Test(.promise("identity.reuse")) func processOfAnotherUserGivesNothingOfThatProcess_abuse3() throws {
        let child = try Child("/usr/bin/cat")
        #expect(try child.identity(user: getuid() + 1) == .undetermined(getuid() + 1))
    }

    @Test(.promise("abuse.2")) func endedProcessIsAnError_abuse3() throws {
        let name = try Child("/usr/bin/cat").name()
        #expect(throws: Failure(.peerNotTrusted)) { try ProgramIdentifier(reference: getpid()).identify(name) }
    }

    @Test(.promise("identity.reuse", "abuse.4")) func processIDWithStartTimeNamesTheSameProcessAsAPidfd_abuse4() throws
    {
        let folder = try TemporaryFolder()
        let listener = try Sockets.listen(folder.path + "/socket")
        let client = try Sockets.connect(folder.path + "/socket")
        let connection = try #require(try Sockets.accept(listener))
        let peer = try Sockets.peer(connection)
        let job = try #require(TerminalJob(peer.processID))
        let name = ProcessName(processID: peer.processID, startTime: job.startTime, userID: peer.userID)
        withExtendedLifetime(client) {}
        // Nil before Linux 6.5.
        guard let handle = Sockets.peerProcess(connection) else { return }
        #expect(try ProcessName(handle: handle, userID: peer.userID) == name)
    }

    @Test(.promise("abuse.5"), .needs(.namespaces), arguments: [["--mount"], []])
    func processInNamespaceOfItsOwnHasTheIdentityOfItsUser_abuse7(more: [String]) throws {
        let child = try Child("/usr/bin/unshare", ["--user", "--map-root-user"] + more + ["/usr/bin/cat"])
        try child.awaitEcho()
        let identity = try child.identity()
        #expect(identity.groups == undetermined && identity.strength == .user)
    }

    @Test(
        .promise("attacker.same-user"),
        arguments: ["LD_PRELOAD=/nonexistent.so", "LD_LIBRARY_PATH=", "GTK_MODULES=x", "LD_AUDIT=/nonexistent.so"])
    func programWithForeignCodeHasTheIdentityOfItsUser_abuse9(variable: String) throws {
        let identity = try Child("/usr/bin/cat", environment: ["HOME=/", variable]).identity()
        #expect(identity.groups == undetermined && identity.strength == .user)
    }

    /// During execve(2) the executable is the new one already, and its environment is still empty. On one processor
    /// the kernel often interrupts the child there: posix_spawn(3) returns at that moment.
    @Test func programWithForeignCodeIsNotIdentifiedWhileItStarts_abuse9() throws {
        typealias SetAffinity = @convention(c) (pid_t, Int, UnsafeRawPointer) -> CInt
        let identifier = ProgramIdentifier(declarations: DeclarationFolder("/nonexistent/apps.d"), reference: getpid())
        let setAffinity = unsafeBitCast(try #require(dlsym(nil, "sched_setaffinity")), to: SetAffinity.self)
        let results = Recorder<Result<[String], any Error>>()
        let ended = DispatchSemaphore(value: 0)
        Processes.detachThread {
            // The thread ends with the loop, so no other test runs on it.
            var first = [UInt64](repeating: 0, count: 16)
            first[0] = 1
            _ = setAffinity(0, 128, &first)
            for _ in 0..<300 {
                let result = Result {
                    let child = try Child("/usr/bin/cat", environment: ["LD_LIBRARY_PATH=/nonexistent"])
                    let name = try child.name()
                    do throws(Failure) {
                        return try identifier.identify(name).groups
                    } catch {
                        // It executes another program now.
                        guard error.status == .peerNotTrusted else { throw error }
                        return undetermined
                    }
                }
                results.add(result)
            }
            ended.signal()
        }
        ended.wait()
        let groups = try results.all.map { try $0.get() }
        #expect(groups.count == 300 && groups.allSatisfy { $0 == undetermined })
    }

    @Test(.needs(.protectedPrograms)) func otherVariablesDoNotCount() throws {
        let identity = try Child("/usr/bin/cat", environment: ["PATH=/x:LD_PRELOAD=x", "XLD_PRELOAD=1"]).identity()
        #expect(identity.strength == .program)
    }

    @Test(.promise("attacker.same-user")) func tracedProgramHasTheIdentityOfItsUser() throws {
        #if arch(arm64)
        let ptrace = 117
        #else
        let ptrace = 101
        #endif
        // PTRACE_TRACEME makes the test the tracer, and the child stops at its execve(2).
        let child = try Child("/usr/bin/perl", ["-e", "syscall(\(ptrace), 0, 0, 0, 0); exec '/usr/bin/cat'"])
        var status: CInt = 0
        #expect(waitpid(child.processID, &status, 0) == child.processID && status & 0xff == 0x7f, "stopped")
        #expect(Environment.linkTarget("/proc/\(child.processID)/exe") == "/usr/bin/cat")
        #expect(try child.identity().groups == undetermined)
    }

    @Test func userIDsThatAreNoneAreRefused() {
        for user in [UInt32.max, 65_534] {
            let name = ProcessName(processID: getpid(), startTime: 0, userID: user)
            #expect(throws: Failure(.notPermitted)) { try ProgramIdentifier().identify(name) }
        }
    }

    @Test func controllingTerminalOfItsUserIsPartOfTheIdentity() throws {
        let terminal = try PseudoTerminal()
        let child = try Child("/usr/bin/cat", terminal: terminal.path)
        let device = Terminal.controlling(child.processID)
        #expect(device != 0)
        #expect(try child.identity().terminal == device)
        #expect(try Child("/usr/bin/cat").identity().terminal == 0)
    }

    /// A process alternates between a program of the system and programs of the user by execve(2), as fast as it can.
    @Test(.promise("name.identified")) func processThatExecutesOtherProgramsNeverHasAWrongLabel_abuse3() throws {
        let folder = try TemporaryFolder()
        let (copy, script) = (folder.path + "/env", folder.path + "/script")
        Processes.wait(try Processes.spawn("/usr/bin/cp", ["/usr/bin/env", copy]))
        let text = "#!/bin/sh\nexec /usr/bin/prlimit --nofile=64 \(copy) \(script)\n"
        try ScriptFile.write(text, to: script, mode: 0o700)
        let child = try Child("/bin/sh", [script])
        let name = try child.name()
        let identifier = ProgramIdentifier(
            declarations: DeclarationFolder("/nonexistent/apps.d"), reference: getpid())
        var seen: Set<[String]> = []
        for _ in 0..<3000 {
            let identity: ProgramIdentity
            do throws(Failure) {
                identity = try identifier.identify(name)
            } catch {
                #expect(error.status == .peerNotTrusted, "\(error.message)")
                continue
            }
            seen.insert(identity.groups)
            let isWhole = identity.label == "prlimit" && identity.program == "/usr/bin/prlimit"
            #expect(identity.groups == undetermined || identity.groups == ["/usr/bin/prlimit"] && isWhole)
        }
        let isRunning = try ProcessFolder(child.processID).isRunning()
        #expect(isRunning, "the process has not ended")
        print("a process that executes one program after the other: \(seen.count) identities, otherwise errors")
    }
}
