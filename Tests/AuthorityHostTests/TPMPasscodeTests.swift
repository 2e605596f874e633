// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import SimulatedDriver
import Synchronization
import SystemDriver
import TPMProtocol
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// The passcode of tier `tpm`: the TPM verifies it, latchkey-authd talks to the TPM, and latchkeyd carries the commands.
@Suite(.needs(.softwareTPM)) struct TPMPasscodeTests {
    private let machine: TwoServices
    private let tpm: SwitchedTPM

    init() throws {
        tpm = try SwitchedTPM()
        machine = try TwoServices(WorldState(sensor: .none), tpm: tpm)
    }

    private static let right: [Reply] = [.proven([.passcode])]
    /// The response `TPM_RC_FAILURE`.
    private static let failure: [UInt8] = [0x80, 1, 0, 0, 0, 10, 0, 0, 1, 1]

    // MARK: - Use

    @Test func theTPMAcceptsTheRightPasscodeAndNoOther() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        #expect(machine.enter("abcdef") == Self.right)
        #expect(try machine.keychain.tree.holdsPasscodeKey)
        #expect(machine.enter("abcdeg") != Self.right)
        #expect(machine.authority.state.passcodeFailures == 1)
        #expect(machine.enter("abcdeg", "abcdef") == Self.right)
        #expect(machine.authority.state.passcodeFailures == 0)
    }

    @Test(.promise("attacker.disk")) func aRecordHasNothingToGuessThePasscodeBy() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let record = try #require(try machine.records().current)
        #expect(record.verifier.isEmpty)
        #expect(!record.chip.isEmpty)
    }

    @Test func thePasscodeIsAcceptedAfterARestartOfBothServices() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let disk = machine.disk
        machine.crashAuthority(refusing: true)
        let again = try TwoServices(WorldState(sensor: .none), after: disk, tpm: tpm)
        #expect(again.enter("abcdef") == Self.right)
    }

    @Test func neitherPasscodeNorItsSecretPassTheChannel() throws {
        #expect(machine.setPasscode("remarkable") == [.done])
        #expect(machine.changePasscode(from: "remarkable", to: "notable thing") == [.done])
        #expect(machine.enter("notable thing") == Self.right)
        for text in ["remarkable", "notable thing"] {
            for frame in machine.frames {
                let bytes = frame.copyBytes()
                #expect(!bytes.indices.contains { bytes[$0...].starts(with: Array(text.utf8)) })
            }
        }
    }

    // MARK: - A TPM without room

    private func refusalOfAFirstPasscode() throws -> Failure {
        guard case .failure(let failure)? = machine.setPasscode("abcdef").last else {
            Issue.record("the passcode was set")
            throw Failure(.internalFailure)
        }
        #expect(try !machine.keychain.isPasscodeSet)
        #expect(try machine.records().current == nil && machine.records().prepared == nil)
        #expect(machine.shownCode.isEmpty, "the code of a passcode that cannot be stored was shown")
        return failure
    }

    @Test func aFirstPasscodeInAFullTPMIsRefusedWithTheCauseAndTheWayOut() throws {
        try machine.fillTPM()
        let failure = try refusalOfAFirstPasscode()
        #expect(failure.status == .vaultUnavailable)
        #expect(failure.message.contains("no room for the passcode: its non-volatile memory is full (TPM_RC_NV_SPACE)"))
        #expect(failure.hint.contains("tpm2_getcap handles-nv-index"))
        try machine.makeRoom()
        #expect(machine.setPasscode("abcdef") == [.done])
        #expect(machine.enter("abcdef") == Self.right)
    }

    /// The memory has room, but each handle of Latchkey's range has an index.
    @Test func aFirstPasscodeWithoutAFreeHandleIsRefusedWithTheCauseAndTheWayOut() throws {
        machine.carry { (command, pass) throws(Failure) in
            guard command.isOf(.getCapability), command[14..<18] == [1, 0x81, 0x4d, 0] else { return try pass(command) }
            let handles = (UInt32(0x0181_4d00)..<0x0181_4e00).flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) }
            // One response with all of the 256 handles.
            return [0x80, 1, 0, 0, 4, 19, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0] + handles
        }
        let failure = try refusalOfAFirstPasscode()
        #expect(failure.status == .vaultUnavailable)
        #expect(failure.message.contains("no room for the passcode: each handle"))
        #expect(failure.hint.contains("latchkey admin remove-user"))
        machine.carry(nil)
        #expect(machine.setPasscode("abcdef") == [.done])
    }

    /// The room is checked with an index, which the next attempt removes if it is still there.
    @Test func anIndexThatOnlyCheckedTheRoomIsRemoved() throws {
        machine.carry { (command, pass) throws(Failure) in
            command.isOf(.nvUndefineSpace) ? Self.failure : try pass(command)
        }
        #expect(try refusalOfAFirstPasscode().status == .vaultUnavailable)
        #expect(try machine.passcodeIndices() == 1)
        #expect(try !machine.records().abandoned.isEmpty)
        machine.carry(nil)
        #expect(machine.setPasscode("abcdef") == [.done])
        #expect(try machine.passcodeIndices() == 1)
        #expect(machine.enter("abcdef") == Self.right)
    }

    @Test func aFirstPasscodeThatIsCancelledAtItsCodeLeavesNothing() throws {
        let replies = machine.answers(machine.session(), .passcode(.setAtPrompt))
        machine.enterNew("abcdef")
        #expect(replies().isEmpty && !machine.shownCode.isEmpty)
        machine.world.perform(.cancel)
        #expect(replies().count == 1)
        #expect(try machine.passcodeIndices() == 0)
        #expect(try machine.records().abandoned.isEmpty)
    }

    // MARK: - Changes

    @Test func afterAChangeOnlyTheNewPasscodeIsRight() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let before = try machine.records()
        #expect(machine.changePasscode(from: "abcdef", to: "ghijkl") == [.done])
        #expect(machine.enter("abcdef") != Self.right)
        #expect(machine.enter("ghijkl") == Self.right)
        #expect(try machine.records().current == before.current, "the record names the index, whose value changed")
        #expect(try machine.keychain.anchor.slots.count == 1)
    }

    /// The store has adopted the new slot; the TPM refuses its part.
    @Test func aChangeThatTheTPMRefusesLeavesTheCurrentPasscode() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        machine.carry { (command, pass) throws(Failure) in
            command.isOf(.nvChangeAuthorization) ? Self.failure : try pass(command)
        }
        guard case .failure? = machine.changePasscode(from: "abcdef", to: "ghijkl").last else {
            Issue.record("the change was reported as complete")
            return
        }
        machine.carry(nil)
        #expect(machine.enter("abcdef") == Self.right)
        #expect(try machine.keychain.anchor.slots.count == 1, "the right passcode has settled the slots")
        #expect(machine.enter("ghijkl") != Self.right)
    }

    /// The response of the TPM is lost: it has the new passcode, and the failure of the change was reported to the
    /// service.
    @Test func aChangeWhoseResponseIsLostLeavesTheNewPasscode() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        machine.carry { (command, pass) throws(Failure) in
            let response = try pass(command)
            return command.isOf(.nvChangeAuthorization) ? Array(response.dropLast()) : response
        }
        _ = machine.changePasscode(from: "abcdef", to: "ghijkl")
        machine.carry(nil)
        #expect(machine.enter("abcdef") != Self.right)
        #expect(machine.enter("ghijkl") == Self.right)
        #expect(try machine.keychain.anchor.slots.count == 1)
    }

    @Test func aCrashBetweenTheStoreAndTheTPMLeavesTheCurrentPasscode() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        machine.carry { [machine] (command, pass) throws(Failure) in
            guard command.isOf(.nvChangeAuthorization) else { return try pass(command) }
            machine.crashAuthority(refusing: true)
            return Self.failure
        }
        _ = machine.changePasscode(from: "abcdef", to: "ghijkl")
        machine.carry(nil)
        let disk = machine.disk
        let again = try TwoServices(WorldState(sensor: .none), after: disk, tpm: tpm)
        #expect(again.enter("abcdef") == Self.right)
    }

    @Test func aRemovedPasscodeLeavesNothingInTheTPM() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let replies = machine.answers(machine.session(), .passcode(.remove))
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        #expect(replies() == [.done])
        #expect(try machine.records() == PasscodeRecords())
        // Another passcode has the same handle again.
        #expect(machine.setPasscode("ghijkl") == [.done])
        #expect(machine.enter("ghijkl") == Self.right)
    }

    // MARK: - A latchkeyd that lies

    /// A response of success to a wrong passcode.
    @Test(.promise("attacker.latchkeyd")) func aWrongPasscodeThatLatchkeydCallsRightIsNotAccepted() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        machine.carry { (command, pass) throws(Failure) in
            command.isOf(.policySecret) ? [0x80, 2, 0, 0, 0, 10, 0, 0, 0, 0] : try pass(command)
        }
        #expect(machine.enter("abcdeg") != Self.right)
    }

    /// What latchkeyd does when it knows from the answer of the TPM whether a passcode was right.
    enum Lie: CaseIterable { case callsItGone, callsItWrong, changesTheAnswer, keepsTheAnswer, keepsTheCount }

    private func carry(_ lie: Lie) {
        let hasValue = Mutex(false)
        machine.carry { (command, pass) throws(Failure) in
            let response = try pass(command)
            if command.isOf(.policySecret) {
                hasValue.withLock { $0 = true }
                switch lie {
                case .callsItGone: return [0x80, 1, 0, 0, 0, 10, 0, 0, 9, 0x18]
                case .callsItWrong: return [0x80, 1, 0, 0, 0, 10, 0, 0, 9, 0xa2]
                case .changesTheAnswer: return response.dropLast() + [(response.last ?? 0) ^ 1]
                case .keepsTheAnswer: throw Failure(.enclaveUnavailable, "The TPM sent no response.")
                case .keepsTheCount: break
                }
            }
            let isKept = command.isOf(.nvRead) && hasValue.withLock { $0 }
            return isKept ? Self.failure : response
        }
    }

    /// Otherwise a program at the prompt could guess at its speed.
    @Test(.promise("attacker.latchkeyd"), arguments: Lie.allCases)
    func aTryWhoseAnswerLatchkeydKeepsCounts(_ lie: Lie) throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        for (index, guess) in ["abcdeg", "abcdeh", "abcdei"].enumerated() {
            carry(lie)
            #expect(machine.enter(guess) != Self.right)
            #expect(machine.authority.state.passcodeFailures == index + 1)
            machine.carry(nil)
        }
        // They are followed by a delay, also after a restart.
        let disk = machine.disk
        machine.crashAuthority(refusing: true)
        let again = try TwoServices(WorldState(sensor: .none), after: disk, tpm: tpm)
        #expect(again.authority.state.passcodeFailures == 3)
        #expect(again.enter("abcdef") != Self.right)
    }

    /// After an interrupted change there are two records. That the second one cannot be verified takes back no try of the
    /// first.
    @Test func aTryOfTwoRecordsCountsWhenTheFirstOneWasJudged() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        var records = try machine.records()
        let current = try #require(records.current)
        records.prepared = PasscodeRecord(
            cost: current.cost, salt: [UInt8](repeating: 1, count: PasscodeRecord.saltBytes),
            passcodeID: current.passcodeID, chip: current.chip)
        try machine.persist(records)
        let hasValue = Mutex(false)
        machine.carry { (command, pass) throws(Failure) in
            if command.isOf(.policySecret) { hasValue.withLock { $0 = true } }
            return command.isOf(.load) && hasValue.withLock { $0 } ? Self.failure : try pass(command)
        }
        #expect(machine.enter("abcdeg") != Self.right)
        #expect(machine.authority.state.passcodeFailures == 1)
        machine.carry(nil)
        #expect(machine.enter("abcdef") == Self.right)
    }

    /// Only a count in an authentic response shows that the TPM has verified a wrong passcode.
    @Test func aRightPasscodeThatLatchkeydCallsWrongIsNotCalledWrong() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        machine.carry { (command, pass) throws(Failure) in
            command.isOf(.policySecret) ? [0x80, 1, 0, 0, 0, 10, 0, 0, 9, 0xa2] : try pass(command)
        }
        guard case .failure(let failure)? = machine.enter("abcdef").last else {
            Issue.record("the prompt asks again")
            return
        }
        #expect(failure.status == .vaultUnavailable)
        machine.carry(nil)
        #expect(machine.enter("abcdef") == Self.right)
    }

    @Test func withoutATPMNothingIsAcceptedAndNoTryIsCounted() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        tpm.cutPower()
        #expect(machine.enter("abcdef") != Self.right)
        #expect(machine.authority.state.passcodeFailures == 0)
        try tpm.start()
        #expect(machine.enter("abcdef") == Self.right)
    }

    @Test func aRecordOfTierFileIsNotAcceptedInTierTPM() throws {
        let file = try TwoServices(WorldState(sensor: .none))
        #expect(file.setPasscode("abcdef") == [.done])
        file.crashAuthority(refusing: true)
        let disk = file.disk
        let again = try TwoServices(WorldState(sensor: .none), after: disk, retainingStore: false, tpm: tpm)
        #expect(again.enter("abcdef") != Self.right)
    }
}
