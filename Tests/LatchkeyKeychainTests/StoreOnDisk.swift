// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import SimulatedDriver
import SystemDriver
import TestSupport

@testable import SQLiteDriver

/// A store in its own folder that a test can open repeatedly, each time as a newly started daemon.
final class StoreOnDisk: Sendable {
    static let identity = StoreIdentity(tier: .simulated, userID: 1000, passcodeCost: 10)
    static let caller = Caller(groups: ["app", "shared"], label: "test", processID: 1, userID: 1000)

    private let temporary: TemporaryFolder
    let random: any RandomSource
    let clock: any Clock
    let folder: StoreFolder

    init(random: any RandomSource = SystemRandomSource(), clock: any Clock = VirtualClock()) throws {
        temporary = try TemporaryFolder()
        self.random = random
        self.clock = clock
        folder = StoreFolder(temporary.path + "/store")
    }

    /// Completes the creation of the store; any step of it may be done already.
    func prepare(_ identity: StoreIdentity = StoreOnDisk.identity) throws(Failure) {
        try folder.prepare { () throws(Failure) in
            try random.bytes(32)
        } build: { (path, rootKey) throws(Failure) in
            try identity.create(in: SQLiteItemStore.create(at: path), rootKey: rootKey, random: random)
        }
    }

    /// Opens the store as a daemon does.
    func open(
        _ identity: StoreIdentity = StoreOnDisk.identity, clock: (any Clock)? = nil
    ) throws(Failure) -> Keychain {
        try prepare()
        return try identity.open(
            SQLiteItemStore.open(folder.database), vault: FileKeyVault(folder), clock: clock ?? self.clock,
            random: random)
    }

    /// Changes rows and records as an attacker who can write the file could; the store must not be open.
    func edit(_ body: (any ItemWriting) throws -> Void) throws {
        var failure: (any Error)?
        try SQLiteItemStore.open(folder.database).write { (store) throws(Failure) in
            do { try body(store) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Runs a statement as an attacker who can write the file could.
    func execute(_ sql: String) throws { try Connection(folder.database, .write).execute(sql) }

    /// Runs a query and passes the first column of each row to `row`.
    func query(_ sql: String, _ row: (Int64) -> Void) throws {
        try Connection(folder.database, .write).run(sql, []) { (found) throws(Failure) in
            row(found.integer(0))
            return true
        }
    }

    /// Merges the log into the database, so that one file holds everything.
    func settle() throws {
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// The rows in insertion order.
    func rows() throws(Failure) -> [StoredRow] {
        var rows: [StoredRow] = []
        try SQLiteItemStore.open(folder.database).read { (store) throws(Failure) in
            try store.forEachRow(.all) { (row) throws(Failure) in
                rows.append(row)
                return true
            }
        }
        return rows
    }

    /// Returns the store's files by name.
    func files() throws -> [String: Data] { try temporary.files(in: "store") }

    /// Replaces or removes one of the store's files.
    func setFile(_ name: String, _ bytes: Data?) throws {
        let file = URL(filePath: folder.path + "/" + name)
        guard let bytes else { return try FileManager.default.removeItem(at: file) }
        try bytes.write(to: file)
    }

    /// Restores files returned by `files`, and removes every other one.
    func restore(_ files: [String: Data]) throws {
        for name in try self.files().keys where files[name] == nil { try setFile(name, nil) }
        for (name, bytes) in files { try setFile(name, bytes) }
    }
}
