// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyWire
import SimulatedDriver
import Synchronization
import SystemDriver
import TPMProtocol
import TestSupport
import Testing

@testable import AuthorityDaemon
@testable import LatchkeyKeychain
@testable import LatchkeyService

/// The recovery code of a keychain whose root key, counter and passcode are in a TPM.
@Suite(.needs(.softwareTPM)) struct RecoveryTests {
    private let machine: TwoServices
    private let tpm: SwitchedTPM
    private static let right: [Reply] = [.proven([.passcode])]

    init() throws {
        tpm = try SwitchedTPM()
        machine = try TwoServices(WorldState(sensor: .none), tpm: tpm, sealed: true)
    }

    // MARK: - What a person does

    private func restart(_ tpm: SwitchedTPM? = nil) throws -> TwoServices {
        machine.end()
        return try TwoServices(
            WorldState(sensor: .none), after: machine.disk, tpm: tpm ?? self.tpm, sealed: true)
    }

    private func isRecovered(_ replies: [Reply], accepted: Status? = nil) -> Bool {
        guard case .recovered(let recovered)? = replies.last else { return false }
        return recovered.accepted?.status == accepted
    }

    // MARK: - Ways out

    @Test func theCodeReplacesAForgottenPasscodeAndItself() throws {
        let code = try machine.prepareSecret()
        #expect(isRecovered(machine.recover(code, "second passcode")))
        let next = machine.shownCode
        #expect(next != code)
        #expect(machine.enter("first passcode") != Self.right)
        #expect(machine.enter("second passcode") == Self.right)
        #expect(try machine.secret() == Array("secret".utf8))
        #expect(try machine.keychain.anchor.slots.count == 1)
        #expect(!isRecovered(machine.recover(code, "third passcode")), "an earlier code is not valid any more")
        #expect(isRecovered(machine.recover(next, "third passcode")))
        #expect(machine.enter("third passcode") == Self.right)
    }

    @Test func theCodeIsShownOnlyWithANewPasscodeAndMustBeTypedBack() throws {
        let replies = machine.answers(machine.session(), .passcode(.setAtPrompt))
        machine.enterNew("first passcode")
        #expect(machine.seen.shown?.step == .recoveryCodeShown)
        machine.world.perform(.codeAcknowledged)
        #expect(machine.seen.shown?.step == .recoveryCodeRepeated)
        machine.world.perform(.recoveryCode(SecretBytes("AAAAAA".utf8)))
        #expect(machine.seen.shown?.step == .recoveryCodeShown, "it is shown again")
        #expect(machine.seen.shown?.notice == .recoveryCodeDiffers)
        machine.world.perform(.cancel)
        guard case .failure(let failure)? = replies().last else {
            Issue.record("a passcode was set without its code")
            return
        }
        #expect(failure.status == .userCancel)
        #expect(try !machine.keychain.isPasscodeSet)
        #expect(machine.setPasscode("first passcode") == [.done])
    }

    @Test func aWrongCodeIsRefusedFiveTimesAndChangesNothing() throws {
        let code = try machine.prepareSecret()
        let before = try machine.disk.files()
        let replies = machine.answers(machine.session(), .passcode(.recoverAtPrompt))
        // A typing error is none of them.
        machine.world.perform(.recoveryCode(SecretBytes("not a code".utf8)))
        for wrong in 0..<5 {
            #expect(machine.seen.shown?.step == .recoveryCodeAsked)
            #expect(machine.seen.shown?.notice == (wrong == 0 ? .recoveryCodeMistyped : .wrongRecoveryCode))
            machine.world.perform(.recoveryCode(SecretBytes("00000-00000-00000-00000-000000".utf8)))
        }
        guard case .failure(let failure)? = replies().last else {
            Issue.record("a wrong code was accepted")
            return
        }
        #expect(failure.status == .authenticationFailed)
        #expect(try machine.disk.files() == before)
        #expect(isRecovered(machine.recover(code, "second passcode")))
    }

    @Test func aPasscodeHasSixCharacters() throws {
        let replies = machine.answers(machine.session(), .passcode(.setAtPrompt))
        machine.world.perform(.newPasscode(SecretBytes("12345".utf8)))
        #expect(machine.seen.shown?.notice == .newPasscodeTooShort)
        machine.enterNew("123456")
        machine.noteCode()
        #expect(replies() == [.done])
    }

    @Test func theCodeIsAWayOutAfterTwentyWrongPasscodes() throws {
        let code = try machine.prepareSecret()
        let record = try #require(try machine.records().current)
        let verification = try #require(machine.connection).verification
        for _ in 0..<20 { #expect(try verification.open(record, SecretBytes("wrong".utf8)) == nil) }
        #expect(machine.enter("first passcode") != Self.right)
        #expect(isRecovered(machine.recover(code, "second passcode")))
        #expect(machine.enter("second passcode") == Self.right)
        #expect(machine.authority.state.passcodeFailures == 0)
        #expect(try machine.secret() == Array("secret".utf8))
    }

    @Test(arguments: [false, true]) func wrongPasscodesDelayNoRecovery(afterRestart: Bool) throws {
        let code = try machine.prepareSecret()
        for passcode in ["wrong", "wrong again", "still wrong"] { #expect(machine.enter(passcode) != Self.right) }
        let machine = afterRestart ? try restart() : machine
        #expect(machine.authority.state.delaySeconds > 0)
        let replies = machine.recover(code, "second passcode")
        #expect(isRecovered(replies), "\(replies)")
        #expect(machine.authority.state.passcodeFailures == 0)
        #expect(machine.enter("second passcode") == Self.right)
    }

    /// The store is closed until the code opens it; the counter is gone with the TPM.
    @Test func theCodeIsAWayOutOnAnotherTPM() throws {
        let code = try machine.prepareSecret()
        let other = try SwitchedTPM()
        let again = try restart(other)
        #expect(throws: Failure.self) { try again.keychain }
        #expect(again.enter("first passcode") != Self.right)
        #expect(!isRecovered(again.recover("00000-00000-00000-00000-000000", "second passcode")))
        #expect(isRecovered(again.recover(code, "second passcode"), accepted: .anchorGone))
        #expect(again.enter("second passcode") == Self.right)
        #expect(try again.secret() == Array("secret".utf8))
        let next = again.shownCode
        #expect(isRecovered(again.recover(next, "third passcode")))
    }

    @Test func theCodeIsAWayOutWhenTheIndexOfThePasscodeWasRemoved() throws {
        let code = try machine.prepareSecret()
        // The first index of a passcode.
        #expect(try machine.removeIndex(0x0181_4d00)[6..<10] == [0, 0, 0, 0])
        #expect(machine.enter("first passcode") != Self.right)
        #expect(isRecovered(machine.recover(code, "second passcode")))
        #expect(machine.enter("second passcode") == Self.right)
        #expect(try machine.secret() == Array("secret".utf8))
    }

    @Test func theCodeStaysValidWhenThePasscodeIsChanged() throws {
        let code = try machine.prepareSecret()
        let replies = machine.answers(machine.session(), .passcode(.changeAtPrompt))
        machine.world.perform(.passcode(SecretBytes("first passcode".utf8)))
        machine.enterNew("changed passcode")
        #expect(replies() == [.done])
        #expect(isRecovered(machine.recover(code, "second passcode")))
        #expect(machine.enter("second passcode") == Self.right)
        #expect(machine.enter("changed passcode") != Self.right)
        #expect(try machine.secret() == Array("secret".utf8))
    }

    @Test func withoutAPasscodeThereIsNoCode() throws {
        let code = try machine.prepareSecret()
        let replies = machine.answers(machine.session(), .passcode(.remove))
        machine.world.perform(.passcode(SecretBytes("first passcode".utf8)))
        #expect(replies() == [.done])
        #expect(!isRecovered(machine.recover(code, "second passcode")))
        #expect(try machine.records() == PasscodeRecords())
    }

    // MARK: - A TPM without room

    @Test func aRecoveryTakesThePlaceOfTheEarlierIndexInAFullTPM() throws {
        let code = try machine.prepareSecret()
        try machine.fillTPM()
        #expect(isRecovered(machine.recover(code, "second passcode")))
        #expect(machine.enter("second passcode") == Self.right)
        #expect(try machine.secret() == Array("secret".utf8))
        #expect(isRecovered(machine.recover(machine.shownCode, "third passcode")))
    }

    /// The earlier passcode goes only if the code opens the slot.
    @Test func theEarlierIndexStaysInAFullTPMIfTheSlotDoesNotOpen() throws {
        let code = try machine.prepareSecret()
        try machine.fillTPM()
        machine.openNothing()
        #expect(!isRecovered(machine.recover(code, "second passcode")))
        let again = try restart()
        #expect(again.enter("first passcode") == Self.right)
        #expect(isRecovered(again.recover(code, "second passcode")))
    }

    /// It has opened when the code was typed, and is asked for again before the index is removed.
    @Test func theEarlierIndexStaysInAFullTPMIfTheSlotDoesNotOpenAnyMore() throws {
        let code = try machine.prepareSecret()
        try machine.fillTPM()
        let replies = machine.answers(machine.session(), .passcode(.recoverAtPrompt))
        machine.world.perform(.recoveryCode(SecretBytes(code.utf8)))
        #expect(machine.seen.shown?.step == .newPasscodeAsked)
        machine.openNothing()
        machine.enterNew("second passcode")
        machine.noteCode()
        guard case .failure(let failure)? = replies().last else {
            Issue.record("the recovery was not refused")
            return
        }
        #expect(failure.message.hasPrefix("The TPM has no room for the passcode"))
        #expect(try restart().enter("first passcode") == Self.right)
    }

    @Test(arguments: 0..<34) func aRecoveryInAFullTPMCanBeRepeatedAfterAPowerCut_abuse35(moment: Int) throws {
        let code = try machine.prepareSecret()
        try machine.fillTPM()
        let shown = Mutex("")
        let again = try cut(at: moment) { machine in
            _ = machine.recover(code, "second passcode")
            shown.withLock { $0 = machine.shownCode }
        }
        guard let again else {
            #expect(moment > 16, "the recovery has at least these moments")
            return
        }
        let codes = [shown.withLock { $0 }, code].filter { !$0.isEmpty }
        #expect(codes.filter { isRecovered(again.recover($0, "third passcode")) }.count == 1, "moment \(moment)")
        #expect(again.enter("third passcode") == Self.right)
        #expect(try again.secret() == Array("secret".utf8))
    }

    // MARK: - Power cuts

    private func cut(at moment: Int, _ action: (TwoServices) throws -> Void) throws -> TwoServices? {
        try PowerCut(machine, tpm).at(moment, action)
    }

    /// Either passcode and either code may be the valid one, but there is always a valid one of each.
    @Test(arguments: 0..<34) func aRecoveryIsCompleteOrAbsentAfterAPowerCut_abuse35(moment: Int) throws {
        let code = try machine.prepareSecret()
        let shown = Mutex("")
        let again = try cut(at: moment) { machine in
            _ = machine.recover(code, "second passcode")
            shown.withLock { $0 = machine.shownCode }
        }
        guard let again else {
            #expect(moment > 12, "the recovery has at least these moments")
            return
        }
        let opens = ["first passcode", "second passcode"].filter { again.enter($0) == Self.right }
        #expect(opens.count == 1, "moment \(moment): \(opens)")
        #expect(try again.secret() == Array("secret".utf8))
        let codes = [shown.withLock { $0 }, code].filter { !$0.isEmpty }
        let valid = codes.first { isRecovered(again.recover($0, "third passcode")) }
        #expect(valid != nil, "moment \(moment)")
        #expect(again.enter("third passcode") == Self.right)
        #expect(try again.secret() == Array("secret".utf8))
    }

    /// At each moment of a recovery and of a change, the copy that latchkeyd has stored belongs to what `root.key`
    /// opens with.
    @Test(arguments: 0..<34, [true, false]) func theFilesOfTheAuthorityMayBeLostAtAnyMoment_abuse35(
        moment: Int, ofRecovery: Bool
    ) throws {
        let code = try machine.prepareSecret()
        let shown = Mutex("")
        let again = try PowerCut(machine, tpm).at(moment, losesFolder: true) { machine in
            guard ofRecovery else {
                _ = machine.answers(machine.session(), .passcode(.changeAtPrompt))
                machine.world.perform(.passcode(SecretBytes("first passcode".utf8)))
                return machine.enterNew("changed passcode")
            }
            _ = machine.recover(code, "second passcode")
            shown.withLock { $0 = machine.shownCode }
        }
        guard let again else {
            #expect(moment > (ofRecovery ? 16 : 10), "there are at least these moments")
            return
        }
        let codes = [shown.withLock { $0 }, code].filter { !$0.isEmpty }
        let answers = codes.map { again.recover($0, "third passcode") }
        #expect(answers.filter { isRecovered($0) }.count == 1, "moment \(moment): \(answers)")
        #expect(again.enter("third passcode") == Self.right)
        #expect(try again.secret() == Array("secret".utf8))
    }

    /// A set passcode without its code, or a code without its passcode, must not remain.
    @Test(arguments: 0..<26) func aFirstPasscodeIsCompleteOrAbsentAfterAPowerCut_abuse35(moment: Int) throws {
        let shown = Mutex("")
        let again = try cut(at: moment) { machine in
            _ = machine.setPasscode("first passcode")
            shown.withLock { $0 = machine.shownCode }
        }
        guard let again else {
            #expect(moment > 8, "setting a passcode has at least these moments")
            return
        }
        guard try again.keychain.isPasscodeSet else {
            if again.authority.state.isPasscodeSet {
                for change in [Request.PasscodeChange.setAtPrompt, .changeAtPrompt] {
                    guard case .failure(let failure)? = again.answers(again.session(), .passcode(change))().last else {
                        Issue.record("moment \(moment): \(change) was not refused")
                        return
                    }
                    #expect(failure.message.contains("was interrupted"))
                    #expect(failure.hint.contains("latchkey passcode remove"))
                }
                let removal = again.answers(again.session(), .passcode(.remove))
                again.world.perform(.passcode(SecretBytes("first passcode".utf8)))
                #expect(removal() == [.done], "moment \(moment): \(removal())")
            }
            #expect(again.setPasscode("second passcode") == [.done], "moment \(moment)")
            #expect(again.enter("second passcode") == Self.right)
            return
        }
        #expect(again.enter("first passcode") == Self.right, "moment \(moment)")
        #expect(isRecovered(again.recover(shown.withLock { $0 }, "second passcode")), "moment \(moment)")
        #expect(again.enter("second passcode") == Self.right)
    }

    // MARK: - A latchkeyd that is not what it should be

    /// The code, the passcodes and what is derived from them for the TPM alone.
    @Test func latchkeydGetsNeitherCodeNorPasscode() throws {
        let code = try machine.prepareSecret()
        #expect(isRecovered(machine.recover(code, "second passcode")))
        let codes = [code, machine.shownCode]
        let plain = codes.map { code in code.filter { $0 != "-" } }
        for text in codes + plain + ["first passcode", "second passcode"] {
            for frame in machine.frames {
                let bytes = frame.copyBytes()
                #expect(!bytes.indices.contains { bytes[$0...].starts(with: Array(text.utf8)) })
            }
        }
    }

    @Test func aRecoveryCannotBeStartedWithoutTheCode() throws {
        _ = try machine.prepareSecret()
        let before = try machine.records()
        for plan in [[], [[AuthenticationMethod.passcode]]] as [[Set<AuthenticationMethod>]] {
            for step in [LastStep.none, .asksRecoveryCode, .repeatsRecoveryCode] {
                let replies = try machine.call(
                    .evaluate(
                        AuthenticationRequest(
                            plan: AuthenticationPlan(plan), process: TwoServices.process, purpose: .recoverPasscode,
                            lastStep: step, challenge: [UInt8](repeating: 1, count: 32),
                            binding: [UInt8](repeating: 2, count: 32))))
                guard case .failure? = replies.last else {
                    Issue.record("step \(step) was not refused")
                    continue
                }
            }
        }
        let committed = try machine.call(
            .change(AuthorityCall.Change(userID: TwoServices.userID, kind: .passcodeCommitted)), number: 9001)
        guard case .failure? = committed.last else {
            Issue.record("a passcode that was not chosen was adopted")
            return
        }
        #expect(try machine.records() == before)
    }

    /// Frames of an earlier recovery, sent again by a latchkeyd that wants the records replaced.
    @Test func aRecordedRecoveryPermitsNothingASecondTime() throws {
        let code = try machine.prepareSecret()
        let start = machine.frames.count
        #expect(isRecovered(machine.recover(code, "second passcode")))
        let recorded = machine.frames[start...]
        let before = try machine.records()
        for frame in recorded {
            guard case .authorityCall? = try? ServiceMessage(decoding: frame) else { continue }
            _ = machine.connection?.received(frame)
            if machine.seen.shown != nil { machine.world.perform(.cancel) }
        }
        #expect(try machine.records() == before)
        #expect(machine.enter("second passcode") == Self.right)
    }

    /// A latchkeyd that says of the code that it opens nothing learns only the key for the root key, and nothing changes.
    @Test func aCodeThatTheStoreDeniesChangesNothing() throws {
        let code = try machine.prepareSecret()
        let before = try machine.records()
        try machine.service.parts.recovery?.persist(SecretBytes([UInt8](repeating: 3, count: 32)))
        #expect(!isRecovered(machine.recover(code, "second passcode")))
        #expect(try machine.records() == before)
        #expect(machine.enter("first passcode") == Self.right)
    }

    /// Of two choices at the same time, latchkeyd could adopt the slot of one and authd the record of the other.
    @Test func aSecondRecoveryIsRefusedWhileTheFirstIsAdopted() throws {
        let code = try machine.prepareSecret()
        func recovery(_ number: UInt64) throws -> AuthorityReply? {
            let before = machine.frames.count
            _ = try machine.call(
                .evaluate(
                    AuthenticationRequest(
                        plan: AuthenticationPlan([]), process: TwoServices.process, purpose: .recoverPasscode,
                        lastStep: .asksNewPasscode,
                        challenge: [UInt8](repeating: 1, count: 32),
                        binding: [UInt8](repeating: 2, count: 32))), number: number)
            machine.world.perform(.recoveryCode(SecretBytes(code.utf8)))
            machine.enterNew("second passcode")
            machine.noteCode()
            return machine.frames[before...].compactMap { frame -> AuthorityReply? in
                guard case .authorityReply(number, let reply)? = try? ServiceMessage(decoding: frame) else {
                    return nil
                }
                return reply
            }.last
        }
        guard case .granted? = try recovery(9001) else {
            Issue.record("the first recovery was not granted")
            return
        }
        #expect(try recovery(9002) == .failure(Failure(.notPermitted)))
        machine.clock.advance(seconds: 6)
        guard case .granted? = try recovery(9003) else {
            Issue.record("a recovery that was not adopted prevents others for ever")
            return
        }
        #expect(machine.enter("first passcode") == Self.right)
    }

    @Test func anIndexWhoseRecordWasNotStoredIsRemovedByTheNextPasscode() throws {
        let again = try cut(at: 2) { machine in _ = machine.setPasscode("first passcode") }
        let machine = try #require(again)
        #expect(try !machine.records().abandoned.isEmpty)
        #expect(machine.setPasscode("second passcode") == [.done])
        #expect(try machine.records().abandoned.isEmpty)
    }
}
