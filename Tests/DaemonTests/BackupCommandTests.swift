// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// export and import, from one store into another.
@Suite struct BackupCommandTests {
    private let from: TestDaemon
    private let to: TestDaemon

    init() throws {
        from = try TestDaemon()
        to = try TestDaemon()
        for (name, group) in [("one", "test"), ("two", "test"), ("three", "other")] {
            let stored = try from.run(
                "latchkey", ["set", name], input: "secret \(name)", environment: ["LATCHKEY_APP_ID=\(group)"])
            #expect(stored.exitCode == 0, "\(stored.errors)")
        }
    }

    private var file: String { from.folder + "/backup" }

    /// Exports and gives the recovery code.
    private func export() throws -> String {
        let exported = try from.run("latchkey", ["export", file])
        #expect(exported.exitCode == 0, "\(exported.errors)")
        #expect(exported.output == "3 items were exported.\n")
        return try #require(exported.errors.split(separator: " ").last.map { String($0.dropLast()) })
    }

    @Test func everyAppsItemsArriveInAnotherStore() throws {
        let code = try export()
        let imported = try to.run("latchkey", ["import", file], input: code + "\n")
        #expect(imported.exitCode == 0, "\(imported.errors)")
        #expect(imported.output == "3 items were imported, 0 were there already.\n")
        #expect(try to.run("latchkey", ["get", "one"]).output == "secret one")
        let other = try to.run("latchkey", ["get", "three"], environment: ["LATCHKEY_APP_ID=other"])
        #expect(other.output == "secret three")
    }

    @Test func anImportThatIsRepeatedGoesOnWhereItStopped() throws {
        let code = try export()
        #expect(try to.run("latchkey", ["set", "two"], input: "mine").exitCode == 0)
        let imported = try to.run("latchkey", ["import", file, "--json"], input: code.lowercased() + "\n")
        #expect(imported.output == "{\"imported\":2,\"present\":1}\n", "\(imported)")
        #expect(try to.run("latchkey", ["get", "two"]).output == "mine", "nothing is overwritten")
        let again = try to.run("latchkey", ["import", file], input: code + "\n")
        #expect(again.output == "0 items were imported, 3 were there already.\n")
    }

    @Test func aFileThatWasCutImportsWhatIsWholeAndSaysSo() throws {
        let code = try export()
        let whole = try #require(try Files.read(file, limit: 1 << 20)).copyBytes()
        try Files.replace(file, with: SecretBytes(whole.dropLast(100)))
        let imported = try to.run("latchkey", ["import", file], input: code + "\n")
        #expect(imported.exitCode == 1)
        #expect(imported.errors.contains("ends too early") && imported.errors.contains("hint: "), "\(imported)")
    }

    @Test func aWrongCodeIsToldFromASlip() throws {
        _ = try export()
        let slip = try to.run("latchkey", ["import", file], input: "ABCDE\n")
        #expect(slip.exitCode == 64 && slip.errors.contains("slip of the pen"), "\(slip)")
        let other = try to.run("latchkey", ["import", file], input: String(repeating: "0", count: 26) + "\n")
        #expect(other.exitCode == 77 && other.errors.contains("does not open this backup"), "\(other)")
    }

    @Test func nothingReadableIsInTheFileAndItIsPrivate() throws {
        _ = try export()
        let bytes = try #require(try Files.read(file, limit: 1 << 20)).copyBytes()
        // Of five letters and more: three stand anywhere among so many random bytes once in 50,000 times.
        for word in ["secret", "three", "other"] {
            let needle = Array(word.utf8)
            #expect(!bytes.indices.contains { bytes[$0...].starts(with: needle) }, "\(word)")
        }
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let again = try from.run("latchkey", ["export", file])
        #expect(again.exitCode == 73 && again.errors.contains("--replace"), "\(again)")
    }

    @Test func whatIsBoundToTheDeviceStays() throws {
        let bound = try from.run("latchkey", ["passcode", "set"], input: "1234\n")
        #expect(bound.exitCode == 0, "\(bound.errors)")
        #expect(try from.run("latchkey", ["set", "bound", "--protect", "presence"], input: "x").exitCode == 0)
        // With a passcode the owner is asked for, and here is nobody to ask.
        let refused = try from.run("latchkey", ["export", file])
        #expect(refused.exitCode == 77, "\(refused)")
        #expect(!Files.exists(file) && !Files.exists(file + ".partial"))
        let screen = try Screen()
        let caller = try screen.terminal.spawn(
            TestDaemon.programs + "/latchkey", ["export", file], environment: from.environment)
        #expect(screen.hears("to \"export the keychain\""))
        try screen.terminal.type("1234\r")
        #expect(screen.hears("3 items were exported"))
        #expect(screen.everything().contains("1 stay"))
        #expect(Processes.wait(caller) == 0)
    }
}
