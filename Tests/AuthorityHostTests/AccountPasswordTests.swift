// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyService
import LatchkeyWire
import SeamStandIns
import SimulatedDriver
import SystemDriver
import TestPromises
import Testing

@testable import AuthorityDaemon

/// The account password as passcode in tier `file`.
@Suite struct AccountPasswordTests {
    private let passwords = ScriptedPasswords("first password")
    private let machine: TwoServices

    init() throws { machine = try TwoServices(WorldState(sensor: .none), passwords: passwords) }

    private func type(_ password: String, on machine: TwoServices? = nil) {
        (machine ?? self.machine).world.perform(.passcode(SecretBytes(password.utf8)))
    }

    private func set() {
        let replies = machine.answers(machine.session(), .passcode(.setAtPrompt))
        type("first password")
        #expect(replies() == [.done])
    }

    private func evaluate(_ machine: TwoServices? = nil) -> () -> [Reply] {
        (machine ?? self.machine).evaluate()
    }

    @Test(.promise("account.first")) func theFirstPasscodeIsThePasswordOfTheAccount() throws {
        let replies = machine.answers(machine.session(), .passcode(.setAtPrompt))
        type("another password")
        #expect(replies().isEmpty && machine.authority.state.passcodeFailures == 1)
        type("first password")
        #expect(replies() == [.done])
        #expect(try machine.keychain.isPasscodeSet)
        #expect(try machine.records().current?.kind == .account)
        let granted = evaluate()
        type("first password")
        #expect(granted() == [.proven([.passcode])])
        #expect(try machine.keychain.tree.holdsPasscodeKey)
    }

