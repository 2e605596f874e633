// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import Testing

/// The command line as text: what a person types and reads.
@Suite struct TextScriptTests {
    private static let folder = Files.folder(of: #filePath) + "/Scripts"

    @Test(arguments: [
        "help", "options", "complete", "items", "simulation", "passcode", "reset", "backup", "log",
        "groups",
    ]) func theCommandsDoWhatTheScriptSays(name: String) throws {
        let bytes = try #require(try Files.read("\(Self.folder)/\(name).txt", limit: 1 << 20))
        let script = TextScript(String(decoding: bytes.copyBytes(), as: UTF8.self))
        #expect(!script.steps.isEmpty)
        let failure = try script.run(try TestDaemon())
        #expect(failure == nil, "\(name).txt, \(failure ?? "")")
    }

    /// The runner itself: what differs is told, and the wildcards match no more than they say.
    @Test(arguments: [
        ("$ echo one\none", true), ("$ echo one\ntwo", false), ("$ exit 3\n[3]", true), ("$ exit 3", false),
        ("$ echo a b c\na <...> c", true), ("$ echo ac\na<...>b<...>c", false), ("$ echo abab\n<...>ab", true),
        ("$ printf '1\\n2\\n3\\n'\n...\n3", true), ("$ printf '1\\n2\\n3\\n'\n...\n2", false), ("$ echo x", false),
        ("$ echo x >&2\nx", true), ("$ cat <<END\n> two\n> END\ntwo", true),
    ]) func theRunnerTellsWhatDiffers(text: String, isRight: Bool) throws {
        #expect(try (TextScript(text).run(TestDaemon()) == nil) == isRight)
    }
}
