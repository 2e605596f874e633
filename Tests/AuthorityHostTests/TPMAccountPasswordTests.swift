// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SeamStandIns
import SimulatedDriver
import Synchronization
import TPMProtocol
import TestPromises
import TestSupport
import Testing

@testable import AuthorityDaemon
@testable import LatchkeyKeychain

/// The account password as passcode in tier `tpm`: the system verifies it, then the TPM.
@Suite(.needs(.softwareTPM)) struct TPMAccountPasswordTests {
    private let passwords = ScriptedPasswords("first password")
    private let tpm: SwitchedTPM
    private let machine: TwoServices
    private static let right: [Reply] = [.proven([.passcode])]
    /// The response `TPM_RC_FAILURE`.
    private static let failure: [UInt8] = [0x80, 1, 0, 0, 0, 10, 0, 0, 1, 1]

    init() throws {
        tpm = try SwitchedTPM()
        machine = try TwoServices(WorldState(sensor: .none), passwords: passwords, tpm: tpm, sealed: true)
    }

    // MARK: - What a person does

    private func type(_ password: String, on machine: TwoServices? = nil) {
        (machine ?? self.machine).world.perform(.passcode(SecretBytes(password.utf8)))
    }

    /// Makes the account password the passcode, and returns the recovery code.
    @discardableResult
    private func set() throws -> String {
        let replies = machine.answers(machine.session(), .passcode(.setAtPrompt))
        type("first password")
        let code = machine.noteCode()
        #expect(replies() == [.done])
        #expect(machine.enter("first password") == Self.right)
        try machine.addSecret()
        return code
    }

    private func evaluate(_ machine: TwoServices? = nil) -> () -> [Reply] {
        (machine ?? self.machine).evaluate()
    }

    /// Counts how often the TPM is asked to verify a passcode, until `machine.carry(nil)`.
    private func judgements() -> () -> Int {
        let count = Counter()
        machine.carry { (command, pass) throws(Failure) in
            if command.isOf(.policySecret) { count.add() }
            return try pass(command)
        }
        return { count.value }
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        func add() { count.withLock { $0 += 1 } }
        var value: Int { count.withLock { $0 } }
    }

    private func restart() throws -> TwoServices {
        machine.end()
        return try TwoServices(
            WorldState(sensor: .none), after: machine.disk, passwords: passwords, tpm: tpm, sealed: true)
    }

    private func status(_ machine: TwoServices) throws -> StatusReport {
        guard case .status(let report)? = machine.answers(machine.session(), .status)().last else { throw Unexpected() }
        return report
    }

    private struct Unexpected: Error {}

    // MARK: - Use

    @Test func theFirstPasscodeIsThePasswordOfTheAccountAndHasARecoveryCode() throws {
        try set()
        let record = try #require(try machine.records().current)
        #expect(record.kind == .account && record.verifier.isEmpty && !record.chip.isEmpty)
        #expect(try machine.records().recovery != nil)
        #expect(machine.enter("another password") != Self.right)
        #expect(machine.enter("first password") == Self.right)
        #expect(try machine.secret() == Array("secret".utf8))
        let again = try restart()
        #expect(again.enter("first password") == Self.right)
    }

    @Test(.promise("account.status")) func theStatusSaysWhatThePasscodeIsAndThatItCanBeGuessedWithoutTheTPM() throws {
        #expect(try status(machine).passcodeKind == .account, "what the first one will be")
        #expect(try !status(machine).canBeGuessedWithoutTPM && !status(machine).isPasscodeSet)
        try set()
        #expect(try status(machine).passcodeKind == .account && status(machine).canBeGuessedWithoutTPM)
        let again = try restart()
        #expect(try status(again).canBeGuessedWithoutTPM, "before the first prompt")
    }

    @Test func aPasscodeOfOnesOwnIsNotSaidToBeGuessable() throws {
        let disk = try TwoServices.Disk()
        machine.end()
        let own = try TwoServices(
            WorldState(sensor: .none), after: disk, retainingStore: false, passwords: passwords, firstPasscode: .own,
            tpm: tpm)
        #expect(try status(own).passcodeKind == .own, "what the first one will be")
        let replies = own.answers(own.session(), .passcode(.setAtPrompt))
        type("first password", on: own)
        own.enterNew("abcdef")
        own.noteCode()
        #expect(replies() == [.done])
        #expect(try status(own).passcodeKind == .own && !status(own).canBeGuessedWithoutTPM)
    }

    @Test(.promise("account.tpm")) func aWrongPasswordOfTheAccountNeverReachesTheTPM() throws {
        try set()
        let verified = judgements()
        #expect(machine.enter("a wrong one", "another wrong one") != Self.right)
        #expect(verified() == 0 && machine.authority.state.passcodeFailures == 2)
    }

    @Test func aPasswordThatTheSystemDidNotCheckIsNoTryOfTheTPM() throws {
        try set()
        let verified = judgements()
        passwords.answer(.notAvailable(Failure(.daemonUnavailable, "The server of accounts is away.")))
        #expect(machine.enter("first password") != Self.right)
        #expect(verified() == 0 && machine.authority.state.passcodeFailures == 0)
    }

    @Test func withoutATPMARightPasswordIsNoTryAndNotTakenForAChangedOne() throws {
        try set()
        tpm.cutPower()
        #expect(machine.enter("first password") != Self.right)
        #expect(try machine.authority.state.passcodeFailures == 0 && !machine.records().needsRekey)
        try tpm.start()
        #expect(machine.enter("first password") == Self.right)
    }

    @Test func thePasswordOfTheAccountIsNotChangedHere() throws {
        try set()
        let replies = machine.answers(machine.session(), .passcode(.changeAtPrompt))
        #expect(replies().compactMap(\.status) == [.notPermitted])
    }

    // MARK: - Changed behind our back

    @Test func aChangedPasswordKeepsTheDataAndAsksForThePreviousOne() throws {
        let code = try set()
        passwords.change(to: "second password")
        let replies = evaluate()
        type("second password")
        #expect(try replies().isEmpty && machine.records().needsRekey, "durable before the next message")
        #expect(machine.authority.state.passcodeFailures == 0, "the system has accepted the password")
        type("first password")
        #expect(replies() == Self.right)
        #expect(try !machine.records().needsRekey && machine.keychain.anchor.slots.count == 1)
        #expect(machine.enter("first password") != Self.right)
        let verified = judgements()
        #expect(machine.enter("second password") == Self.right)
        #expect(verified() == 1, "verified by the TPM, which has the new one")
        machine.carry(nil)
        #expect(try machine.secret() == Array("secret".utf8))
        guard case .recovered? = machine.recover(code, "third passcode").last else {
            Issue.record("the recovery code does not open the slot of the new password")
            return
        }
        #expect(machine.enter("third passcode") == Self.right)
        #expect(try machine.secret() == Array("secret".utf8))
    }

    @Test(.promise("account.tpm")) func whileARekeyIsNeededOnlyThePreviousPasswordReachesTheTPM() throws {
        try set()
        passwords.change(to: "second password")
        #expect(machine.enter("second password") != Self.right)
        let verified = judgements()
        for _ in 0..<3 { #expect(machine.enter("second password") != Self.right) }
        #expect(verified() == 0, "the TPM has refused this password, and would count it each time")
        let tries = passwords.tries
        #expect(machine.enter("second password", "a guess") != Self.right)
        #expect(verified() == 1 && machine.authority.state.passcodeFailures == 1)
        #expect(passwords.tries == tries + 1, "the previous password is no business of PAM")
        #expect(machine.enter("second password", "first password") == Self.right)
        #expect(machine.authority.state.passcodeFailures == 0)
    }

    @Test func aRekeyThatIsNeededSurvivesARestart() throws {
        try set()
        passwords.change(to: "second password")
        #expect(machine.enter("second password") != Self.right)
        let again = try restart()
        let replies = evaluate(again)
        type("second password", on: again)
        #expect(replies().isEmpty)
        type("first password", on: again)
        #expect(replies() == Self.right)
        #expect(try again.secret() == Array("secret".utf8))
    }

    @Test func aPasswordThatWasChangedBackIsEnteredAsThePreviousOneAndStays() throws {
        try set()
        passwords.change(to: "second password")
        #expect(machine.enter("second password") != Self.right)
        passwords.change(to: "first password")
        let isChanged = Counter()
        machine.carry { (command, pass) throws(Failure) in
            if command.isOf(.nvChangeAuthorization) { isChanged.add() }
            return try pass(command)
        }
        #expect(machine.enter("first password", "first password") == Self.right)
        #expect(isChanged.value == 0)
        #expect(try !machine.records().needsRekey)
        #expect(machine.enter("first password") == Self.right)
    }

    @Test func aTPMThatRefusesTheNewPasswordKeepsThePreviousOne() throws {
        try set()
        passwords.change(to: "second password")
        machine.carry { (command, pass) throws(Failure) in
            command.isOf(.nvChangeAuthorization) ? Self.failure : try pass(command)
        }
        #expect(machine.enter("second password", "first password") != Self.right)
        #expect(machine.authority.state.passcodeFailures == 0, "both were right")
        machine.carry(nil)
        #expect(machine.enter("second password", "first password") == Self.right)
        #expect(machine.enter("second password") == Self.right)
        #expect(try machine.secret() == Array("secret".utf8))
    }

    /// The TPM has the new password, and the opposite was reported to `latchkey-authd`.
    @Test func aChangeWhoseResponseIsLostLeavesTheNewPassword() throws {
        try set()
        passwords.change(to: "second password")
        machine.carry { (command, pass) throws(Failure) in
            let response = try pass(command)
            return command.isOf(.nvChangeAuthorization) ? Array(response.dropLast()) : response
        }
        #expect(machine.enter("second password", "first password") != Self.right)
        machine.carry(nil)
        #expect(machine.enter("second password") == Self.right)
        #expect(try machine.keychain.anchor.slots.count == 1)
    }

    @Test func aBlockedTPMIsNotTakenForAChangedPassword() throws {
        let code = try set()
        passwords.change(to: "second password")
        #expect(machine.enter("second password") != Self.right)
        for number in 0..<20 {
            machine.clock.advance(seconds: 86_400)
            _ = machine.enter("second password", "guess \(number)")
        }
        machine.clock.advance(seconds: 86_400)
        let replies = evaluate()
        type("second password")
        type("first password")
        #expect(replies().compactMap(\.status) == [.passcodeDelayed])
        guard case .recovered? = machine.recover(code, "third passcode").last else {
            Issue.record("the recovery code does not reset a blocked passcode")
            return
        }
        #expect(try machine.records().kinds == [.own], "a recovery asks for a passcode of one's own")
        #expect(machine.enter("third passcode") == Self.right)
    }

    // MARK: - Keys

    /// The value that the TPM compares is that of the new password at once; the one before would count as a wrong try.
    @Test func aKeyOutlivesTheChangeAndIsUsedAtThePromptThatFollowsIt() throws {
        try set()
        let session = machine.session()
        let request = Request.CreateEnclaveKey(
            attributes: [.label: .text("key")],
            accessControl: AccessControl(
                accessibility: .whenUnlockedThisDeviceOnly, constraints: [.devicePasscode, .privateKeyUsage]),
            isPermanent: true, authentication: Authentication())
        guard case .enclaveKey(let key)? = machine.answers(session, .createEnclaveKey(request))().last else {
            throw Unexpected()
        }
        passwords.change(to: "second password")
        let use = Request.UseEnclaveKey(
            name: key.name, operation: .sign(digest: [UInt8](repeating: 0xa5, count: 32)),
            authentication: Authentication())
        let first = machine.answers(session, .useEnclaveKey(use))
        type("second password")
        type("first password")
        guard case .enclaveResult? = first().last else {
            Issue.record("the key was not used: \(first())")
            return
        }
        let second = machine.answers(session, .useEnclaveKey(use))
        type("second password")
        guard case .enclaveResult? = second().last else {
            Issue.record("the key was not used again: \(second())")
            return
        }
    }

    // MARK: - Power cuts

    /// Either the new password is right alone, or the previous one is asked for: one of both at each moment.
    @Test(.promise("account.tpm"), arguments: 0..<20) func aChangedPasswordIsUsableAfterAPowerCut_abuse35(
        moment: Int
    ) throws {
        let code = try set()
        let cuts = PowerCut(machine, tpm, passwords: passwords)
        let again = try cuts.at(moment) { machine in
            passwords.change(to: "second password")
            _ = machine.enter("second password", "first password")
        }
        guard let again else {
            #expect(moment > 12, "a rekey has at least these moments")
            return
        }
        #expect(again.enter("first password") != Self.right, "the system refuses it, moment \(moment)")
        let replies = evaluate(again)
        type("second password", on: again)
        if replies().isEmpty { type("first password", on: again) }
        #expect(replies() == Self.right, "moment \(moment)")
        #expect(try again.secret() == Array("secret".utf8))
        #expect(try again.keychain.anchor.slots.count == 1 && !again.records().needsRekey)
        #expect(again.enter("second password") == Self.right)
        guard case .recovered? = again.recover(code, "third passcode").last else {
            Issue.record("the recovery code is not valid any more, moment \(moment)")
            return
        }
    }

    /// Where latchkey-authd has a passcode and the keychain has none, `latchkey reset` removes it.
    @Test(arguments: 0..<26) func aFirstPasscodeThatAPowerCutInterruptedCanBeDiscarded_abuse35(moment: Int) throws {
        let cuts = PowerCut(machine, tpm, passwords: passwords)
        let again = try cuts.at(moment) { machine in
            _ = machine.answers(machine.session(), .passcode(.setAtPrompt))
            type("first password", on: machine)
            machine.noteCode()
        }
        guard let again else {
            #expect(moment > 8, "setting a passcode has at least these moments")
            return
        }
        guard again.authority.state.isPasscodeSet, try !again.keychain.isPasscodeSet else { return }
        let replies = again.answers(again.session(), .discardForgotten)
        type("first password", on: again)
        #expect(replies() == [.done], "moment \(moment)")
        #expect(try again.records() == PasscodeRecords())
        let second = again.answers(again.session(), .passcode(.setAtPrompt))
        type("first password", on: again)
        again.noteCode()
        #expect(second() == [.done], "moment \(moment)")
        #expect(again.enter("first password") == Self.right)
        #expect(try again.passcodeIndices() == 1)
    }

    /// An interrupted recovery has an index for each of two passcodes.
    @Test func whatIsDiscardedAfterAnInterruptedRecoveryLeavesNoIndex_abuse35() throws {
        let code = try set()
        var withTwo = 0
        for moment in 0..<40 {
            let cuts = PowerCut(machine, tpm, passwords: passwords)
            let again = try cuts.at(moment) { machine in _ = machine.recover(code, "second passcode") }
            guard let again else { break }
            let records = try again.records()
            guard records.current?.chip.isEmpty == false, records.prepared?.chip.isEmpty == false else {
                again.end()
                continue
            }
            withTwo += 1
            // A place that cannot be freed fails the removal, which can be repeated.
            again.carry { (command, pass) throws(Failure) in
                command.isOf(.nvUndefineSpace) ? Self.failure : try pass(command)
            }
            let failed = again.answers(again.session(), .discardForgotten)
            type("first password", on: again)
            #expect(failed().count == 1 && failed() != [.done])
            #expect(try again.records().current != nil)
            again.carry(nil)
            let replies = again.answers(again.session(), .discardForgotten)
            type("first password", on: again)
            #expect(replies() == [.done], "moment \(moment)")
            #expect(try again.passcodeIndices() == 0, "moment \(moment)")
            #expect(try again.records() == PasscodeRecords())
            break
        }
        #expect(withTwo == 1, "a recovery has a moment with two indices")
    }

    /// Before the TPM has the new passcode, the password is one of the keychain's own: never does PAM have to accept a
    /// passcode that it does not know.
    @Test(arguments: 0..<20) func aChangeToAPasscodeOfOnesOwnIsCompleteOrAbsentAfterAPowerCut(moment: Int) throws {
        try set()
        let cuts = PowerCut(machine, tpm, passwords: passwords, firstPasscode: .own)
        let again = try cuts.at(moment) { machine in
            let replies = machine.answers(machine.session(), .passcode(.changeAtPrompt))
            type("first password", on: machine)
            machine.enterNew("second passcode")
            _ = replies()
        }
        guard let again else {
            #expect(moment > 8, "a change has at least these moments")
            return
        }
        let opens = ["first password", "second passcode"].filter { again.enter($0) == Self.right }
        #expect(opens.count == 1, "moment \(moment): \(opens)")
        #expect(try again.secret() == Array("secret".utf8))
    }

    @Test func anAccountPasswordBecomesAPasscodeOfOnesOwnInTheSameIndex() throws {
        try set()
        let before = try #require(try machine.records().current)
        machine.end()
        let own = try TwoServices(
            WorldState(sensor: .none), after: machine.disk, passwords: passwords, firstPasscode: .own, tpm: tpm,
            sealed: true)
        #expect(own.enter("first password") == Self.right, "an existing passcode stays what it is")
        #expect(try own.records().kinds == [.account])
        let replies = own.answers(own.session(), .passcode(.changeAtPrompt))
        type("first password", on: own)
        own.enterNew("second passcode")
        #expect(replies() == [.done])
        let after = try #require(try own.records().current)
        #expect(after.kind == .own && after.chip == before.chip)
        let tries = passwords.tries
        #expect(own.enter("first password") != Self.right)
        #expect(own.enter("second passcode") == Self.right)
        #expect(passwords.tries == tries, "an own passcode is no business of PAM")
        #expect(try !status(own).canBeGuessedWithoutTPM)
    }
}
