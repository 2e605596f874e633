// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import Testing

/// Tests of the command line by scripts of commands and expected output.
@Suite struct TextScriptTests {
    private static let folder = Files.folder(of: #filePath) + "/Scripts"

    @Test(arguments: [
        "help", "options", "complete", "items", "simulation", "passcode", "reset", "backup", "log",
        "groups", "doctor", "migrate", "moving", "languages", "run", "git", "helpers", "setup",
    ]) func commandsMatchTheirScripts(name: String) throws {
        let bytes = try #require(try Files.read("\(Self.folder)/\(name).txt", limit: 1 << 20))
        let script = TextScript(String(decoding: bytes.copyBytes(), as: UTF8.self))
        #expect(!script.steps.isEmpty)
        let failure = try script.run(try TestDaemon())
        #expect(failure == nil, "\(name).txt, \(failure ?? "")")
    }

    private static func page(_ name: String) throws -> String {
        let path = Files.folder(of: Files.folder(of: Files.folder(of: #filePath))) + "/" + name
        return String(decoding: try #require(try Files.read(path, limit: 1 << 20)).copyBytes(), as: UTF8.self)
    }

    /// The blocks of the README and of the page of the command line that begin with this line.
    private static func blocks(_ fence: String) throws -> [String] {
        var blocks: [String] = []
        var open: Substring?
        let text = try page("README.md") + page("docs/use/command-line.md")
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("```") else {
                if open == fence[...] { blocks[blocks.count - 1] += line + "\n" }
                continue
            }
            open = open == nil ? line : nil
            if open == fence[...] { blocks.append("") }
        }
        return blocks
    }

    @Test func sessionsInPagesMatchTheirOutput() throws {
        let sessions = try Self.blocks("```console")
        #expect(!sessions.isEmpty)
        for session in sessions {
            let script = TextScript(session)
            #expect(script.steps.count > 3)
            let failure = try script.run(try TestDaemon())
            #expect(failure == nil, "\(failure ?? "")")
        }
    }

    /// Runs each command line of the other blocks with `--help`: an unknown command or option is refused.
    @Test func commandLinesInPagesAreValid() throws {
        let daemon = try TestDaemon()
        let lines = try Self.blocks("```").flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("latchkey ") }
        #expect(lines.count > 8)
        for line in lines {
            let words = line.prefix { $0 != "#" && $0 != "<" }.split(separator: " ").dropFirst().map(String.init)
            let help = try daemon.run("latchkey", words + ["--help"])
            #expect(help.exitCode == 0 && help.output.hasPrefix("usage: "), "\(line)")
        }
    }

    /// Tests the runner itself: it reports differences, and wildcards match only what they should.
    @Test(arguments: [
        ("$ echo one\none", true), ("$ echo one\ntwo", false), ("$ exit 3\n[3]", true), ("$ exit 3", false),
        ("$ echo a b c\na <...> c", true), ("$ echo ac\na<...>b<...>c", false), ("$ echo abab\n<...>ab", true),
        ("$ printf '1\\n2\\n3\\n'\n...\n3", true), ("$ printf '1\\n2\\n3\\n'\n...\n2", false), ("$ echo x", false),
        ("$ echo x >&2\nx", true), ("$ cat <<END\n> two\n> END\ntwo", true),
    ]) func scriptRunnerReportsDifferences(text: String, isRight: Bool) throws {
        #expect(try (TextScript(text).run(TestDaemon()) == nil) == isRight)
    }
}
