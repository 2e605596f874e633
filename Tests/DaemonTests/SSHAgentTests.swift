// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// `latchkey ssh-agent` with `ssh-add`, `ssh-keygen` and `git`, and a scripted finger.
@Suite struct SSHAgentTests {
    private let daemon: TestDaemon
    private let agent: RunningAgent

    init() throws {
        daemon = try TestDaemon(simulated: true)
        _ = try daemon.run("latchkey", ["sim", "start", "--ready"])
        let made = try daemon.run("latchkey", ["key", "create", "--ssh", "work"])
        try #require(made.exitCode == 0, "\(made.errors)")
        agent = try RunningAgent(daemon)
    }

    private func run(_ program: String, _ arguments: String..., input: String = "") throws -> Finished {
        let more = ["SSH_AUTH_SOCK=\(agent.socket)", "GIT_CONFIG_NOSYSTEM=1"]
        return try daemon.run(program, arguments, input: input, environment: more)
    }

    private func touch() throws { _ = try daemon.run("latchkey", ["sim", "touch"]) }

    private func prompts() throws -> [String] {
        try daemon.run("latchkey", ["sim", "transcript"]).output.split(separator: "\n").filter { $0.contains("asks:") }
            .map(String.init)
    }

    private func path(_ name: String) -> String { daemon.folder + "/" + name }

    /// The public key as a file, and as a list of allowed signers.
    private func writePublicKey() throws {
        let line = try daemon.run("latchkey", ["key", "public", "work", "--format", "ssh"]).output
        try daemon.write(line, to: "work.pub")
        try daemon.write("ada@example.com " + line, to: "signers")
    }

    // MARK: - Keys

    @Test(.promise("ssh.keys")) func sshAddListsTheMarkedKeyAndNoOther() throws {
        for options in [["--enclave"], ["--enclave", "--protect", "presence"], []] {
            let name = "other\(options.count)"
            #expect(try daemon.run("latchkey", ["key", "create", name] + options).exitCode == 0)
        }
        let listed = try run("/usr/bin/ssh-add", "-L")
        #expect(listed.exitCode == 0, "\(listed.errors)")
        #expect(listed.output == (try daemon.run("latchkey", ["key", "public", "work", "--format", "ssh"]).output))
        let short = try run("/usr/bin/ssh-add", "-l").output
        #expect(short.hasPrefix("256 SHA256:") && short.hasSuffix(" work (ECDSA)\n"), "\(short)")
    }

    @Test(.promise("ssh.keys")) func keyForSSHSignsNothingElseAndIsSeenByNoOtherProgram() throws {
        for verb in ["sign", "decrypt"] {
            let refused = try daemon.run("latchkey", ["key", verb, "work"], input: "message")
            #expect(refused.exitCode == 1 && refused.output.isEmpty, "\(refused)")
        }
        #expect(try daemon.run("latchkey", ["key", "sign", "work"], input: "m").errors.contains("latchkey ssh-agent"))
        // The group of another program has no such item.
        let reply = try RawClient(daemon, hello: Request.Hello(application: "app")).call(
            .listItems(ItemQuery(itemClass: .key)))
        guard case .items(let items, _)? = reply else {
            Issue.record("\(String(describing: reply))")
            return
        }
        #expect(items.isEmpty)
        #expect(try prompts().isEmpty)
    }

    @Test func keyForSSHNeedsAProtectionAndTheEnclave() throws {
        for options in [["--protect", "none"], ["--type", "rsa2048"], ["--type", "p384"]] {
            let refused = try daemon.run("latchkey", ["key", "create", "--ssh", "more"] + options)
            #expect(refused.exitCode == 64, "\(options): \(refused.errors)")
        }
        let again = try daemon.run("latchkey", ["key", "create", "--ssh", "work"])
        #expect(again.exitCode == 73)
        let list = try daemon.run("latchkey", ["key", "list", "--json"]).output
        #expect(list.contains("\"ssh\":true") && list.contains("\"protection\":\"presence\""), "\(list)")
        #expect(try daemon.run("latchkey", ["key", "delete", "work", "--yes"]).exitCode == 0)
        #expect(try run("/usr/bin/ssh-add", "-l").exitCode == 1)
    }

