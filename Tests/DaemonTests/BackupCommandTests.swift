// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// Tests of `latchkey export` and `latchkey import` between two stores.
@Suite struct BackupCommandTests {
    private let from: TestDaemon
    private let to: TestDaemon

    init() throws {
        from = try TestDaemon(simulated: true)
        to = try TestDaemon(simulated: true)
        try from.start()
        try to.start()
        for (name, group) in [("one", "test"), ("two", "test"), ("three", "other")] {
            let stored = try from.run(
                "latchkey", ["set", name], input: "secret \(name)", environment: ["LATCHKEY_APP_ID=\(group)"])
            #expect(stored.exitCode == 0, "\(stored.errors)")
        }
        for daemon in [from, to] {
            #expect(try daemon.run("latchkey", ["sim", "passcode", "set"], input: "1234\n").exitCode == 0)
        }
    }

    private var file: String { from.folder + "/backup" }

    /// Runs a command on a terminal, simulates entering the passcode and the last step, and returns its output.
    private func run(
        _ daemon: TestDaemon, _ arguments: [String], lastStep: [String], input: String = ""
    ) throws -> String {
        let screen = try Screen()
        let caller = try screen.terminal.spawn(
            TestDaemon.programs + "/latchkey", arguments, environment: daemon.environment)
        #expect(try daemon.run("latchkey", ["sim", "enter"], input: "1234\n").exitCode == 0)
        #expect(try daemon.run("latchkey", ["sim"] + lastStep, input: input).exitCode == 0)
        let text = screen.everything()
        Processes.wait(caller)
        return text
    }

    /// Exports, and returns the recovery code that the prompt showed.
    private func export(_ arguments: String...) throws -> (code: String, text: String) {
        let text = try run(from, ["export", file] + arguments, lastStep: ["acknowledge"])
        let code = try from.run("latchkey", ["sim", "code"])
        #expect(code.exitCode == 0, "\(code)")
        return (code.output, text)
    }

    @Test func itemsOfEveryAppAreImportedIntoAnotherStore() throws {
        let (code, text) = try export()
        #expect(text.contains("3 items were exported"), "\(text)")
        let imported = try run(to, ["import", file], lastStep: ["enter-code"], input: code)
        #expect(imported.contains("3 items were imported, 0 already present"), "\(imported)")
        #expect(try to.run("latchkey", ["get", "one"]).output == "secret one")
        let other = try to.run("latchkey", ["get", "three"], environment: ["LATCHKEY_APP_ID=other"])
        #expect(other.output == "secret three")
    }

    @Test func backupFileContainsNoPlainTextAndIsPrivate() throws {
        _ = try export()
        let bytes = try #require(try Files.read(file, limit: 1 << 20)).copyBytes()
        // Words of at least five letters: one of three letters occurs in so many random bytes by chance once in
        // 50,000 runs.
        for word in ["secret", "three", "other"] {
            let needle = Array(word.utf8)
            #expect(!bytes.indices.contains { bytes[$0...].starts(with: needle) }, "\(word)")
        }
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let again = try from.run("latchkey", ["export", file])
        #expect(again.exitCode == 73 && again.errors.contains("--replace"), "\(again)")
    }

    @Test func exportWithoutPromptWritesNothing() throws {
        let refused = try from.run("latchkey", ["export", file])
        #expect(refused.exitCode == 77, "\(refused)")
        #expect(!Files.exists(file) && !Files.exists(file + ".partial"))
    }

    @Test func truncatedFileImportsNothing() throws {
        let code = try export().code
        let whole = try #require(try Files.read(file, limit: 1 << 20)).copyBytes()
        try Files.replace(file, with: SecretBytes(whole.dropLast(100)))
        let imported = try run(to, ["import", file], lastStep: ["enter-code"], input: code)
        #expect(imported.contains("ends too early") && imported.contains("Nothing of it was imported"), "\(imported)")
        #expect(try to.run("latchkey", ["get", "one"]).exitCode != 0)
    }
}
