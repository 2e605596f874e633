// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import TestSupport
import Testing

@testable import SQLiteDriver

/// Tests of the commands that recover a store which another program has restored or changed.
@Suite struct StoreRecoveryTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon()
        for name in ["one", "two"] {
            let stored = try daemon.run("latchkey", ["set", name], input: "secret of \(name)")
            #expect(stored.exitCode == 0, "\(stored.errors)")
        }
    }

    private func run(_ arguments: String..., input: String = "") throws -> Finished {
        try daemon.run("latchkey", arguments, input: input)
    }

    /// Terminates the daemon normally, so that its database is one file and its anchor is current.
    private func stop() throws {
        let process = try #require(try daemon.process)
        kill(process, SIGTERM)
        #expect(Processes.hasEnded(process, within: 20))
    }

    private func file(_ name: String) throws -> SecretBytes {
        try #require(try Files.read(daemon.folder + "/" + name, limit: 1 << 24))
    }

    private func put(_ bytes: SecretBytes?, _ name: String) throws {
        let path = daemon.folder + "/" + name
        if let bytes { try Files.replace(path, with: bytes) } else { Files.remove(path) }
    }

    @Test func oldDatabaseIsRefusedAndCanBeAccepted_abuse29() throws {
        try stop()
        let old = try file("keychain.sqlite")
        #expect(try run("set", "three", input: "3").exitCode == 0)
        try stop()
        try put(old, "keychain.sqlite")
        let refused = try run("get", "one")
        #expect(refused.exitCode != 0 && refused.errors.contains("older than the file anchor"), "\(refused)")
        #expect(refused.errors.contains("latchkey check --accept"))
        #expect(try run("status").output.contains("anchor") || run("status").errors.contains("anchor"))
        let silent = try run("check", "--accept", input: "yes\n")
        #expect(silent.exitCode == 64, "the word must be typed: \(silent)")
        #expect(try run("get", "one").exitCode != 0)
        let accepted = try run("check", "--accept", input: "accept\n")
        #expect(accepted.exitCode == 0, "\(accepted)")
        #expect(try run("get", "one").output == "secret of one")
        #expect(try run("log").output.contains("rollback accepted"))
    }

    @Test func missingAnchorIsReportedAndProtectedItemsCanBeDiscarded() throws {
        try stop()
        try put(nil, "anchor")
        let refused = try run("get", "one")
        #expect(refused.exitCode != 0 && refused.errors.contains("anchor is missing"), "\(refused)")
        #expect(refused.errors.contains("latchkey reset --protected"))
        #expect(try run("reset", "--protected", input: "no\n").exitCode == 64)
        #expect(try run("reset", input: "discard\n").exitCode == 64)
        let discarded = try run("reset", "--protected", input: "discard\n")
        #expect(discarded.exitCode == 0, "\(discarded)")
        #expect(try run("get", "one").output == "secret of one")
        #expect(try run("log").output.contains("discarded"))
    }

    @Test(arguments: [(["check", "--accept"], "accept\n"), (["reset"], "reset\n")])
    func restoredRowIsDetectedByStoreCheckUntilTheStoreIsAcceptedOrReset(command: [String], word: String) throws {
        try stop()
        let path = daemon.folder + "/keychain.sqlite"
        let rows = try SQLiteItemStore.open(path).read { (store) throws(Failure) in
            var rows: [StoredRow] = []
            try store.forEachRow(.all) { (row) throws(Failure) in
                rows.append(row)
                return true
            }
            return rows
        }
        #expect(try run("delete", "one").exitCode == 0)
        try stop()
        try SQLiteItemStore.open(path).write { (store) throws(Failure) in try store.insert(rows[0]) }
        #expect(try run("get", "two").output == "secret of two")
        // The write runs after the slices of the store check.
        #expect(try run("set", "later", input: "x").exitCode == 0)
        let log = try run("log")
        #expect(log.output.contains("rows changed"), "\(log.output)")
        let status = try run("status")
        #expect((status.output + status.errors).contains("latchkey check"), "\(status)")
        #expect(try run("check").output.contains("The rows are not those that were stored"))
        let done = try daemon.run("latchkey", command, input: word)
        #expect(done.exitCode == 0, "\(done)")
        let after = try run("status")
        #expect(after.exitCode == 0 && !(after.output + after.errors).contains("latchkey check"), "\(after)")
    }

    /// A store that the status shows as sound, although a row does not fit its index.
    @Test func acceptingAsksWhenOnlyACheckFindsTheProblem() throws {
        #expect(try run("check", "--accept").output.contains("nothing to accept"))
        try stop()
        try SQLiteItemStore.open(daemon.folder + "/keychain.sqlite").write { (store) throws(Failure) in
            var rows: [StoredRow] = []
            try store.forEachRow(.all) { (row) throws(Failure) in
                rows.append(row)
                return true
            }
            rows[0].indexes[2] = [UInt8](repeating: 7, count: 16)
            try store.replace(rows[0])
        }
        #expect(try run("status").exitCode == 0)
        #expect(try run("check").exitCode != 0)
        let unasked = try run("check", "--accept", input: "no\n")
        #expect(unasked.exitCode == 64, "\(unasked)")
    }

    /// Without its record the keychain counts as locked, and no passcode could unlock it.
    @Test func acceptingUnlocksAKeychainWithoutAPasscode() throws {
        try stop()
        try SQLiteItemStore.open(daemon.folder + "/keychain.sqlite").write { (store) throws(Failure) in
            try store.setRecord("state", nil)
        }
        #expect(try run("get", "one").exitCode != 0)
        let accepted = try run("check", "--accept", input: "accept\n")
        #expect(accepted.exitCode == 0, "\(accepted)")
        let read = try run("get", "one")
        #expect(read.output == "secret of one", "\(read)")
    }
}
