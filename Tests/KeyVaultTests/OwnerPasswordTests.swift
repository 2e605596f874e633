// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SystemDriver
import TPMDriver
import TestSupport
import Testing

/// A TPM whose owner hierarchy has a password, which root has given the services.
@Suite(.needs(.softwareTPM)) struct OwnerPasswordTests {
    private static let password = Array("the owner's password".utf8)
    private static let value = SecretBytes([UInt8](0x41..<0x61))
    private let machine: TPMFixture
    private let chip: TPMPasscodeChip

    init() throws {
        machine = try TPMFixture(ownerPassword: Self.password)
        chip = TPMPasscodeChip(machine.chip, random: SystemRandomSource())
    }

    private func failure(_ body: () throws -> Void) -> Failure? {
        do { try body() } catch { return error as? Failure }
        return nil
    }

    @Test func keyCounterAndIndexAreMadeAndRemovedAndThePasswordIsNotSent() throws {
        try machine.setOwnerPassword(Self.password)
        let before = machine.bus.capture.count
        let vault = try machine.make()
        let counter = try #require(vault.counter)
        let first = try counter.create()
        #expect(try counter.increment() == first + 1)
        let made = try chip.create(chip.plan(), Self.value)
        #expect(try chip.open(made.record, Self.value) == made.secret)
        #expect(try vault.rootKey() == Driver.rootKey)
        try chip.remove(made.record)
        try TPMUserIndices(machine.chip, random: SystemRandomSource()).removeCounters(of: [1])
        #expect(try machine.counters().isEmpty)
        machine.chip.release()
        #expect(try machine.handles(from: 0x8000_0000).isEmpty)
        let capture = Array(machine.bus.capture[before...])
        #expect(!capture.contains(Self.password))
        // `TPM2_StartAuthSession` without a key for a salt.
        #expect(capture.contains([0, 0, 1, 0x76]) && !capture.contains([0, 0, 1, 0x76, 0x40, 0, 0, 7]))
    }

    @Test(arguments: [[], Array("another".utf8)])
    func aPasswordThatIsNotTheOwnersIsNamedAndNothingIsMade(_ actual: [UInt8]) throws {
        try machine.setOwnerPassword(actual)
        for failure in [failure { _ = try machine.make() }, failure { _ = try chip.create(chip.plan(), Self.value) }] {
            #expect(failure?.status == .vaultUnavailable)
            #expect(failure?.message.contains("is not the one of the owner hierarchy") == true)
            #expect(failure?.hint.contains("systemctl restart") == true)
        }
        #expect(try machine.handles(from: 0x8100_0000).isEmpty)
        #expect(try machine.handles(from: 0x8000_0000).isEmpty)
        #expect(try machine.counters().isEmpty)
    }

    /// `TPM_PT_LOCKOUT_COUNTER` and the remaining properties that change (`TPM_CAP_TPM_PROPERTIES`), and the handles.
    private func state() throws -> [[UInt8]] {
        let lockout = try machine.bus.send(0x17a, [], [0, 0, 0, 6, 0, 0, 2, 0x0e, 0, 0, 0, 1], hasPassword: false)
        return [Array(lockout.response)]
            + [try machine.handles(from: 0x8000_0000), try machine.handles(from: 0x8100_0000)].map { handles in
                handles.flatMap { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
            }
    }

    @Test func aRightPasswordIsAcceptedWithoutAChange() throws {
        try machine.setOwnerPassword(Self.password)
        let before = try state()
        try machine.chip.checkOwner()
        #expect(machine.chip.ownerProblem == nil)
        #expect(try state() == before)
        #expect(!machine.bus.capture.suffix(2000).contains(Self.password))
    }

    @Test(arguments: [[], Array("another".utf8)])
    func aWrongPasswordIsNamedBeforeAnythingNeedsItAndCountsAsNoTry(_ actual: [UInt8]) throws {
        try machine.setOwnerPassword(actual)
        let before = try state()
        for _ in 0..<5 {
            let failure = failure { try machine.chip.checkOwner() }
            #expect(failure?.message.contains("is not the one of the owner hierarchy") == true)
        }
        #expect(machine.chip.ownerProblem?.hint.contains("systemctl restart") == true)
        #expect(try state() == before)
    }

    @Test func aTPMThatDoesNotAnswerSaysNothingAboutThePassword() throws {
        machine.tpm.cutPower()
        #expect(failure { try machine.chip.checkOwner() }?.status == .enclaveUnavailable)
        #expect(machine.chip.ownerProblem == nil)
    }

    @Test func withoutAPasswordNothingIsChecked() throws {
        let other = try TPMFixture()
        try other.setOwnerPassword([7])
        try other.chip.checkOwner()
        #expect(other.chip.ownerProblem == nil)
    }

    @Test func anIndexIsNotMadeWithAWrongPasswordBesideAnExistingKey() throws {
        _ = try machine.put(.storageRoot, password: [], at: 0x8100_0001)
        try machine.setOwnerPassword([7])
        let failure = failure { _ = try chip.create(chip.plan(), Self.value) }
        #expect(failure?.message.contains("is not the one of the owner hierarchy") == true)
        #expect(try machine.handles(from: 0x0181_4d00).filter { $0 < 0x0181_4e00 }.isEmpty)
    }
}
