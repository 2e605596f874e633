// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Tests of `make install PART=agent` and `make uninstall`, with a temporary folder as the root of the system.
@Suite struct InstallAgentTests {
    private let folder: TemporaryFolder
    private let shell: OtherProgram
    private let system: String

    init() throws {
        folder = try TemporaryFolder()
        shell = try OtherProgram()
        system = folder.path + "/system"
        try shell.write("latchkey-agent", "#!/bin/sh\n")
        try shell.run("mkdir", folder.path + "/built")
        try shell.run("cp", "latchkey-agent", folder.path + "/built/latchkey-agent")
    }

    private func install(_ argument: String? = nil, prefix: String) throws {
        try shell.run(
            "-i", "PATH=/usr/bin:/bin", "HOME=/home/person", "PREFIX=\(prefix)", "DESTDIR=\(system)",
            Repository.script("install"), "agent", argument ?? folder.path + "/built")
    }

    /// Every file below the root with its mode, from find(1).
    private func files() throws -> [String] {
        let found = try shell.run("find", system, "-type", "f", "-printf", "%m /%P\\n")
        return String(decoding: found, as: UTF8.self).split(separator: "\n").map(String.init).sorted()
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: system + path, encoding: .utf8) }

    @Test func systemInstallationStartsInEverySession() throws {
        try install(prefix: "/usr/local")
        #expect(
            try files() == [
                "644 /etc/xdg/autostart/org.latchkey.Agent.desktop",
                "644 /usr/local/lib/systemd/user/latchkey-agent.service",
                "644 /usr/local/share/applications/org.latchkey.Agent.desktop",
                "644 /usr/local/share/icons/hicolor/scalable/apps/org.latchkey.Agent.svg",
                "644 /usr/local/share/man/man1/latchkey-agent.1",
                "644 /usr/local/share/metainfo/org.latchkey.Agent.metainfo.xml",
                "755 /usr/local/libexec/latchkey-agent",
            ])
        #expect(
            try text("/etc/xdg/autostart/org.latchkey.Agent.desktop").contains(
                "\nExec=/usr/local/libexec/latchkey-agent\n"))
        #expect(
            try text("/usr/local/lib/systemd/user/latchkey-agent.service").contains(
                "\nExecStart=/usr/local/libexec/latchkey-agent\n"))
    }

    @Test func homeInstallationStartsInThatUsersSessionOnly() throws {
        try install(prefix: "/home/person/.local")
        #expect(
            try files() == [
                "644 /home/person/.config/autostart/org.latchkey.Agent.desktop",
                "644 /home/person/.config/systemd/user/latchkey-agent.service",
                "644 /home/person/.local/share/applications/org.latchkey.Agent.desktop",
                "644 /home/person/.local/share/icons/hicolor/scalable/apps/org.latchkey.Agent.svg",
                "644 /home/person/.local/share/man/man1/latchkey-agent.1",
                "644 /home/person/.local/share/metainfo/org.latchkey.Agent.metainfo.xml",
                "755 /home/person/.local/libexec/latchkey-agent",
            ])
        #expect(
            try text("/home/person/.config/autostart/org.latchkey.Agent.desktop").contains(
                "=/home/person/.local/libexec/"))
    }

    @Test(arguments: ["/usr/local", "/home/person/.local"])
    func removalDeletesInstalledFilesOnly(prefix: String) throws {
        try install(prefix: prefix)
        try shell.run("cp", "latchkey-agent", system + prefix + "/libexec/another-program")
        try install("--remove", prefix: prefix)
        #expect(try files() == ["600 \(prefix)/libexec/another-program"])
        // Removing again, when nothing is installed, is not an error.
        try install("--remove", prefix: prefix)
    }
}
