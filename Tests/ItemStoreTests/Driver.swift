// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SQLiteDriver
import SimulatedDriver
import SystemDriver
import TestSupport
import Testing

/// A driver that the contract tests of `ItemStore` run against.
struct Driver: Sendable, CustomTestStringConvertible {
    /// A store and what belongs to it as long as it is used.
    struct Made {
        let store: any ItemStore
        /// Opens the store once more; the same store for one that ends with its process.
        let reopen: () throws -> any ItemStore
        let folder: TemporaryFolder?
    }

    let name: String
    /// Whether a read and a write may run at the same time; a database in memory has one connection.
    let readsDuringWrites: Bool
    let make: @Sendable () throws -> Made

    var testDescription: String { name }

    /// All drivers. A new driver is added here and must pass every test unchanged.
    static let all = [
        Driver(name: "SQLite in memory", readsDuringWrites: false) {
            let store = try SQLiteItemStore.inMemory()
            return Made(store: store, reopen: { store }, folder: nil)
        },
        Driver(name: "SQLite in a file", readsDuringWrites: true) { try inFile { $0 } },
        Driver(name: "scripted, over SQLite in a file", readsDuringWrites: true) {
            let clock = VirtualClock()
            let world = testWorld(clock)
            return try inFile { ScriptedStore($0, world: world) }
        },
    ]

    private static func testWorld(_ clock: VirtualClock) -> SimulatedWorld {
        SimulatedWorld(WorldState(), clock: clock, random: SystemRandomSource(), user: 1000) { _ in }
    }

    private static func inFile(_ wrap: @escaping (any ItemStore) -> any ItemStore) throws -> Made {
        let folder = try TemporaryFolder()
        let path = folder.path + "/items"
        _ = try SQLiteItemStore.create(at: path)
        return Made(
            store: wrap(try SQLiteItemStore.open(path)), reopen: { wrap(try SQLiteItemStore.open(path)) },
            folder: folder)
    }
}
