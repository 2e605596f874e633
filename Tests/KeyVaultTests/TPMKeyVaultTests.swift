// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SystemDriver
import TPMDriver
import TPMProtocol
import TestSupport
import Testing

/// The root key on a TPM: what is on the bus, and what happens when the TPM is not as it was.
@Suite(.needs(.softwareTPM)) struct TPMKeyVaultTests {
    private let machine: TPMFixture
    private static let newCode = SecretBytes("ZYXWVTSRQPNMKJHGFEDCBA98765".utf8)

    init() throws { machine = try TPMFixture() }

    private func failure(_ body: () throws -> Void) -> Failure? {
        do {
            try body()
            return nil
        } catch {
            return error as? Failure
        }
    }

    // MARK: - The bus

    @Test(arguments: [TPMKeyVault.Binding.chip, .secureBoot])
    func noSecretIsInClearOnTheBus(_ binding: TPMKeyVault.Binding) throws {
        let vault = try machine.make(binding)
        #expect(try vault.rootKey() == Driver.rootKey)
        _ = try vault.counter?.create()
        let capture = machine.bus.capture
        let sealed = try #require(try machine.rootKeyFile())
        // The sealed bytes that the file ends with, before the recovery slot, pass the bus, so the search finds things.
        #expect(capture.contains(Array(sealed[200..<232])))
        for secret in [Driver.rootKey, TPMFixture.code] {
            #expect(!capture.contains(Array(secret.copyBytes().prefix(8))))
            #expect(!capture.contains(Array(secret.copyBytes().suffix(8))))
        }
    }

    @Test func aChangedResponseIsRefused() throws {
        let vault = try machine.make()
        machine.bus.change(responsesTo: .unseal)
        #expect(status { _ = try vault.rootKey() } == .vaultUnavailable)
        machine.bus.change(responsesTo: nil)
        #expect(try vault.rootKey() == Driver.rootKey)
    }

    // MARK: - Another TPM

    @Test func aClearedTPMIsNamedAndNothingIsOverwritten() throws {
        let vault = try machine.make()
        _ = try vault.counter?.create()
        try machine.clear()
        try expectReplaced(machine)
    }

    @Test func anotherTPMIsNamedAndNothingIsOverwritten() throws {
        _ = try machine.make().counter?.create()
        try expectReplaced(try TPMFixture(folderOf: machine))
    }

    /// The file is left as it is and the TPM gets neither a key nor a counter, until the recovery code is entered.
    private func expectReplaced(_ machine: TPMFixture) throws {
        let file = try machine.rootKeyFile()
        let vault = machine.open()
        let failure = failure { _ = try vault.rootKey() }
        #expect(failure?.status == .tpmReplaced)
        #expect(failure?.hint.contains("recovery code") == true)
        let counter = try #require(vault.counter)
        #expect(status { _ = try counter.value() } == .tpmReplaced)
        #expect(status { _ = try counter.create() } == .tpmReplaced)
        #expect(status { _ = try counter.increment() } == .tpmReplaced)
        #expect(status { try vault.recover(with: Self.newCode, .chip, replacement: Self.newCode) } != nil)
        #expect(try machine.rootKeyFile() == file)
        #expect(try machine.handles(from: 0x8100_0000) == [])
        #expect(try machine.counters() == [])
        try vault.recover(with: TPMFixture.code, .chip, replacement: Self.newCode)
        #expect(try machine.open().rootKey() == Driver.rootKey)
        #expect(try counter.value() == nil)
        #expect(status { _ = try counter.increment() } == .anchorGone)
    }

    // MARK: - The recovery code

    @Test func aUsedRecoveryCodeIsReplaced() throws {
        let vault = try machine.make()
        try vault.recover(with: TPMFixture.code, .chip, replacement: Self.newCode)
        #expect(
            status { try vault.recover(with: TPMFixture.code, .chip, replacement: Self.newCode) }
                == .itemAuthenticationFailed)
        try vault.recover(with: Self.newCode, .chip, replacement: TPMFixture.code)
        #expect(try vault.rootKey() == Driver.rootKey)
    }

    @Test func withoutARecoveryCodeNoCodeOpens() throws {
        let vault = try machine.make(code: nil)
        #expect(
            status { try vault.recover(with: TPMFixture.code, .chip, replacement: Self.newCode) }
                == .itemAuthenticationFailed)
    }

    // MARK: - The state of Secure Boot

    @Test func anotherStateOfSecureBootNeedsTheRecoveryCode() throws {
        let vault = try machine.make(.secureBoot)
        #expect(try vault.rootKey() == Driver.rootKey)
        let file = try machine.rootKeyFile()
        try machine.extendSecureBoot()
        let failure = failure { _ = try vault.rootKey() }
        #expect(failure?.status == .vaultUnavailable)
        #expect(failure?.message.contains("PCR 7") == true)
        #expect(failure?.hint.contains("recovery code") == true)
        #expect(try machine.rootKeyFile() == file)
        try vault.recover(with: TPMFixture.code, .secureBoot, replacement: Self.newCode)
        #expect(try vault.rootKey() == Driver.rootKey)
        // After a restart PCR 7 has the value that it had before it was extended.
        machine.tpm.cutPower()
        #expect(status { _ = try vault.rootKey() } == .vaultUnavailable)
        try machine.tpm.start()
        #expect(status { _ = try vault.rootKey() } == .vaultUnavailable)
    }

    @Test func withoutTheOptionSecureBootDoesNotMatter() throws {
        let vault = try machine.make()
        try machine.extendSecureBoot()
        #expect(try vault.rootKey() == Driver.rootKey)
    }

    /// A value that was changed on the bus would seal the root key to a state that never comes.
    @Test func aFalseValueOfThePCRIsNoticedBeforeTheStoreIsMade() throws {
        machine.bus.change(responsesTo: .pcrRead, .last)
        #expect(failure { _ = try machine.make(.secureBoot) }?.message.contains("PCR 7") == true)
        #expect(try machine.rootKeyFile() == nil)
    }

    // MARK: - The storage root key

    @Test func aRemovedStorageRootKeyIsMadeAgain() throws {
        let vault = try machine.make()
        let number = try vault.counter?.create()
        try machine.evict(0x8100_0001)
        #expect(try vault.counter?.value() == number)
        try machine.evict(0x8100_0001)
        #expect(try vault.rootKey() == Driver.rootKey)
        #expect(try machine.handles(from: 0x8100_0000) == [0x8100_0001])
    }

    @Test func aForeignKeyAtTheSharedHandleStays() throws {
        try machine.putForeignKey(at: 0x8100_0001)
        #expect(try machine.make().rootKey() == Driver.rootKey)
        #expect(try machine.handles(from: 0x8100_0000) == [0x8100_0001, 0x8100_4c4b])
    }

    /// The name of a key does not contain its password, so another program can store the same key with one.
    @Test func aPasswordOfTheStorageRootKeyIsNamed() throws {
        let vault = try machine.make()
        try machine.evict(0x8100_0001)
        try machine.put(.storageRoot, password: [1, 2], at: 0x8100_0001)
        for failure in [failure { _ = try vault.rootKey() }, failure { _ = try machine.make() }] {
            #expect(failure?.status == .vaultUnavailable)
            #expect(failure?.message.contains("storage root key of the TPM a password") == true)
            #expect(failure?.hint.contains("tpm2_evictcontrol") == true)
        }
        try machine.evict(0x8100_0001)
        #expect(try vault.rootKey() == Driver.rootKey)
    }

    @Test func anOwnerPasswordIsNamedWhenTheStorageRootKeyIsMade() throws {
        try machine.setOwnerPassword()
        let failure = failure { _ = try machine.make() }
        #expect(failure?.status == .vaultUnavailable)
        #expect(failure?.message.contains("owner hierarchy") == true)
    }
}
