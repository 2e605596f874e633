// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SystemDriver
import TPMDriver
import TestSupport
import Testing

/// The file `root.key` of a store on a TPM, and the creation of such a store.
@Suite(.needs(.softwareTPM)) struct SealedRootKeyTests {
    private let machine: TPMFixture

    init() throws { machine = try TPMFixture() }

    @Test func aKeyInClearIsOfAnotherTierAndSoIsASealedOneForFiles() throws {
        try Files.replace(
            machine.folder.rootKey, with: SecretBytes(FileMark.rootKey.bytes + Driver.rootKey.copyBytes()))
        #expect(status { _ = try machine.open().rootKey() } == .storeOfAnotherTier)
        _ = try machine.make()
        #expect(status { _ = try FileKeyVault(machine.folder).rootKey() } == .storeOfAnotherTier)
    }

    @Test func aChangedFileIsUnreadable() throws {
        let vault = try machine.make()
        let file = try #require(try machine.rootKeyFile())
        // The end of the private part, each field that is cut off, and bytes behind the last field.
        var changed = file
        changed[file.count - 64] ^= 1
        for bytes in [changed, file + [0]] + stride(from: 0, to: file.count, by: 7).map({ Array(file[..<$0]) }) {
            try Files.replace(machine.folder.rootKey, with: SecretBytes(bytes))
            #expect(status { _ = try vault.rootKey() } == .storeUnreadable, "\(bytes.count) bytes")
        }
    }

    @Test func aNewStoreHasASealedRootKeyAndBeginsWithTheCounter() throws {
        let vault = machine.open()
        try machine.folder.prepare {
            Driver.rootKey
        } build: { (path, _) throws(Failure) in
            try write(path)
            _ = try vault.counter?.create()
            return NewStoreFiles(anchor: SecretBytes([1]), counters: [2])
        } encode: { (key) throws(Failure) in
            try vault.seal(key, .chip, recoveryCode: TPMFixture.code)
        }
        #expect(try vault.rootKey() == Driver.rootKey)
        #expect(try vault.counter?.value() != nil)
        #expect(try vault.anchor() == SecretBytes([1]))
    }

    @Test func aTPMThatCannotSealLeavesNoStore() throws {
        let vault = machine.open()
        machine.tpm.cutPower()
        #expect(
            status {
                try machine.folder.prepare {
                    Driver.rootKey
                } build: { (path, _) throws(Failure) in
                    try write(path)
                    return NewStoreFiles(anchor: SecretBytes([1]), counters: [2])
                } encode: { (key) throws(Failure) in
                    try vault.seal(key, .chip, recoveryCode: nil)
                }
            } == .vaultUnavailable)
        for path in [machine.folder.rootKey, machine.folder.anchor, machine.folder.database] {
            #expect(!Files.exists(path))
        }
    }

    /// Stands for a new database.
    private func write(_ path: String) throws(Failure) {
        do throws(SystemError) {
            try Files.replace(path, with: SecretBytes([1]))
        } catch {
            throw Failure(error, "\(path) cannot be written")
        }
    }
}