    @Test func keysAreNeitherAddedNorRemovedBySSHAdd() throws {
        _ = try run("/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path("file"))
        #expect(try run("/usr/bin/ssh-add", path("file")).exitCode != 0)
        try writePublicKey()
        #expect(try run("/usr/bin/ssh-add", "-d", path("work.pub")).exitCode != 0)
        #expect(try run("/usr/bin/ssh-add", "-D").exitCode != 0)
        #expect(try run("/usr/bin/ssh-add", "-l").exitCode == 0)
    }

    // MARK: - Signed messages

    @Test func sshKeygenSignsWithAFingerAndVerifies() throws {
        try writePublicKey()
        try touch()
        let signed = try run(
            "/usr/bin/ssh-keygen", "-Y", "sign", "-n", "file", "-f", path("work.pub"), input: "message")
        #expect(signed.exitCode == 0, "\(signed.errors)")
        try daemon.write(signed.output, to: "sig")
        let verify = ["-Y", "verify", "-f", path("signers"), "-I", "ada@example.com", "-n", "file", "-s", path("sig")]
        #expect(try daemon.run("/usr/bin/ssh-keygen", verify, input: "message").exitCode == 0)
        #expect(try daemon.run("/usr/bin/ssh-keygen", verify, input: "messagf").exitCode != 0)
        let asked = try prompts()
        #expect(asked.count == 1)
        #expect(asked.first?.contains("sign data of namespace file, asked by /usr/bin/ssh-keygen (process ") == true)
    }

    @Test func cancelledPromptSignsNothing() throws {
        try writePublicKey()
        _ = try daemon.run("latchkey", ["sim", "cancel"])
        let signed = try run(
            "/usr/bin/ssh-keygen", "-Y", "sign", "-n", "file", "-f", path("work.pub"), input: "message")
        #expect(signed.exitCode != 0 && signed.output.isEmpty)
    }

    @Test func gitSignsAndVerifiesACommit() throws {
        try writePublicKey()
        try daemon.write(
            """
            [user]
            name = Ada
            email = ada@example.com
            signingKey = \(path("work.pub"))
            [gpg]
            format = ssh
            [gpg "ssh"]
            allowedSignersFile = \(path("signers"))
            [init]
            defaultBranch = main

            """, to: ".gitconfig")
        #expect(try run("/usr/bin/git", "init", "-q", path("repository")).exitCode == 0)
        try touch()
        let commit = try run(
            "/usr/bin/git", "-C", path("repository"), "commit", "-q", "-S", "--allow-empty", "-m", "a change")
        #expect(commit.exitCode == 0, "\(commit.errors)")
        let verified = try run("/usr/bin/git", "-C", path("repository"), "verify-commit", "HEAD")
        #expect(verified.exitCode == 0 && verified.errors.contains("Good \"git\" signature for ada@example.com"))
        #expect(try prompts().last?.contains("sign data of namespace git, asked by /usr/bin/ssh-keygen") == true)
    }

    // MARK: - Locking

    @Test func sshAddLocksAndUnlocks() throws {
        // ssh-add reads a passphrase from the program of SSH_ASKPASS if it has no terminal.
        try ScriptFile.write("#!/bin/sh\ncat \(path("word"))\n", to: path("askpass"))
        let asking = ["SSH_AUTH_SOCK=\(agent.socket)", "SSH_ASKPASS=\(path("askpass"))", "SSH_ASKPASS_REQUIRE=force"]
        func add(_ option: String, _ word: String) throws -> Finished {
            try daemon.write(word + "\n", to: "word")
            return try daemon.run("/usr/bin/ssh-add", [option], environment: asking)
        }
        #expect(try add("-x", "word").exitCode == 0)
        #expect(try run("/usr/bin/ssh-add", "-l").exitCode == 1)
        #expect(try add("-X", "other").exitCode != 0)
        #expect(try add("-X", "word").exitCode == 0)
        #expect(try run("/usr/bin/ssh-add", "-l").exitCode == 0)
    }

    // MARK: - Socket

    @Test func socketIsPrivateAndASecondAgentIsRefused() throws {
        var status = stat()
        #expect(stat(agent.socket, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(Files.folder(of: agent.socket), &status) == 0 && status.st_mode & 0o777 == 0o700)
        let second = try daemon.run(
            "latchkey", ["ssh-agent", "--foreground"], environment: ["XDG_RUNTIME_DIR=\(agent.runtime)"])
        #expect(second.exitCode == 73 && second.errors.contains(agent.socket), "\(second)")
        #expect(try run("/usr/bin/ssh-add", "-l").exitCode == 0)
    }

    @Test func socketOfAServiceManagerIsNotReplaced() throws {
        let runtime = daemon.folder + "/other"
        try Files.makePrivateFolder(runtime + "/latchkey")
        let path = runtime + "/latchkey/ssh-agent.sock"
        let manager = try Sockets.listen(path)
        let refused = try daemon.run(
            "latchkey", ["ssh-agent", "--foreground"], environment: ["XDG_RUNTIME_DIR=\(runtime)"])
        #expect(refused.exitCode == 73 && refused.errors.contains(path), "\(refused)")
        #expect((try? Sockets.connect(path)) != nil)
        withExtendedLifetime(manager) {}
    }

    @Test func wrongUseIsRefused() throws {
        for arguments in [["--reuse", "301"], ["--reuse", "-1"], ["--reuse", "x"], ["more"], ["--json"]] {
            #expect(try daemon.run("latchkey", ["ssh-agent"] + arguments).exitCode == 64, "\(arguments)")
        }
    }
}

/// A running `latchkey ssh-agent --foreground`, which is killed with this object.
final class RunningAgent: Sendable {
    let runtime: String
    let socket: String
    private let process: pid_t
    private let output: Descriptor

    init(_ daemon: TestDaemon, _ arguments: [String] = []) throws {
        runtime = daemon.folder
        let (near, far) = try Sockets.pair()
        output = near
        process = try Processes.spawn(
            TestDaemon.programs + "/latchkey", ["ssh-agent", "--foreground"] + arguments,
            environment: daemon.environment + ["XDG_RUNTIME_DIR=\(runtime)"], descriptors: [nil, far, nil])
        var line: [UInt8] = []
        while line.last != 0x0a {
            try #require(try near.wait(for: POLLIN, until: Uptime.deadline(seconds: 20)))
            var byte: UInt8 = 0
            try #require(read(near.number, &byte, 1) == 1, "the agent did not start")
            line.append(byte)
        }
        let path = runtime + "/latchkey/ssh-agent.sock"
        #expect(String(decoding: line, as: UTF8.self) == "SSH_AUTH_SOCK=\(path); export SSH_AUTH_SOCK;\n")
        socket = path
    }

    deinit {
        kill(process, SIGKILL)
        Processes.wait(process)
    }
}
