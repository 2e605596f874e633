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
        /// What has to exist as long as the vault.
        var resource: AnyObject?
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
    static let all = simple + (Need.softwareTPM.isMet() ? [tpm] : [])

    private static let simple = [
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
                }, removeRootKey: { try FileManager.default.removeItem(atPath: files.rootKey) }, resource: folder)
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

    /// A software TPM of its own for each vault.
    private static let tpm = Driver(name: "TPM", mayFail: true, hasCounter: true) {
        let fixture = try TPMFixture()
        return Made(
            vault: try fixture.make(), reopen: { fixture.open() },
            setUnavailable: { isUnavailable in
                for path in [fixture.folder.anchor, fixture.folder.counters] {
                    try isUnavailable ? blockFile(path) : unblockFile(path)
                }
                if isUnavailable { fixture.tpm.cutPower() } else { try fixture.tpm.start() }
            }, removeRootKey: { try FileManager.default.removeItem(atPath: fixture.folder.rootKey) },
            removeCounter: { #expect(throws: Never.self) { try fixture.removeCounters() } }, resource: fixture)
    }

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
