// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SystemDriver
import TPMProtocol
import TestPromises
import TestSupport
import Testing

@testable import TPMDriver

/// A passcode that a TPM verifies, whose commands another process carries. The bus of these tests is that process.
@Suite(.needs(.softwareTPM)) struct PasscodeIndexTests {
    private let machine: TPMFixture
    private let chip: TPMPasscodeChip
    private static let value = SecretBytes([UInt8](0x41..<0x61))
    private static let other = SecretBytes([UInt8](0x61..<0x81))

    init() throws {
        machine = try TPMFixture()
        chip = TPMPasscodeChip(machine.chip, random: SystemRandomSource())
    }

    /// The handles of the indices of passcodes.
    private func indices() throws -> [UInt32] {
        try machine.handles(from: 0x0181_4d00).filter { PasscodeIndex.handles.contains($0) }
    }

    /// The code with which a body fails; nil if it does not.
    private func failure(_ body: () throws -> Void) -> Failure? {
        do { try body() } catch { return error as? Failure }
        return nil
    }

    @Test func onlyTheValueOpensTheSecret() throws {
        let made = try chip.create(Self.value)
        #expect(made.secret.count == 32)
        #expect(try chip.open(made.record, Self.value) == made.secret)
        #expect(try chip.open(made.record, Self.other) == nil)
        #expect(try chip.open(made.record, SecretBytes([])) == nil)
        #expect(try chip.open(made.record, Self.value) == made.secret)
    }

    @Test func twoPasscodesHaveDifferentSecretsAndIndices() throws {
        let (first, second) = (try chip.create(Self.value), try chip.create(Self.value))
        #expect(first.secret != second.secret)
        #expect(try indices().count == 2)
        #expect(try chip.open(second.record, Self.value) == second.secret)
    }

    @Test(.promise("attacker.latchkeyd")) func aBusCaptureHoldsNoSecretInClear() throws {
        let made = try chip.create(Self.value)
        _ = try chip.open(made.record, Self.value)
        try chip.change(made.record, secret: made.secret, to: Self.other)
        _ = try chip.open(made.record, Self.other)
        #expect(!(try proves(Self.other, made.record).isEmpty))
        for secret in [made.secret, Self.value, Self.other] {
            let bytes = secret.copyBytes()
            #expect(!machine.bus.capture.contains(Array(bytes.prefix(8))))
            #expect(!machine.bus.capture.contains(Array(bytes.suffix(8))))
        }
    }

    // MARK: - Provisioning

    /// The carrier defines the index itself, with a value that it knows.
    @Test(.promise("attacker.latchkeyd")) func aValueThatTheCarrierPlantedOpensNothing() throws {
        machine.bus.plant(password: [7])
        let made = try chip.create(Self.value)
        #expect(try chip.open(made.record, SecretBytes([7])) == nil)
        #expect(try chip.open(made.record, Self.value) == made.secret)
    }

    @Test func aFullTPMIsNamedAndAnExistingPasscodeIsJudgedAndChanged() throws {
        let made = try chip.create(Self.value)
        try machine.fillIndices()
        let refused = failure { _ = try chip.create(Self.other) }
        #expect(failure { try chip.checkRoom(for: chip.plan()) }?.message == refused?.message)
        #expect(refused?.status == .vaultUnavailable)
        #expect(refused?.message.hasPrefix("The TPM has no room for the passcode: its non-volatile memory") == true)
        #expect(refused?.hint.contains("tpm2_getcap handles-nv-index") == true)
        #expect(try chip.open(made.record, Self.other) == nil)
        #expect(try chip.open(made.record, Self.value) == made.secret)
        try chip.change(made.record, secret: made.secret, to: Self.other)
        #expect(try chip.open(made.record, Self.other) == made.secret)
        // What the removal of another program's index gives is enough.
        try machine.bus.send(0x122, [0x4000_0001, 0x0190_0000])
        #expect(try chip.open(chip.create(Self.value).record, Self.value) != nil)
    }

    @Test func aCheckForRoomLeavesNothingInTheTPM() throws {
        try chip.checkRoom(for: chip.plan())
        #expect(try indices() == [])
    }

    /// A TPM that is older than indices which count wrong values refuses their attributes or their size.
    @Test(arguments: [0x2c2, 0x2c4] as [UInt32]) func aTPMThatIsTooOldIsNamed(_ code: UInt32) throws {
        machine.bus.refuse(.nvDefineSpace, [code])
        let refused = failure { _ = try chip.create(Self.value) }
        #expect(refused?.status == .vaultUnavailable)
        #expect(refused?.message == "The TPM is too old to count wrong passcodes itself.")
        #expect(refused?.hint.contains("tier file") == true)
        #expect(try indices() == [])
    }

    /// Before it has its value, an index accepts nothing, not even what it was defined with.
    @Test(arguments: [TPMCommand.nvWrite, .nvChangeAuthorization, .create])
    func anInterruptedProvisioningLeavesNothingInTheTPM(_ command: TPMCommand) throws {
        machine.bus.refuse(command, [0x101])
        #expect(failure { _ = try chip.create(Self.value) }?.status == .vaultUnavailable)
        #expect(try indices() == [])
        let made = try chip.create(Self.value)
        #expect(try chip.open(made.record, Self.value) == made.secret)
    }

    @Test(arguments: [TPMCommand.nvChangeAuthorization, .nvWrite, .nvDefineSpace])
    func aChangedResponseStopsTheProvisioning(_ command: TPMCommand) throws {
        machine.bus.change(responsesTo: command, .last)
        #expect(failure { _ = try chip.create(Self.value) } != nil)
    }

    // MARK: - A carrier that lies

    @Test func aChangedResponseIsNoProofOfThePasscode() throws {
        let made = try chip.create(Self.value)
        machine.bus.change(responsesTo: .policySecret, .last)
        #expect(failure { _ = try chip.open(made.record, Self.value) } != nil)
    }

    /// A response of success without the code of the session.
    @Test func aWrongPasscodeThatTheCarrierCallsRightOpensNothing() throws {
        let made = try chip.create(Self.value)
        machine.bus.refuse(.policySecret, [0])
        #expect(failure { _ = try chip.open(made.record, Self.other) } != nil)
    }

    @Test func aRightPasscodeThatTheCarrierCallsWrongIsNoMiss() throws {
        let made = try chip.create(Self.value)
        machine.bus.refuse(.policySecret, [0x9a2])
        let failure = failure { _ = try chip.open(made.record, Self.value) }
        #expect(failure?.status == .vaultUnavailable)
        #expect(try chip.open(made.record, Self.value) == made.secret)
    }

    /// The count of earlier wrong passcodes is no proof that this one was verified.
    @Test func aRefusalThatTheCarrierInventsAfterAWrongPasscodeIsNoMiss() throws {
        let made = try chip.create(Self.value)
        #expect(try chip.open(made.record, Self.other) == nil)
        machine.bus.refuse(.policySecret, [0x9a2])
        #expect(failure { _ = try chip.open(made.record, Self.value) }?.status == .vaultUnavailable)
        // So it is for an object that does not know the count yet.
        let restarted = TPMPasscodeChip(machine.chip, random: SystemRandomSource())
        machine.bus.refuse(.policySecret, [0x9a2])
        #expect(failure { _ = try restarted.open(made.record, Self.value) }?.status == .vaultUnavailable)
        #expect(try restarted.open(made.record, Self.other) == nil)
    }

    // MARK: - A proof to the session of another program

    /// Proves a value to a new session; returns the digest of its policy, empty if the value is wrong.
    private func proves(
        _ value: SecretBytes, _ record: [UInt8], command: [UInt8] = [UInt8](repeating: 1, count: 32)
    ) throws -> [UInt8] {
        let parent = try PasscodeIndexRecord(record).parent
        let session = try machine.chip.use { (_, client) throws(TPMError) in
            try client.startSession(.policy, salted: client.storageRoot(named: parent))
        }
        let proof = KeyPasscodeProof(
            session: session.handle.number, nonce: session.nonce, command: command,
            reference: [UInt8](repeating: 2, count: 32), expirySeconds: 60)
        defer { try? machine.chip.use { (_, client) throws(TPMError) in try client.flush(session.handle) } }
        guard try chip.prove(record, value, proof) else { return [] }
        return try machine.chip.use { (_, client) throws(TPMError) in
            let response = try client.send(.policyGetDigest, [TPMEntity(session.handle)])
            return Array(response.parameters.dropFirst(2))
        }
    }

    @Test func theRightValueIsProvenForTheReferenceOfTheKey() throws {
        let made = try chip.create(Self.value)
        let verifier = try chip.verifier(of: made.record)
        let expected = try PolicyDigest().secret(of: verifier, reference: [UInt8](repeating: 2, count: 32))
        #expect(try proves(Self.value, made.record) == expected.bytes)
        try chip.change(made.record, secret: made.secret, to: Self.other)
        #expect(try proves(Self.value, made.record).isEmpty)
        #expect(try proves(Self.other, made.record) == expected.bytes, "the name survives a change")
    }

    /// Wrong values count in the index, and not towards the lockout of the TPM.
    @Test(.promise("attacker.authd")) func wrongValuesCountAndBlockTheIndexOnly() throws {
        let made = try chip.create(Self.value)
        for _ in 0..<PasscodeIndex.limit { #expect(try proves(Self.other, made.record).isEmpty) }
        #expect(failure { _ = try proves(Self.value, made.record) }?.status == .passcodeDelayed)
        #expect(failure { _ = try chip.open(made.record, Self.value) }?.status == .passcodeDelayed)
        // TPM_PT_LOCKOUT_COUNTER.
        var parameters = TPMWriter()
        for number in [6, 0x20e, 1] as [UInt32] { parameters.add(number) }
        let response = try machine.bus.send(0x17a, [], parameters.bytes, hasPassword: false).response
        #expect(response.suffix(8) == [0, 0, 2, 0x0e, 0, 0, 0, 0])
    }

    @Test func nothingIsProvenForEveryCommandOrEverySession() throws {
        let made = try chip.create(Self.value)
        #expect(failure { _ = try proves(Self.value, made.record, command: []) }?.status == .invalidParameter)
    }

    // MARK: - The limit

    @Test(.promise("attacker.disk")) func theLimitSurvivesAPowerCutAndStopsTheRightPasscodeToo() throws {
        let made = try chip.create(Self.value)
        for _ in 1..<PasscodeIndex.limit { #expect(try chip.open(made.record, Self.other) == nil) }
        machine.tpm.cutPower()
        #expect(failure { _ = try chip.open(made.record, Self.other) }?.status == .vaultUnavailable)
        try machine.tpm.start()
        #expect(try chip.open(made.record, Self.other) == nil)
        #expect(failure { _ = try chip.open(made.record, Self.value) }?.status == .passcodeDelayed)
    }

    @Test func aRightPasscodeEndsTheCountOfWrongOnes() throws {
        let made = try chip.create(Self.value)
        for _ in 0..<2 {
            for _ in 1..<PasscodeIndex.limit { #expect(try chip.open(made.record, Self.other) == nil) }
            #expect(try chip.open(made.record, Self.value) == made.secret)
        }
    }

    /// The reset key is encrypted under the secret, so the side that carries commands never has it.
    @Test func theResetKeyOpensAnIndexWhoseTriesAreUsedUp() throws {
        let made = try chip.create(Self.value)
        for _ in 0..<PasscodeIndex.limit { #expect(try chip.open(made.record, Self.other) == nil) }
        let record = try PasscodeIndexRecord(made.record)
        let (index, reset) = (try record.index(), try record.resetKey(made.secret))
        _ = try machine.chip.use { (_, client) throws(TPMError) in
            let root = try client.storageRoot(named: record.parent)
            try client.change(index, to: Self.other, by: reset, in: root)
            try client.write(PasscodeCount(wrong: 0), to: index, by: reset, in: root)
        }
        #expect(try chip.open(made.record, Self.other) == made.secret)
    }

    @Test func anotherKeyNeitherWritesNorChangesTheIndex() throws {
        let record = try PasscodeIndexRecord(chip.create(Self.value).record)
        let index = try record.index()
        let foreign = try #require(ApprovalSigner(SystemRandomSource().bytes(32)))
        let codes = try machine.chip.use { (_, client) throws(TPMError) -> [UInt32?] in
            let root = try client.storageRoot(named: record.parent)
            var codes: [UInt32?] = []
            do throws(TPMError) {
                try client.change(index, to: Self.other, by: foreign, in: root)
            } catch {
                codes.append(error.kind?.rawValue)
            }
            do throws(TPMError) {
                try client.write(PasscodeCount(wrong: 0), to: index, by: foreign, in: root)
            } catch {
                codes.append(error.kind?.rawValue)
            }
            return codes
        }
        #expect(codes == [0x9b, 0x9b], "TPM_RC_SIGNATURE")
    }

    // MARK: - Changes and removal

    @Test func aChangeKeepsTheSecretAndTheRecord() throws {
        let made = try chip.create(Self.value)
        try chip.change(made.record, secret: made.secret, to: Self.other)
        #expect(try chip.open(made.record, Self.value) == nil)
        #expect(try chip.open(made.record, Self.other) == made.secret)
    }

    @Test func aChangeNeedsTheSecret() throws {
        let made = try chip.create(Self.value)
        #expect(
            failure { try chip.change(made.record, secret: Self.other, to: Self.other) }?.status == .storeUnreadable)
        #expect(try chip.open(made.record, Self.value) == made.secret)
    }

    @Test func aRemovedIndexIsGoneAndRemovingItAgainIsNoError() throws {
        let made = try chip.create(Self.value)
        try chip.remove(made.record)
        #expect(try indices() == [])
        #expect(failure { _ = try chip.open(made.record, Self.value) }?.status == .tpmReplaced)
        try chip.remove(made.record)
    }

    /// Another program removed the index and made one of its own at the handle.
    @Test func anIndexOfAnotherProgramIsNeitherUsedNorRemoved() throws {
        let made = try chip.create(Self.value)
        let index = try PasscodeIndexRecord(made.record).index()
        try chip.remove(made.record)
        let foreign = TPMIndexArea(
            handle: index.area.handle, attributes: [.authorizationReads, .authorizationWrites, .withoutLockout],
            policy: [], size: 8)
        #expect(try machine.define(foreign) == 0)
        #expect(failure { _ = try chip.open(made.record, Self.value) } != nil)
        try chip.remove(made.record)
        #expect(try indices() == [index.area.handle.number])
    }

    /// Without the first write, which only the reset key can do, an index of the same form has another name.
    @Test func anIndexOfTheSameFormThatAnotherProgramMadeOpensNothing() throws {
        let made = try chip.create(Self.value)
        let index = try PasscodeIndexRecord(made.record).index()
        try chip.remove(made.record)
        #expect(try machine.define(index.area, password: [7]) == 0)
        #expect(failure { _ = try chip.open(made.record, SecretBytes([7])) } != nil)
    }

    @Test func aClearedTPMIsNamed() throws {
        let made = try chip.create(Self.value)
        try machine.clear()
        #expect(failure { _ = try chip.open(made.record, Self.value) }?.status == .tpmReplaced)
    }

    @Test func anOwnerPasswordOfAnotherProgramIsNamed() throws {
        try machine.setOwnerPassword()
        let failure = failure { _ = try chip.create(Self.value) }
        #expect(failure?.status == .vaultUnavailable)
    }

    // MARK: - Records

    @Test func aShortenedOrExtendedRecordIsRefused() throws {
        let record = try chip.create(Self.value).record
        for count in 0..<record.count {
            #expect(failure { _ = try chip.open(Array(record[..<count]), Self.value) }?.status == .storeUnreadable)
        }
        #expect(failure { _ = try chip.open(record + [0], Self.value) }?.status == .storeUnreadable)
    }
}

extension TPMPasscodeChip {
    fileprivate func create(_ value: SecretBytes) throws(Failure) -> NewChipPasscode { try create(plan(), value) }
}
