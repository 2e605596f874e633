// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SystemDriver
import TPMDriver
import TPMProtocol
import TestPromises
import TestSupport
import Testing

/// Keys that a TPM opens while a counter has one number.
@Suite(.needs(.softwareTPM)) struct TPMEnrolmentSealTests {
    private static let key = SecretBytes([UInt8](0x61..<0x81))
    private let machine: TPMFixture
    private let vault: TPMKeyVault
    private let seal: any EnrolmentSeal
    private let number: UInt64

    init() throws {
        machine = try TPMFixture()
        vault = try machine.make()
        _ = try vault.createCounters()
        seal = try #require(vault.enrolmentSeal)
        number = try #require(try seal.counter.value())
    }

    @Test(.promise("enrolment.erased")) func aKeyOpensAtItsNumberAndNeverAgainAfterwards() throws {
        let sealed = try seal.seal(Self.key, at: number + 1)
        #expect(status { _ = try seal.open(sealed, at: number + 1) } == .anchorGone, "before its number")
        _ = try seal.counter.increment()
        #expect(try seal.open(sealed, at: number + 1) == Self.key)
        machine.tpm.cutPower()
        #expect(status { _ = try seal.open(sealed, at: number + 1) } == .vaultUnavailable, "not gone")
        try machine.tpm.start()
        #expect(try seal.open(sealed, at: number + 1) == Self.key)
        _ = try seal.counter.increment()
        #expect(status { _ = try seal.open(sealed, at: number + 1) } == .anchorGone)
        #expect(status { _ = try seal.open(sealed, at: number + 2) } == .anchorGone, "another number")
    }

    @Test func aCounterThatIsMadeAgainOpensNoEarlierKey() throws {
        let sealed = try seal.seal(Self.key, at: number)
        try machine.removeCounters()
        #expect(status { _ = try seal.open(sealed, at: number) } == .anchorGone)
        #expect(status { _ = try seal.seal(Self.key, at: number) } == .anchorGone)
        #expect(try seal.counter.create() > number)
        #expect(status { _ = try seal.open(sealed, at: number) } == .anchorGone)
    }

    @Test func theCounterOfTheStoreDoesNotMoveWithThatOfTheSets() throws {
        let counter = try #require(vault.counter)
        let before = try counter.value()
        _ = try seal.counter.increment()
        #expect(try counter.value() == before)
        _ = try counter.increment()
        #expect(try seal.counter.value() == number + 1)
    }

    @Test func anotherTPMAndAnEditedKeyOpenNothing() throws {
        let sealed = try seal.seal(Self.key, at: number)
        for position in sealed.indices {
            var edited = sealed
            edited[position] ^= 1
            #expect(status { _ = try seal.open(edited, at: number) } != nil, "byte \(position)")
        }
        let other = try TPMFixture()
        let foreign = try other.make()
        _ = try foreign.createCounters()
        let there = try #require(foreign.enrolmentSeal)
        let reached = try #require(try there.counter.value())
        #expect(status { _ = try there.open(sealed, at: reached) } == .anchorGone)
    }

    @Test func theKeyIsNotOnTheBusAndTheTPMJudgesTheNumber() throws {
        let before = machine.bus.capture.count
        let sealed = try seal.seal(Self.key, at: number)
        #expect(try seal.open(sealed, at: number) == Self.key)
        let capture = Array(machine.bus.capture[before...])
        #expect(!capture.contains(Self.key.copyBytes()))
        #expect(capture.contains([0, 0, 1, 0x49]), "TPM2_PolicyNV")
        // `TPM2_StartAuthSession` without a key for a salt.
        #expect(!capture.contains([0, 0, 1, 0x76, 0x40, 0, 0, 7]))
    }

    @Test func aNewStoreHasBothCountersOrNone() throws {
        let owner: [UInt8] = [9]
        let count = try machine.counters().count
        machine.bus.refuseAfter(.nvDefineSpace, passing: 1, 0x14b)
        #expect(status { _ = try machine.open(owner: owner).createCounters() } == .vaultUnavailable)
        #expect(try machine.counters().count == count)
        _ = try machine.open(owner: owner).createCounters()
        #expect(try machine.counters().count == count + 2)
        try TPMUserIndices(machine.chip, random: SystemRandomSource()).removeCounters(of: owner)
        #expect(try machine.counters().count == count)
    }
}
