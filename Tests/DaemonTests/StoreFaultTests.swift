// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// A store that cannot be used: a precise error that names the fix, and nothing lost.
@Suite struct StoreFaultTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon()
        let stored = try daemon.run("latchkey", ["set", "kept"], input: "value")
        #expect(stored.exitCode == 0, "\(stored.errors)")
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        try #require(try Files.read(daemon.folder + "/" + name, limit: 64 << 20)).copyBytes()
    }

    private func replace(_ name: String, _ bytes: [UInt8]) throws {
        try Files.replace(daemon.folder + "/" + name, with: SecretBytes(bytes))
    }

    private func expectRefusal(_ words: String, hint: String, exitCode: CInt = 1) throws {
        let answer = try daemon.run("latchkey", ["get", "kept"])
        #expect(answer.exitCode == exitCode, "\(answer)")
        #expect(answer.output.isEmpty)
        #expect(answer.errors.contains(words), "\(answer.errors)")
        #expect(answer.errors.contains("hint: ") && answer.errors.contains(hint), "\(answer.errors)")
    }

    @Test(arguments: [0, 1, 100, 4096]) func aTruncatedDatabaseIsRefusedAndLeftAsItIs(count: Int) throws {
        try daemon.crash()
        Files.remove(daemon.folder + "/keychain.sqlite-shm")
        let whole = try bytes("keychain.sqlite")
        let log = try bytes("keychain.sqlite-wal")
        Files.remove(daemon.folder + "/keychain.sqlite-wal")
        try replace("keychain.sqlite", Array(whole[..<min(count, whole.count)]))
        let cut = try bytes("keychain.sqlite")
        try expectRefusal("error: ", hint: "Restore keychain.sqlite and root.key")
        try daemon.crash()
        #expect(try bytes("keychain.sqlite") == cut, "never replaced")
        // Restored as the hint says, everything is there again.
        try replace("keychain.sqlite", whole)
        try replace("keychain.sqlite-wal", log)
        Files.remove(daemon.folder + "/keychain.sqlite-shm")
        #expect(try daemon.run("latchkey", ["get", "kept"]).output == "value")
    }

    @Test func aMissingDatabaseIsNotReplacedByAnEmptyOne() throws {
        try daemon.crash()
        let path = daemon.folder + "/keychain.sqlite"
        try Files.rename(path, to: path + ".away")
        try expectRefusal("is missing, and its root key is there", hint: "Restore keychain.sqlite")
        #expect(!Files.exists(path))
    }

    @Test func aMissingRootKeyIsNotReplacedByANewOne() throws {
        try daemon.crash()
        let path = daemon.folder + "/root.key"
        try Files.rename(path, to: path + ".away")
        try expectRefusal("root.key is missing", hint: "Restore root.key from a backup")
        #expect(!Files.exists(path))
        try daemon.crash()
        try Files.rename(path + ".away", to: path)
        #expect(try daemon.run("latchkey", ["get", "kept"]).output == "value")
    }

    @Test func anotherRootKeyOpensNothing() throws {
        try daemon.crash()
        var key = try bytes("root.key")
        key[key.count - 1] ^= 1
        try replace("root.key", key)
        try expectRefusal("does not belong to this root key", hint: "Restore")
    }

    @Test func aSimulatedDaemonStartedInTheFolderByASlipLeavesTheStoreUsable() throws {
        try daemon.crash()
        try daemon.start(["--simulated"])
        try expectRefusal("tier", hint: "LATCHKEY_HOME")
        try daemon.crash()
        #expect(try daemon.run("latchkey", ["get", "kept"]).output == "value")
    }

    /// Whoever comes next, and perhaps starts the daemon itself, finds the tier written down.
    @Test func aSimulatedDaemonThatIsStartingHasItsTierWrittenDown() throws {
        let other = try TestDaemon()
        #expect(try other.run("latchkeyd", ["--simulated", "--detach"]).exitCode == 0)
        let text = try #require(try Files.read(other.folder + "/latchkeyd.conf", limit: 100))
        #expect(text == SecretBytes("tier = simulated\n".utf8))
        #expect(try other.run("latchkey", ["status", "--json"]).output.contains("\"simulated\""))
    }

    @Test func aStoreOfAnotherTierIsRefused() throws {
        try daemon.crash()
        try daemon.write("tier = simulated\n", to: "latchkeyd.conf")
        try expectRefusal("belongs to tier user, and this daemon runs in tier simulated", hint: "LATCHKEY_HOME")
    }

    @Test func aNewerStoreIsRefusedAndLeftAsItIs() throws {
        try daemon.crash()
        var database = try bytes("keychain.sqlite")
        // Bytes 60 to 63 of an SQLite file are the user version, most significant first.
        database[63] = 9
        Files.remove(daemon.folder + "/keychain.sqlite-wal")
        try replace("keychain.sqlite", database)
        try expectRefusal("The store has version 9", hint: "Install the newer version again")
        try daemon.crash()
        #expect(try bytes("keychain.sqlite") == database)
    }

    @Test func aFolderOfSomeoneElseIsRefused() throws {
        // Only root can make one; without that right a folder that others may write stands for it.
        try daemon.crash()
        if geteuid() == 0 {
            chown(daemon.folder, 12345, 12345)
            try expectRefusal("belongs to user 12345, not to you", hint: "LATCHKEY_HOME", exitCode: 1)
            chown(daemon.folder, 0, 0)
        }
        chmod(daemon.folder, 0o777)
        try expectRefusal("can be read or changed by other users", hint: "chmod 700")
        chmod(daemon.folder, 0o700)
        #expect(try daemon.run("latchkey", ["get", "kept"]).output == "value")
    }

    @Test func aConfigurationThatIsNotUnderstoodIsRefused() throws {
        try daemon.crash()
        try daemon.write("tear = user\n", to: "latchkeyd.conf")
        let foreground = try daemon.run("latchkeyd", [])
        #expect(foreground.exitCode == 1)
        #expect(foreground.errors.contains("a line that is not understood: tear = user"))
        #expect(foreground.errors.contains("hint: Known: tier = user | simulated"))
    }

    @Test func noHomeIsNamedWithItsFix() throws {
        let answer = try Finished(
            TestDaemon.programs + "/latchkey", ["status"], input: "", environment: ["LATCHKEY_HOME=relative/path"])
        #expect(answer.exitCode == 69)
        #expect(answer.errors.contains("LATCHKEY_HOME is not an absolute path"))
    }

    @Test func aFolderThatCannotBeMadeIsNamedWithItsFix() throws {
        // Below a file no folder can be made, whoever asks; /proc refuses writing like a disk that is read-only.
        for path in ["/dev/null/latchkey", "/proc/latchkey"] {
            let answer = try Finished(
                TestDaemon.programs + "/latchkey", ["status"], input: "", environment: ["LATCHKEY_HOME=\(path)"])
            #expect(answer.exitCode == 1, "\(answer)")
            #expect(
                answer.errors.contains(path) && answer.errors.contains("hint: Set LATCHKEY_HOME"), "\(answer.errors)")
        }
    }
}
