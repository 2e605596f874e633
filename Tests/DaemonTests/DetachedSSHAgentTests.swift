// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySystem
import TestSupport
import Testing

/// `latchkey ssh-agent` in the background, with `sh`, `ssh-add` and a simulated daemon.
@Suite struct DetachedSSHAgentTests {
    private let daemon: TestDaemon
    private let agent: DetachedAgent

    init() throws {
        daemon = try TestDaemon(simulated: true)
        _ = try daemon.run("latchkey", ["sim", "start", "--ready"])
        let made = try daemon.run("latchkey", ["key", "create", "--ssh", "work"])
        try #require(made.exitCode == 0, "\(made.errors)")
        agent = try DetachedAgent(daemon)
    }

    /// What `latchkey ssh-agent` writes for sh.
    private func lines(_ process: pid_t) -> String {
        """
        SSH_AUTH_SOCK=\(agent.socket); export SSH_AUTH_SOCK;
        SSH_AGENT_PID=\(process); export SSH_AGENT_PID;
        echo Agent pid \(process);

        """
    }

    private func start() throws -> pid_t {
        let started = try agent.run()
        try #require(started.exitCode == 0, "\(started)")
        let process = try #require(started.output.split(separator: " ").last.flatMap { pid_t($0.dropLast(2)) })
        #expect(started.output == lines(process))
        return process
    }

    // MARK: - In a shell

    @Test func aShellStartsUsesAndEndsTheAgent() throws {
        let script = """
            eval "$(latchkey ssh-agent 2>/dev/null)"
            ssh-add -L
            first=$SSH_AGENT_PID
            unset SSH_AUTH_SOCK SSH_AGENT_PID
            eval "$(latchkey ssh-agent)" >/dev/null
            [ "$SSH_AGENT_PID" = "$first" ] && echo same
            ssh-add -l >/dev/null && echo served
            eval "$(latchkey ssh-agent -k)"
            echo "${SSH_AUTH_SOCK-unset} ${SSH_AGENT_PID-unset}"
            """
        let shell = try agent.run("/bin/sh", ["-c", script])
        #expect(shell.exitCode == 0 && shell.errors.isEmpty, "\(shell)")
        let key = try daemon.run("latchkey", ["key", "public", "work", "--format", "ssh"]).output.dropLast()
        let lines = shell.output.split(separator: "\n").map(String.init)
        let process = try #require(lines.first?.split(separator: " ").last)
        #expect(
            lines == [
                "Agent pid \(process)", String(key), "same", "served", "Agent pid \(process) killed", "unset unset",
            ])
        #expect(Processes.hasEnded(try #require(pid_t(process)), within: 0))
        #expect(!Files.exists(agent.socket))
    }

    @Test func theAgentHasNothingOfItsCaller() throws {
        let process = try start()
        #expect(getsid(process) == process, "a session of its own")
        #expect(Environment.linkTarget("/proc/\(process)/cwd") == "/")
        #expect(Environment.linkTarget("/proc/\(process)/fd/0") == "/dev/null")
        // `run` has returned, so the agent holds neither its standard output nor its standard error.
    }

    @Test func aStartSaysWhereThePromptsAppear() throws {
        let started = try agent.run()
        #expect(started.errors.hasPrefix("hint: ") && started.errors.contains("latchkey-agent"), "\(started.errors)")
        #expect(try agent.run().errors.isEmpty, "no agent was started")
    }

    @Test func cShellsGetTheirOwnLines() throws {
        let process = try start()
        let csh = """
            setenv SSH_AUTH_SOCK \(agent.socket);
            setenv SSH_AGENT_PID \(process);
            echo Agent pid \(process);

            """
        #expect(try agent.run(options: ["-c"]).output == csh)
        #expect(try agent.run(environment: ["SHELL=/bin/tcsh"]).output == csh)
        #expect(try agent.run(options: ["-s"], environment: ["SHELL=/bin/tcsh"]).output == lines(process))
        #expect(try agent.run(options: ["-s", "-c"]).exitCode == 64)
        let ended = try agent.run(options: ["-kc"])
        #expect(
            ended.output == "unsetenv SSH_AUTH_SOCK;\nunsetenv SSH_AGENT_PID;\necho Agent pid \(process) killed;\n")
    }

    // MARK: - One agent

    @Test func simultaneousStartsNameOneAgent() throws {
        let output = try agent.run(
            "/bin/sh", ["-c", "for i in 1 2 3 4 5 6 7 8; do latchkey ssh-agent 2>/dev/null & done; wait"]
        ).output
        let process = try start()
        let expected = lines(process).split(separator: "\n")
        #expect(output.split(separator: "\n").count == 8 * expected.count, "\(output)")
        #expect(Set(output.split(separator: "\n")) == Set(expected))
    }

    @Test func anAgentWithOtherOptionsIsNotTakenForTheOneThatWasWanted() throws {
        _ = try start()
        for options in [["--allow-unbound"], ["--reuse", "10"]] {
            let refused = try agent.run(options: options)
            #expect(refused.exitCode == 73 && refused.output.isEmpty && refused.errors.contains("--kill"), "\(refused)")
        }
        #expect(try agent.run(options: ["--kill", "--reuse", "10"]).exitCode == 64)
        #expect(try agent.run(options: ["--foreground"]).exitCode == 73)
    }

    @Test func theAgentHasItsOptions() throws {
        #expect(try agent.run(options: ["--allow-unbound", "--reuse", "10"]).exitCode == 0)
        let process = try start()
        let line = try Descriptor.open("/proc/\(process)/cmdline", O_RDONLY).readAll(limit: 4096)
        let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        #expect(words.suffix(3) == ["--reuse", "10", "--allow-unbound"])
    }

    /// A service manager that listens for the agent has no lock either.
    @Test func theListenerOfAnotherProgramIsNamedAndNotEnded() throws {
        try Files.makePrivateFolder(Files.folder(of: agent.socket))
        let (near, far) = try Sockets.pair()
        let other = try Processes.spawn(
            "/usr/bin/ssh-agent", ["-D", "-a", agent.socket], descriptors: [nil, far, nil])
        defer {
            kill(other, SIGKILL)
            Processes.wait(other)
        }
        // It writes its lines when it listens.
        try #require(try near.wait(for: POLLIN, until: Uptime.deadline(seconds: 20)))
        let named = try agent.run()
        #expect(named.exitCode == 0 && named.output == "SSH_AUTH_SOCK=\(agent.socket); export SSH_AUTH_SOCK;\n")
        let refused = try agent.run(options: ["-k"])
        #expect(refused.exitCode == 77 && refused.errors.contains("process \(other)"), "\(refused)")
        #expect(!Processes.hasEnded(other, within: 0))
    }

    // MARK: - End

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP]) func aSignalEndsTheAgentAndRemovesItsSocket(signal: CInt) throws {
        let process = try start()
        #expect(kill(process, signal) == 0)
        #expect(Processes.hasEnded(process, within: 20))
        #expect(!Files.exists(agent.socket))
        let none = try agent.run(options: ["-k"])
        #expect(none.exitCode == 66 && none.output.isEmpty, "\(none)")
    }

    @Test func theSocketOfAKilledAgentIsReplaced() throws {
        let process = try start()
        #expect(kill(process, SIGKILL) == 0)
        #expect(Processes.hasEnded(process, within: 20))
        #expect(try start() != process)
    }

    @Test func anIgnoredSignalDoesNotEndAnAgentInTheForeground() throws {
        // A blocked signal would be taken by the thread that ends the process, although it is ignored, as with nohup(1).
        // A shell ignores SIGINT for its background processes.
        let script = """
            mkfifo "$1"
            trap '' HUP
            latchkey ssh-agent --foreground >"$1" & agent=$!
            read -r line <"$1"
            sed -n 's/^SigBlk:[^0-9]*//p' "/proc/$agent/status"
            kill -TERM $agent; wait $agent; echo $?
            """
        let shell = try agent.run("/bin/sh", ["-c", script, "sh", daemon.folder + "/line"])
        #expect(shell.output == "0000000000004000\n0\n", "\(shell)")
    }

    // MARK: - Place

    @Test func aFileInThePlaceOfTheSocketStays() throws {
        let place = try daemon.run(
            "/bin/sh", ["-c", "mkdir -p -m 700 \"${0%/*}\" && echo mine > \"$0\"", agent.socket])
        try #require(place.exitCode == 0, "\(place)")
        let refused = try agent.run()
        #expect(refused.exitCode == 1 && refused.errors.contains("is no socket"), "\(refused)")
        #expect(try daemon.run("/bin/cat", [agent.socket]).output == "mine\n")
    }

    @Test func withoutARuntimeFolderTheSocketIsInTheStore() throws {
        let other = DetachedAgent(daemon, runtime: nil)
        #expect(other.socket == daemon.folder + "/ssh-agent/ssh-agent.sock")
        let started = try other.run()
        #expect(started.output.hasPrefix("SSH_AUTH_SOCK=\(other.socket); export SSH_AUTH_SOCK;\nSSH_AGENT_PID="))
        #expect(
            try daemon.run("/usr/bin/ssh-add", ["-l"], environment: ["SSH_AUTH_SOCK=\(other.socket)"]).exitCode == 0)
        #expect(other.isPrivate)
    }

    @Test func aPathThatAShellWouldInterpretIsRefused() throws {
        let runtime = daemon.folder + "/$(id)"
        try #require(mkdir(runtime, 0o700) == 0)
        let refused = try daemon.run("latchkey", ["ssh-agent"], environment: ["XDG_RUNTIME_DIR=\(runtime)"])
        #expect(refused.exitCode == 69 && refused.output.isEmpty, "\(refused)")
    }
}

