// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySignIn
import Testing

@testable import SignInCore

/// The state machine alone, without keychain and server.
@Suite struct SignInMachineTests {
    let account = Account(
        user: "ada", address: URL(filePath: "/"), relyingPartyID: "localhost", release: .biometry)

    private func machine(_ events: SignInEvent...) -> SignInMachine {
        var machine = SignInMachine()
        for event in events { machine.handle(event) }
        return machine
    }

    private func signedIn() -> SignInMachine {
        machine(.started(account, hasKey: true), .signedIn(expires: .distantFuture))
    }

    private func failure(
        _ operation: Failure.Operation, _ kind: SignInError.Kind, help: String? = "help"
    ) -> SignInEvent { .failed(Failure(operation, kind, words: "words", help: help)) }

    @Test func aDeviceWithoutAccountRegisters() {
        #expect(machine(.started(nil, hasKey: false)).state == .registering(former: nil, hasKey: false))
    }

    @Test func aDeviceWithAKeyIsSignedOut() {
        #expect(machine(.started(account, hasKey: true)).state == .signedOut(account))
    }

    @Test func aDeviceWhoseKeyIsGoneRegistersAndSaysWhy() {
        let machine = machine(.started(account, hasKey: false))
        #expect(machine.state == .registering(former: account, hasKey: false))
        #expect(machine.notice?.words == "This device has no key for your account.")
    }

    @Test func aKeychainThatCannotBeReadIsTriedAgain() {
        let machine = machine(.startFailed("no"), .started(account, hasKey: true))
        #expect(machine.state == .signedOut(account))
    }

    @Test func theWayThroughTheStates() {
        var machine = machine(.started(nil, hasKey: false))
        machine.handle(.registered(account))
        #expect(machine.state == .signedOut(account))
        let end = Date(timeIntervalSince1970: 1000)
        machine.handle(.signedIn(expires: end))
        #expect(machine.state == .signedIn(account, expires: end))
        machine.handle(.approved(act: "pay"))
        #expect(machine.notice?.words == "Approved: pay.")
        machine.handle(.signedOut)
        #expect(machine.state == .signedOut(account))
        machine.handle(.forgotten(atServer: true))
        #expect(machine.state == .registering(former: nil, hasKey: false))
    }

    /// A session that opens late, or a forgotten key, must not change a state to which it does not belong.
    @Test func eventsOfOtherStatesChangeNothing() {
        let events: [SignInEvent] = [
            .signedIn(expires: .distantFuture), .approved(act: "pay"), .expired, .signedOut, .wantsNewCode, .keepsKey,
            .forgotten(atServer: true), .startFailed("no"), .started(account, hasKey: true),
        ]
        let before = machine(.started(nil, hasKey: false))
        for event in events {
            var machine = before
            machine.handle(event)
            #expect(machine == before, "\(event)")
        }
        var signedIn = signedIn()
        signedIn.handle(.forgotten(atServer: false))
        signedIn.handle(.wantsNewCode)
        #expect(signedIn == self.signedIn())
    }

    @Test func anExpiredSessionIsSignedOutAndSaysSo() {
        var machine = signedIn()
        machine.handle(.expired)
        #expect(machine.state == .signedOut(account))
        #expect(machine.notice?.words == "Your session has ended.")
    }

    /// The end of the session cancels an approval, which may have reached the server before.
    @Test func anApprovalThatEndsAfterTheSessionIsTold() {
        var machine = signedIn()
        machine.handle(.expired)
        machine.handle(failure(.approval, .cancelled))
        #expect(machine.notice?.words == "Your session has ended.")
        machine.handle(.approved(act: "pay"))
        #expect(machine.notice?.words == "Approved: pay.")
        #expect(machine.state == .signedOut(account))
    }

    // MARK: - Failures

    @Test func aCancelledSignInSaysWhatElseIsPossible() {
        var machine = machine(.started(account, hasKey: true))
        machine.handle(failure(.signIn, .cancelled))
        #expect(machine.state == .signedOut(account))
        #expect(machine.notice?.isError == false)
        #expect(machine.notice?.help?.contains("choose the passcode") == true)
    }

    @Test func aLockedSensorOffersThePasscode() {
        var machine = machine(.started(account, hasKey: true))
        machine.handle(failure(.signIn, .biometryLockedOut))
        #expect(machine.notice?.offer == .passcode)
    }

