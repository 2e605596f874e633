// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SystemDriver
import TPMDriver
import TPMProtocol
import TestPromises
import TestSupport
import Testing

/// Another program has typed wrong passwords until the TPM refuses everything that its lockout protects. Keys, passcodes
/// and counters of Latchkey are outside of that lockout (`noDA`), so that no other program can deny them.
@Suite(.needs(.softwareTPM)) struct TPMLockoutTests {
    /// A primary key with a password, which the lockout protects.
    private static let foreign = TPMHandle(0x8100_0100)
    private let machine: TPMUnderTest
    private var tpm: ProxiedTPM { machine.tpm }
    private var chip: TPMChip { machine.chip }
    private var module: TPMEnclave { machine.module }
    private let passcodes: TPMPasscodeChip

    init() throws {
        machine = try TPMUnderTest()
        passcodes = TPMPasscodeChip(
            carriedBy: machine.chip, clock: SystemClock(), random: SystemRandomSource())
    }

    /// Makes the other program's key, and one wrong password the last one that the TPM accepts.
    private func lock() throws {
        // TPM2_DictionaryAttackParameters by the lockout hierarchy: one try, and no
        // recovery within this test.
        var parameters = TPMWriter()
        for number in [1, 100_000, 100_000] as [UInt32] { parameters.add(number) }
        _ = try tpm.send(0x13a, handles: [TPMHandle(0x4000_000a)], parameters.bytes, passwords: 1)
        var (sensitive, template) = (TPMWriter(), TPMWriter())
        try sensitive.add(sized: [1])
        try sensitive.add(sized: [])
        try template.add(sized: sensitive.bytes)
        // The storage root key's attributes without noDA.
        try template.add(sized: TPMPublicArea(attributes: TPMObjectAttributes(rawValue: 0x0003_0072)).encoded())
        try template.add(sized: [])
        template.add(UInt32(0))
        var reader = TPMReader(try tpm.send(0x131, handles: [.owner], template.bytes, passwords: 1))
        let transient = TPMHandle(try reader.uint32())
        var target = TPMWriter()
        target.add(Self.foreign)
        _ = try tpm.send(0x120, handles: [.owner, transient], target.bytes, passwords: 1)
        var flushed = TPMWriter()
        flushed.add(transient)
        _ = try tpm.send(0x165, flushed.bytes)
        // The empty password is wrong.
        #expect(throws: ProxiedTPM.Refusal(code: TPMResponseCode(0x98e))) { try useForeignKey() }
        try expectLocked()
    }

    /// `TPM2_Load` below the other program's key, which the TPM refuses because of the password before it reads the rest.
    private func useForeignKey() throws {
        do {
            _ = try tpm.send(0x157, handles: [Self.foreign], [0, 0, 0, 0], passwords: 1)
        } catch let refusal as ProxiedTPM.Refusal where refusal.code.isRetry {
            // The TPM stores first that a password is going to be tried.
            try useForeignKey()
        }
    }

    private func expectLocked(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(throws: ProxiedTPM.Refusal(code: TPMResponseCode(0x921)), sourceLocation: sourceLocation) {
            try useForeignKey()
        }
    }

    @Test(.promise("tpm.lockout")) func keysAreMadeAndUsed() throws {
        let key = try module.newKey()
        try lock()
        try machine.use(key)
        try machine.use(module.newKey())
        try machine.use(key)
        try expectLocked()
    }

    @Test(.promise("tpm.lockout")) func passcodesAreSetJudgedAndCounted() throws {
        let (right, wrong) = (SecretBytes([UInt8](0x41..<0x61)), SecretBytes([UInt8](0x42..<0x62)))
        let earlier = try passcodes.create(passcodes.plan(), right)
        try lock()
        #expect(try passcodes.open(earlier.record, wrong) == nil)
        #expect(try passcodes.open(earlier.record, right) == earlier.secret)
        try passcodes.change(earlier.record, secret: earlier.secret, to: wrong)
        #expect(try passcodes.open(earlier.record, wrong) == earlier.secret)
        let later = try passcodes.create(passcodes.plan(), right)
        #expect(try passcodes.open(later.record, right) == later.secret)
        try expectLocked()
    }

    @Test(.promise("tpm.lockout")) func rootKeysAreSealedAndCountersAreUsed() throws {
        let temporary = try TemporaryFolder()
        let folder = StoreFolder(temporary.path)
        let vault = TPMKeyVault(FileKeyVault(folder), rootKey: folder.rootKey, chip: chip, owner: [1])
        try lock()
        let rootKey = SecretBytes([UInt8](repeating: 9, count: 32))
        // Throws unless the TPM unseals the root key again.
        _ = try vault.seal(rootKey, .chip, recoveryCode: nil)
        let number = try vault.createCounters()
        #expect(try vault.counter?.increment() == number + 1)
        #expect(try vault.counter?.value() == number + 1)
        let seal = try #require(vault.enrolmentSeal)
        let current = try #require(try seal.counter.value())
        #expect(try seal.open(seal.seal(rootKey, at: current), at: current) == rootKey)
        try expectLocked()
    }
}