/// The agent of one runtime folder, or of the store, which is ended with this object.
private final class DetachedAgent: Sendable {
    private let daemon: TestDaemon
    private let environment: [String]
    let socket: String

    /// An agent in a runtime folder of its own.
    convenience init(_ daemon: TestDaemon) throws {
        let runtime = daemon.folder + "/runtime"
        try #require(mkdir(runtime, 0o700) == 0)
        self.init(daemon, runtime: runtime)
    }

    init(_ daemon: TestDaemon, runtime: String?) {
        self.daemon = daemon
        environment =
            ["PATH=\(TestDaemon.programs):/usr/bin:/bin"] + (runtime.map { ["XDG_RUNTIME_DIR=\($0)"] } ?? [])
        socket = (runtime.map { $0 + "/latchkey" } ?? daemon.folder + "/ssh-agent") + "/ssh-agent.sock"
    }

    deinit { _ = try? run(options: ["-k"]) }

    var isPrivate: Bool {
        [(socket, 0o600), (Files.folder(of: socket), 0o700)].allSatisfy { path, mode in
            (try? FileRecord(at: path)).map { $0.mode & 0o777 == mode } == true
        }
    }

    func run(options: [String] = [], environment more: [String] = []) throws -> Finished {
        try run("latchkey", ["ssh-agent"] + options, environment: more)
    }

    func run(_ program: String, _ arguments: [String], environment more: [String] = []) throws -> Finished {
        try daemon.run(program, arguments, environment: environment + more)
    }
}
