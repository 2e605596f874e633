// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Tests of `scripts/install programs`, with a temporary folder as the root of the system.
@Suite struct InstallTests {
    private let folder: TemporaryFolder
    private let shell: OtherProgram
    private let system: String
    private let built: String

    init() throws {
        folder = try TemporaryFolder()
        shell = try OtherProgram()
        system = folder.path + "/system"
        built = folder.path + "/built"
        try shell.run("mkdir", built)
        try shell.write("program", "#!/bin/sh\n")
        for name in [
            "latchkey", "latchkey-prompt", "latchkey-authd", "latchkey-fingerprint", "latchkey-secrets", "latchkey-pam",
        ] {
            try shell.run("cp", "program", built + "/" + name)
        }
        try shell.run("cp", TestDaemon.programs + "/latchkeyd", built + "/latchkeyd")
    }

    private func install(_ arguments: String..., prefix: String) throws {
        _ = try shell.output(
            [
                "-i", "PATH=/usr/bin:/bin", "HOME=/home/person", "PREFIX=\(prefix)", "DESTDIR=\(system)",
                Repository.script("install"),
            ] + arguments)
    }

    @Test(
        arguments: [
            ("/usr", "/usr/lib/systemd/user"), ("/usr/local", "/usr/local/lib/systemd/user"),
            ("/home/person/.local", "/home/person/.config/systemd/user"),
            ("/opt/latchkey", "/opt/latchkey/lib/systemd/user"),
        ])
    func theUnitsOfTheAgentStartTheInstalledCommand(prefix: String, units: String) throws {
        try install("programs", built, prefix: prefix)
        let service = try String(contentsOfFile: system + units + "/latchkey-ssh-agent.service", encoding: .utf8)
        #expect(service.contains("\nExecStart=\(prefix)/bin/latchkey ssh-agent --foreground\n"))
        let socket = try String(contentsOfFile: system + units + "/latchkey-ssh-agent.socket", encoding: .utf8)
        #expect(socket.contains("\nListenStream=%t/latchkey/ssh-agent.sock\n"))
        try install("programs", "--remove", prefix: prefix)
        #expect(try shell.run("find", system, "-type", "f").isEmpty)
    }

    @Test func removingSaysThatTheKeychainRemainsAndHowToDeleteIt() throws {
        let home = folder.path + "/an other's home"
        func remove() throws -> String {
            let variables = ["-i", "PATH=/usr/bin:/bin", "HOME=\(home)", "PREFIX=\(home)/.local"]
            let bytes = try shell.output(variables + [Repository.script("install"), "latchkey", "--remove"])
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(try remove().isEmpty, "there is no keychain")
        let store = home + "/.local/share/latchkey"
        try shell.run("mkdir", "-p", store)
        try shell.run("touch", store + "/keychain.sqlite")
        let lines = try remove().split(separator: "\n")
        #expect(lines.first?.hasPrefix("Your keychain remains in \(store);") == true, "\(lines)")
        let command = try #require(lines.last?.firstRange(of: "rm -r ").map { String(lines[1][$0.lowerBound...]) })
        try shell.run("sh", "-c", command)
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test func installedProgramsHaveNoSymbolsAndRun() throws {
        #expect(try !shell.run("nm", built + "/latchkeyd").isEmpty)
        try install("programs", built, prefix: "/usr")
        let program = system + "/usr/libexec/latchkeyd"
        #expect(try shell.run("nm", program).isEmpty)
        #expect(String(decoding: try shell.run(program, "--version"), as: UTF8.self).hasPrefix("latchkeyd "))
    }
}
