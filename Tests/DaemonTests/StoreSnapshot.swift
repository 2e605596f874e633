// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import SQLiteDriver
import SystemDriver
import Testing

@testable import LatchkeyKeychain

/// The files of a store that no daemon has open.
struct StoreSnapshot {
    private static let names = [
        "root.key", "keychain.sqlite", "keychain.sqlite-wal", "anchor", "counters", "latchkeyd.conf", "simulator.state",
    ]
    /// Further files that a killed daemon may leave.
    private static let leftovers = ["keychain.sqlite-shm", "anchor.new", "counters.new", "simulator.state.new"]
    private let files: [String: SecretBytes]

    init(of daemon: TestDaemon) throws {
        var files: [String: SecretBytes] = [:]
        for name in Self.names { files[name] = try Files.read(daemon.folder + "/" + name, limit: 1 << 24) }
        self.files = files
    }

    subscript(name: String) -> SecretBytes? { files[name] }

    /// Restores the files and removes the others.
    func restore(to folder: String) throws {
        for name in Self.names + Self.leftovers {
            Files.remove(folder + "/" + name)
            if let bytes = files[name] { try Files.replace(folder + "/" + name, with: bytes) }
        }
    }

    /// The relation of database and anchor: a row of the table in docs/reference/store-format.md. D is the generation
    /// of the database; V is the committed and P the prepared generation of the anchor.
    enum Row: Hashable {
        /// D = V, no P: nothing is prepared.
        case clean
        /// D = V, P = V + 1: the event is prepared and not committed.
        case prepared
        /// D = V + 1, P = D: the event is committed and not finished.
        case committed
        /// A state that must not occur.
        case other(String)
    }

    /// Reads D, V and P from a copy in `folder`, so that the next daemon finds the files unchanged.
    func row(in folder: String) throws -> Row {
        try Files.makePrivateFolder(folder)
        try restore(to: folder)
        let folder = StoreFolder(folder)
        let vault = FileKeyVault(folder)
        let store = try SQLiteItemStore.open(folder.database)
        let tree = try KeyTree.open(
            store, rootKey: vault.rootKey(), tier: .simulated, userID: geteuid(), account: nil,
            random: SystemRandomSource(), scryptCost: 10)
        let audit = try AuditTrail(
            tree: tree, counters: CounterFile(tree: tree, vault: vault), clock: SystemClock())
        let state = StoreState(tree)
        let database = try store.read { (store) throws(Failure) in
            try state.values(in: store, serial: audit.end(in: store).numbers.stateSerial).generation
        }
        let file = try #require(try vault.anchor())
        let record = try #require(try AnchorRecord.decode(file, tree.anchorKey, tree.header))
        switch (record.preparation?.generation, database) {
        case (nil, record.committed): return .clean
        case (record.committed + 1, record.committed): return .prepared
        case (record.committed + 1, record.committed + 1): return .committed
        case (let prepared, _): return .other("D=\(database) V=\(record.committed) P=\(prepared ?? 0)")
        }
    }
}