    @Test(arguments: [SignInError.Kind.enrollmentChanged, .keyNotFound, .refused(.signIn)])
    func aKeyThatCannotBeUsedOffersANewCode(kind: SignInError.Kind) {
        var machine = machine(.started(account, hasKey: true))
        machine.handle(failure(.signIn, kind))
        #expect(machine.state == .signedOut(account))
        #expect(machine.notice?.isError == true)
        #expect(machine.notice?.offer == .newCode)
        machine.handle(.wantsNewCode)
        #expect(machine.state == .registering(former: account, hasKey: true))
        #expect(machine.notice == nil)
        machine.handle(.keepsKey)
        #expect(machine.state == .signedOut(account))
    }

    @Test func aDeletedKeyCannotBeKept() {
        let machine = machine(.started(account, hasKey: true), .wantsNewCode, .keyDeleted, .keepsKey)
        #expect(machine.state == .registering(former: account, hasKey: false))
    }

    @Test(arguments: [SignInError.Kind.enrollmentChanged, .keyNotFound, .sessionNotUsable, .refused(.stepUp)])
    func anApprovalThatEndsTheSessionSignsOut(kind: SignInError.Kind) {
        var machine = signedIn()
        machine.handle(failure(.approval, kind))
        #expect(machine.state == .signedOut(account))
        #expect(machine.notice?.words == "words")
    }

    @Test(arguments: [SignInError.Kind.cancelled, .offline, .tooSlow, .notAuthenticated, .biometryLockedOut])
    func anApprovalThatFailsOtherwiseKeepsTheSession(kind: SignInError.Kind) {
        var machine = signedIn()
        machine.handle(failure(.approval, kind))
        #expect(machine.state.isSignedIn)
        #expect(machine.notice != nil)
    }

    @Test func aSignOutWithoutAServerSignsOutAndSaysSo() {
        var machine = signedIn()
        machine.handle(failure(.signOut, .offline))
        #expect(machine.state == .signedOut(account))
        #expect(machine.notice?.isError == true)
    }

    @Test func aKeyThatWasNotRevokedIsKeptAndCanBeRemovedHere() {
        var machine = machine(.started(account, hasKey: true))
        machine.handle(failure(.forgetting, .offline))
        #expect(machine.state == .signedOut(account))
        #expect(machine.notice?.offer == .removeHere)
        machine.handle(.forgotten(atServer: false))
        #expect(machine.notice?.help?.contains("still lists it") == true)
    }

    @Test func aCancelledRevocationKeepsTheKey() {
        var machine = machine(.started(account, hasKey: true))
        machine.handle(failure(.forgetting, .cancelled))
        #expect(machine.notice == Notice("The key was kept."))
    }

    @Test func aRegistrationThatMayHaveSucceededLeadsToTheSignIn() {
        let failure = Failure(.registration, .outcomeUnknown(.registration), words: "ended", help: "Sign in.")
        let machine = machine(.started(nil, hasKey: false), .mayBeRegistered(account, failure))
        #expect(machine.state == .signedOut(account))
        #expect(machine.notice == Notice("ended", help: "Sign in.", isError: true))
    }

    /// No failure is silent, and none opens a session.
    @Test(arguments: Failure.Operation.allCases) func everyFailureIsTold(operation: Failure.Operation) {
        let kinds: [SignInError.Kind] = [
            .invalidServer(.address), .invalidArgument(.user), .alreadyRegistered, .keyNotFound, .sessionNotUsable,
            .offline, .tooSlow, .certificateNotTrusted, .redirected, .unexpectedReply, .outcomeUnknown(.signIn),
            .otherRelyingParty, .foreignChallenge, .staleChallenge, .clockDiffers(minutes: 7), .refused(.signIn),
            .tooManyTries(seconds: 3), .serverNotAvailable, .cancelled, .enrollmentChanged, .passcodeNotSet,
            .biometryNotEnrolled, .biometryLockedOut, .biometryNotAvailable, .notAuthenticated, .keychain,
        ]
        for kind in kinds {
            for before in [machine(.started(account, hasKey: true)), signedIn()] {
                // An approval needs a session.
                guard operation != .approval || before.state.isSignedIn else { continue }
                var machine = before
                machine.handle(failure(operation, kind))
                #expect(machine.state == before.state || machine.state == .signedOut(account), "\(kind)")
                #expect(machine.notice?.words.isEmpty == false, "\(kind)")
            }
        }
    }
}
