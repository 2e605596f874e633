// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import Testing

/// Tests of unusable stores: the error is precise and names the remedy, and nothing is lost.
@Suite struct StoreFaultTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon()
        let stored = try daemon.run("latchkey", ["set", "--protect", "none", "kept"], input: "value")
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

    @Test(arguments: [0, 1, 100, 4096]) func truncatedDatabaseIsRefusedAndNotChanged(count: Int) throws {
        try daemon.crash()
        Files.remove(daemon.folder + "/keychain.sqlite-shm")
        let whole = try bytes("keychain.sqlite")
        let log = try bytes("keychain.sqlite-wal")
        Files.remove(daemon.folder + "/keychain.sqlite-wal")
        try replace("keychain.sqlite", Array(whole[..<min(count, whole.count)]))
        let cut = try bytes("keychain.sqlite")
        try expectRefusal("error: ", hint: "Restore keychain.sqlite and root.key")
        try daemon.crash()
        #expect(try bytes("keychain.sqlite") == cut, "the file is not replaced")
        // After restoring the files as the hint says, the item can be read.
        try replace("keychain.sqlite", whole)
        try replace("keychain.sqlite-wal", log)
        Files.remove(daemon.folder + "/keychain.sqlite-shm")
        let answer = try daemon.run("latchkey", ["get", "kept"])
        #expect(answer.output == "value", "\(answer)")
    }

    @Test func missingDatabaseIsNotReplacedByAnEmptyOne() throws {
        try daemon.crash()
        let path = daemon.folder + "/keychain.sqlite"
        try Files.rename(path, to: path + ".away")
        try expectRefusal("is missing, but its root key exists", hint: "Restore keychain.sqlite")
        #expect(!Files.exists(path))
    }

    @Test func missingRootKeyIsNotReplacedByANewOne() throws {
        try daemon.crash()
        let path = daemon.folder + "/root.key"
        try Files.rename(path, to: path + ".away")
        try expectRefusal("root.key is missing", hint: "Restore root.key from a backup")
        #expect(!Files.exists(path))
        try daemon.crash()
        try Files.rename(path + ".away", to: path)
        #expect(try daemon.run("latchkey", ["get", "kept"]).output == "value")
    }

    @Test(.promise("attacker.database")) func anotherRootKeyOpensNothing() throws {
        try daemon.crash()
        var key = try bytes("root.key")
        key[key.count - 1] ^= 1
        try replace("root.key", key)
        try expectRefusal("does not belong to this root key", hint: "Restore")
    }

    @Test func simulatedDaemonInUserStoreIsRefusedAndChangesNothing() throws {
        try daemon.crash()
        try daemon.start(["--simulated"])
        try expectRefusal("tier", hint: "LATCHKEY_HOME")
        try daemon.crash()
        #expect(try daemon.run("latchkey", ["get", "kept"]).output == "value")
    }

    /// The next client, which may start the daemon itself, finds the tier in the configuration.
    @Test func detachedSimulatedDaemonStoresItsTierFirst() throws {
        let other = try TestDaemon()
        #expect(try other.run("latchkeyd", ["--simulated", "--detach"]).exitCode == 0)
        let text = try #require(try Files.read(other.folder + "/latchkeyd.conf", limit: 100))
        #expect(text == SecretBytes("tier = simulated\n".utf8))
        #expect(try other.run("latchkey", ["status", "--json"]).output.contains("\"simulated\""))
    }

    @Test func storeOfAnotherTierIsRefused() throws {
        try daemon.crash()
        try daemon.write("tier = simulated\n", to: "latchkeyd.conf")
        try expectRefusal("belongs to tier user, and this daemon runs in tier simulated", hint: "LATCHKEY_HOME")
    }

    @Test func newerStoreIsRefusedAndNotChanged() throws {
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

    @Test func folderOfAnotherUserIsRefused() throws {
        // Only root can create such a folder; otherwise a folder that others may write is used.
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

    @Test func invalidConfigurationIsRefused() throws {
        try daemon.crash()
        try daemon.write("tear = user\n", to: "latchkeyd.conf")
        let foreground = try daemon.run("latchkeyd", [])
        #expect(foreground.exitCode == 1)
        #expect(foreground.errors.contains("a line that is not understood: tear = user"))
        #expect(foreground.errors.contains("hint: Known: tier = user | simulated"))
    }

    @Test func relativeHomeIsReportedWithAdvice() throws {
        let answer = try Finished(
            TestDaemon.programs + "/latchkey", ["status"], input: "", environment: ["LATCHKEY_HOME=relative/path"])
        #expect(answer.exitCode == 69)
        #expect(answer.errors.contains("LATCHKEY_HOME is not an absolute path"))
    }

    @Test func unusableFolderIsReportedWithAdvice() throws {
        // No folder can be created below a file, even by root; /proc refuses writing like a read-only file system.
        for path in ["/dev/null/latchkey", "/proc/latchkey"] {
            let answer = try Finished(
                TestDaemon.programs + "/latchkey", ["status"], input: "", environment: ["LATCHKEY_HOME=\(path)"])
            #expect(answer.exitCode == 1, "\(answer)")
            #expect(
                answer.errors.contains(path) && answer.errors.contains("hint: Set LATCHKEY_HOME"), "\(answer.errors)")
        }
    }

    /// An app that is a service has a folder of systemd too, but not that of the store.
    @Test(arguments: [("/proc", "Ask an administrator"), ("/var/lib/app", "Set LATCHKEY_HOME")])
    func unusableFolderOfAServiceIsReportedWithAdviceForIt(folder: String, advice: String) throws {
        let answer = try Finished(
            TestDaemon.programs + "/latchkey", ["status"], input: "",
            environment: ["LATCHKEY_HOME=/proc/latchkey", "STATE_DIRECTORY=\(folder)"])
        #expect(answer.exitCode == 1, "\(answer)")
        #expect(answer.errors.contains("hint: \(advice)"), "\(answer.errors)")
    }
}
