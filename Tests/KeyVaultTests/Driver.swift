// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SeamStandIns
import SystemDriver
import TestSupport
import Testing

/// A driver that the contract tests of `KeyVault` run against.
struct Driver: Sendable, CustomTestStringConvertible {
    /// A vault with a root key, and nothing else.
    struct Made {
        let vault: any KeyVault
        /// Opens the vault once more; the same vault for one that ends with its process.
        let reopen: () -> any KeyVault
        /// Makes the vault unreachable, or reachable again; nil for a vault that always is.
        var setUnavailable: ((Bool) throws -> Void)?
        /// Removes the root key; nil for a vault that always has it.
        var removeRootKey: (() throws -> Void)?
        /// Removes the counter; nil for a vault without one.
        var removeCounter: (() -> Void)?
        var folder: TemporaryFolder?
    }

    let name: String
    /// Whether the vault can be unreachable and lose its root key; memory cannot.
    let mayFail: Bool
    let hasCounter: Bool
    let make: @Sendable () throws -> Made

    var testDescription: String { name }

    /// The root key of each vault.
    static let rootKey = SecretBytes([UInt8](0..<32))

    /// All drivers. A new driver is added here and must pass every test unchanged.
    static let all = [
        Driver(name: "files", mayFail: true, hasCounter: false) {
            let folder = try TemporaryFolder()
            let files = StoreFolder(folder.path)
            try Files.replace(files.rootKey, with: SecretBytes(FileMark.rootKey.bytes + rootKey.copyBytes()))
            return Made(
                vault: FileKeyVault(files), reopen: { FileKeyVault(files) },
                setUnavailable: { isUnavailable in
                    for path in [files.rootKey, files.anchor, files.counters] {
                        try isUnavailable ? blockFile(path) : unblockFile(path)
                    }
                }, removeRootKey: { try FileManager.default.removeItem(atPath: files.rootKey) }, folder: folder)
        },
        Driver(name: "memory", mayFail: false, hasCounter: false) {
            let vault = MemoryKeyVault(rootKey: rootKey)
            return Made(vault: vault, reopen: { vault })
        },
        Driver(name: "stand-in with a counter", mayFail: true, hasCounter: true) {
            let (inner, chip) = (MemoryKeyVault(rootKey: rootKey), ChipCounter(largest: 7))
            return Made(
                vault: ChipVault(inner, chip), reopen: { ChipVault(inner, chip) },
                setUnavailable: { chip.condition = $0 ? .unavailable : .ready },
                removeRootKey: { chip.condition = .cleared }, removeCounter: { chip.number = nil })
        },
    ]

    /// Puts a folder in place of a file, which cannot be read then; permissions do not stop tests that run as root.
    private static func blockFile(_ path: String) throws {
        if Files.exists(path) { try FileManager.default.moveItem(atPath: path, toPath: path + ".moved") }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    private static func unblockFile(_ path: String) throws {
        try FileManager.default.removeItem(atPath: path)
        guard Files.exists(path + ".moved") else { return }
        try FileManager.default.moveItem(atPath: path + ".moved", toPath: path)
    }
}