    @Test(.promise("account.pam")) func aWrongPasswordOfTheAccountNeverReachesTheSlot() throws {
        set()
        let before = machine.frames.count
        let replies = evaluate()
        type("a wrong one")
        #expect(replies().isEmpty && machine.authority.state.passcodeFailures == 1)
        for frame in machine.frames[before...] { #expect(frame.openCall == nil) }
    }

    @Test func aPasscodeOfOnesOwnNeedsThePasswordOfTheAccountFirst() throws {
        let machine = try TwoServices(WorldState(sensor: .none), passwords: passwords, firstPasscode: .own)
        let replies = machine.answers(machine.session(), .passcode(.setAtPrompt))
        type("first password", on: machine)
        #expect(replies().isEmpty)
        machine.enterNew("abcdef")
        #expect(replies() == [.done])
        #expect(try machine.records().current?.kind == .own)
        let tries = passwords.tries
        let granted = evaluate(machine)
        type("abcdef", on: machine)
        #expect(granted() == [.proven([.passcode])])
        #expect(passwords.tries == tries, "an own passcode is no business of PAM")
    }

    @Test func anAccountWithoutAPasswordHasAPasscodeOfItsOwn() throws {
        passwords.change(to: nil)
        #expect(machine.setPasscode("abcdef") == [.done])
        #expect(try machine.records().current?.kind == .own)
    }

    @Test func anOwnPasscodeStaysOneWhenTheConfigurationChanges() throws {
        let earlier = try TwoServices(WorldState(sensor: .none))
        #expect(earlier.setPasscode("abcdef") == [.done])
        let machine = try TwoServices(WorldState(sensor: .none), after: earlier.disk, passwords: passwords)
        let granted = evaluate(machine)
        type("abcdef", on: machine)
        #expect(granted() == [.proven([.passcode])])
        #expect(try machine.records().current?.kind == .own)
        #expect(passwords.tries == 0)
    }

    // MARK: - Changed behind our back

    @Test func aChangedPasswordKeepsTheDataAndAsksForThePreviousOne() throws {
        set()
        passwords.change(to: "second password")
        let replies = evaluate()
        type("second password")
        #expect(replies().isEmpty)
        #expect(try machine.records().needsRekey, "durable before the next message")
        #expect(machine.authority.state.passcodeFailures == 0, "the password of the account was right")
        type("first password")
        #expect(replies() == [.proven([.passcode])])
        #expect(try machine.keychain.tree.holdsPasscodeKey)
        #expect(try !machine.records().needsRekey && machine.records().prepared == nil)
        let again = evaluate()
        type("second password")
        #expect(again() == [.proven([.passcode])], "the new one opens everything now")
    }

    @Test func theOldPasswordAloneOpensNothingAfterAChange() throws {
        set()
        passwords.change(to: "second password")
        let replies = evaluate()
        type("first password")
        #expect(replies().isEmpty && machine.authority.state.passcodeFailures == 1)
        // Typed first out of habit, and then asked for: it was wrong before, and is right now.
        type("second password")
        type("first password")
        #expect(replies() == [.proven([.passcode])])
    }

    @Test func eachWrongPreviousPasswordCounts() throws {
        set()
        passwords.change(to: "second password")
        let replies = evaluate()
        type("second password")
        type("guess one")
        #expect(machine.authority.state.passcodeFailures == 1)
        type("guess two")
        type("guess three")
        #expect(replies().compactMap(\.status) == [.authenticationFailed])
        #expect(machine.authority.state.passcodeFailures == 3)
        let again = evaluate()
        // Entered when the delay is over.
        type("second password")
        let tries = passwords.tries
        #expect(again().isEmpty)
        machine.clock.advance(seconds: 5)
        #expect(passwords.tries == tries + 1)
        #expect(again().isEmpty && machine.authority.state.passcodeFailures == 3, "it takes back its own try only")
    }

    @Test func aCrashBeforeTheSlotIsReplacedLeavesBothPasswordsUsable() throws {
        set()
        passwords.change(to: "second password")
        machine.replaceNothing(true)
        let replies = evaluate()
        type("second password")
        type("first password")
        #expect(replies().compactMap(\.status) == [.diskFull])
        #expect(try machine.records().needsRekey && machine.records().prepared != nil)
        machine.replaceNothing(false)
        let again = evaluate()
        type("second password")
        #expect(again().isEmpty, "its slot was not written, so the previous one is asked for again")
        type("first password")
        #expect(again() == [.proven([.passcode])])
        #expect(try !machine.records().needsRekey)
    }

    @Test func aCrashAfterTheSlotWasReplacedIsSettledByTheNewPassword() throws {
        set()
        passwords.change(to: "second password")
        let replies = evaluate()
        type("second password")
        let before = try machine.records()
        type("first password")
        #expect(replies() == [.proven([.passcode])])
        // What the files say if latchkey-authd dies between the reply of latchkeyd and its own last write.
        let new = try #require(try machine.records().current)
        try machine.persist(PasscodeRecords(current: before.current, prepared: new, needsRekey: true))
        let again = evaluate()
        type("second password")
        #expect(again() == [.proven([.passcode])])
        #expect(try machine.records() == PasscodeRecords(current: new))
    }

    @Test func aPasswordThatWasChangedBackOpensTheSlotAgain() throws {
        set()
        passwords.change(to: "second password")
        let replies = evaluate()
        type("second password")
        machine.world.perform(.cancel)
        #expect(replies().count == 1)
        passwords.change(to: "first password")
        let again = evaluate()
        type("first password")
        #expect(again() == [.proven([.passcode])])
        #expect(try !machine.records().needsRekey)
    }

    @Test func theRecordOfAnAccountPasswordOpensNothingWithoutPAM() throws {
        set()
        // A change to a passcode of one's own was interrupted, so both kinds exist.
        let (own, _) = try PasscodeRecord.make(
            SecretBytes("abcdef".utf8), passcodeID: try #require(try machine.records().current).passcodeID, cost: 10,
            salt: [UInt8](repeating: 1, count: PasscodeRecord.saltBytes))
        try machine.persist(PasscodeRecords(current: try machine.records().current, prepared: own))
        passwords.change(to: "second password")
        let replies = evaluate()
        type("first password")
        #expect(replies().isEmpty && machine.authority.state.passcodeFailures == 1)
    }

    // MARK: - What PAM says instead of yes or no

    @Test func unavailableInformationIsNoTry() throws {
        set()
        passwords.answer(.notAvailable(Failure(.daemonUnavailable, "The server of accounts is away.")))
        let replies = evaluate()
        for _ in 0..<5 { type("first password") }
        #expect(replies().isEmpty && machine.authority.state.passcodeFailures == 0)
        passwords.answer(nil)
        type("first password")
        #expect(replies() == [.proven([.passcode])])
    }

    @Test(arguments: [true, false]) func aRefusalAndAFailureCountAndOpenNothing(isRefusal: Bool) throws {
        set()
        let failure = Failure(.notPermitted, "The account has expired.")
        passwords.answer(isRefusal ? .refused(failure) : .failed(failure))
        let replies = evaluate()
        type("first password")
        #expect(replies().isEmpty && machine.authority.state.passcodeFailures == 1)
        type("first password")
        type("first password")
        #expect(replies().compactMap(\.status) == [.authenticationFailed])
    }

    @Test func aPasswordThatMustBeChangedIsRightAndThePromptSaysSo() throws {
        set()
        passwords.answer(.right(mustChange: true))
        let replies = evaluate()
        type("first password")
        #expect(replies().isEmpty)
        #expect(machine.seen.shown?.step == .accountExpired)
        #expect(machine.seen.shown?.notice == .accountPasswordExpired)
        machine.world.perform(.codeAcknowledged)
        #expect(replies() == [.proven([.passcode])])
    }

    @Test func aBrokenRuleOfPAMIsInTheAuditLogAndAnotherFailureIsNot() throws {
        set()
        for failure in [
            Failure(.authenticationFailed, "PAM did not answer in time."), Failure(.peerNotTrusted, "It asks twice."),
        ] {
            passwords.answer(.failed(failure))
            let replies = evaluate()
            type("first password")
            machine.world.perform(.cancel)
            #expect(replies().compactMap(\.status) == [.userCancel])
        }
        let page = try machine.keychain.log(Request.Log(after: 0, limit: Limits.auditEntries, verifies: true))
        #expect(page.lines.filter { $0.event == .accountsRefused }.map(\.count) == [1])
    }

    // MARK: - Changing and forgetting

    @Test func thePasswordOfTheAccountIsNotChangedHere() throws {
        set()
        let replies = machine.answers(machine.session(), .passcode(.changeAtPrompt))
        #expect(replies().compactMap(\.status) == [.notPermitted])
    }

    @Test(.promise("account.first")) func aForgottenPasscodeIsDiscardedWithThePasswordOfTheAccount() throws {
        set()
        passwords.change(to: "second password")
        let replies = machine.answers(machine.session(), .discardForgotten)
        type("first password")
        #expect(replies().isEmpty)
        #expect(try machine.keychain.isPasscodeSet)
        type("second password")
        #expect(replies() == [.done])
        #expect(try !machine.keychain.isPasscodeSet && machine.records() == PasscodeRecords())
    }

    /// Any program may lock the keychain: that must not end the way out.
    @Test func aForgottenPasscodeOfALockedKeychainIsDiscardedAndTheLockEnds() throws {
        set()
        #expect(machine.answers(machine.session(), .lock)() == [.done])
        let replies = machine.answers(machine.session(), .discardForgotten)
        type("first password")
        #expect(replies() == [.done])
        #expect(try !machine.authority.state.isLocked && !machine.keychain.tree.lockState.isLocked)
        set()
    }

    @Test func aForgottenPasscodeOfAnAccountWithoutAPasswordIsForAnAdministrator() throws {
        passwords.change(to: nil)
        #expect(machine.setPasscode("abcdef") == [.done])
        let replies = machine.answers(machine.session(), .discardForgotten)
        #expect(replies().compactMap(\.status) == [.notPermitted])
        #expect(try machine.keychain.isPasscodeSet)
    }
}

extension SecretBytes {
    /// The call that this frame sends to the store to open a slot; nil for every other frame.
    fileprivate var openCall: StoreCall? {
        guard case .storeCall(_, let call)? = try? ServiceMessage(decoding: self), case .open = call else { return nil }
        return call
    }
}
