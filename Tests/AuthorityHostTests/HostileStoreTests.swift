// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyWire
import SimulatedDriver
import Synchronization
import TestPromises
import Testing

@testable import AuthorityDaemon

/// Calls that only a compromised `latchkeyd` makes. Each is refused, and none changes what the authority decides.
@Suite struct HostileStoreTests {
    private let machine: TwoServices

    init() throws {
        machine = try TwoServices(WorldState(sensor: .none))
        #expect(machine.setPasscode("abcdef") == [.done])
    }

    private func status(_ replies: [AuthorityReply]) -> Status? {
        guard replies.count == 1, case .failure(let failure) = replies[0] else { return nil }
        return failure.status
    }

    private func evaluate(_ process: ProcessName = TwoServices.process) -> AuthorityCall {
        .evaluate(
            AuthenticationRequest(
                plan: AuthenticationPlan([[.passcode]]), process: process,
                purpose: .app,
                challenge: [UInt8](repeating: 0, count: 32), binding: [UInt8](repeating: 0, count: 32)))
    }

    @Test func thePasscodeIsNotRemovedWithoutAnEvaluationForThatPurpose() throws {
        let change = AuthorityCall.Change(userID: TwoServices.userID, kind: .passcodeRemoved)
        #expect(status(try machine.call(.change(change))) == .notPermitted)
        #expect(machine.authority.state.isPasscodeSet)
    }

    @Test func anEvaluationForAnotherPurposeDoesNotPermitTheRemoval() throws {
        _ = try machine.call(evaluate())
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        let change = AuthorityCall.Change(userID: TwoServices.userID, kind: .passcodeRemoved)
        #expect(status(try machine.call(.change(change), number: 9001)) == .notPermitted)
    }

    @Test func aPasscodeThatWasNotChosenIsNotAdopted() throws {
        let change = AuthorityCall.Change(userID: TwoServices.userID, kind: .passcodeCommitted)
        #expect(status(try machine.call(.change(change))) == .malformedRequest)
    }

    @Test(.promise("latchkeyd.hostile")) func noAppIsAllowedToUseFaceIDWithoutAPerson() throws {
        let change = AuthorityCall.SetFacePermission(
            userID: TwoServices.userID, application: "bank", isAllowed: true)
        #expect(status(try machine.call(.setFacePermission(change))) == .notPermitted)
        #expect(machine.authority.state.facePermissions["bank"] == nil)
    }

    @Test func aProcessThatIsNotTheUsersIsRefused() throws {
        let foreign = ProcessName(processID: 77, startTime: 1234, userID: 1001)
        #expect(status(try machine.call(evaluate(foreign))) == .malformedRequest, "the user is not attached")
        let reused = ProcessName(processID: 77, startTime: 9999, userID: TwoServices.userID)
        #expect(status(try machine.call(evaluate(reused))) == .notPermitted, "another process has the number now")
    }

    @Test(.promise("latchkeyd.hostile")) func aStoreThatOpensNothingMakesNoRightPasscodeAMiss() throws {
        machine.openNothing()
        _ = try machine.call(evaluate())
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        #expect(machine.authority.state.passcodeFailures == 0)
        _ = try machine.call(evaluate(), number: 9001)
        machine.world.perform(.passcode(SecretBytes("abcdeg".utf8)))
        #expect(machine.authority.state.passcodeFailures == 1)
    }

    @Test(.promise("latchkeyd.hostile")) func aPasscodeIsReplacedOnlyAfterItWasEntered() throws {
        let replacing = AuthorityCall.evaluate(
            AuthenticationRequest(
                plan: AuthenticationPlan([]), process: TwoServices.process,
                purpose: .changePasscode, lastStep: .asksNewPasscode,
                challenge: [UInt8](repeating: 0, count: 32), binding: [UInt8](repeating: 0, count: 32)))
        #expect(status(try machine.call(replacing)) == .notPermitted)
    }

    /// A passcode that was chosen on an earlier connection may be the one of the store.
    @Test func aChoiceOfAnEarlierConnectionIsNeitherAdoptedNorReplaced() throws {
        let machine = try TwoServices(WorldState(sensor: .none))
        let choosing = AuthorityCall.evaluate(
            AuthenticationRequest(
                plan: AuthenticationPlan([]), process: TwoServices.process,
                purpose: .setPasscode, lastStep: .asksNewPasscode,
                challenge: [UInt8](repeating: 0, count: 32), binding: [UInt8](repeating: 0, count: 32)))
        let send: (AuthorityCall, UInt64) -> Status? = { call, number in
            let before = machine.frames.count
            _ = machine.connection?.received(ServiceMessage.authorityCall(number, call).encoded())
            for frame in machine.frames[before...] {
                guard case .authorityReply(number, .failure(let failure))? = try? ServiceMessage(decoding: frame)
                else { continue }
                return failure.status
            }
            return nil
        }
        #expect(send(choosing, 9000) == nil)
        machine.enterNew("abcdef")
        machine.crashAuthority()
        machine.clock.advance(seconds: 2)
        let change = AuthorityCall.Change(userID: TwoServices.userID, kind: .passcodeCommitted)
        #expect(send(.change(change), 9001) == .malformedRequest)
        #expect(send(choosing, 9002) == .notPermitted)
        #expect(machine.authority.state.isPasscodeSet, "the passcode that was chosen is asked for")
    }

    @Test(.promise("latchkeyd.hostile")) func anEvaluationWithoutThePasscodeDoesNotPermitItsRemoval() throws {
        let empty = AuthorityCall.evaluate(
            AuthenticationRequest(
                plan: AuthenticationPlan([]), process: TwoServices.process,
                purpose: .removePasscode,
                challenge: [UInt8](repeating: 0, count: 32), binding: [UInt8](repeating: 0, count: 32)))
        _ = try machine.call(empty)
        let change = AuthorityCall.Change(userID: TwoServices.userID, kind: .passcodeRemoved)
        #expect(status(try machine.call(.change(change), number: 9001)) == .notPermitted)
    }

    @Test(arguments: [65_534, .max] as [UInt32]) func usersWithoutAnIdentityAreNotAttached(_ userID: UInt32) throws {
        let attach = AuthorityCall.Attach(userID: userID, isPasscodeSet: false, isLocked: false)
        #expect(status(try machine.call(.attach(attach))) == .notPermitted)
    }

    /// A store that is opened later is attached again; what the authority knows of the user stays.
    @Test func aUserWhoIsAttachedAgainKeepsTheAuthority() throws {
        let replies = machine.answers(machine.session(), .passcode(.changeAtPrompt))
        machine.world.perform(.passcode(SecretBytes("a wrong one".utf8)))
        machine.world.perform(.cancel)
        #expect(replies().count == 1)
        let attach = AuthorityCall.Attach(userID: TwoServices.userID, isPasscodeSet: false, isLocked: false)
        #expect(try machine.call(.attach(attach)).last == .done)
        #expect(machine.authority.state.isPasscodeSet && machine.authority.state.passcodeFailures == 1)
    }

    @Test func anUnlockIsByBiometryOnlyIfTheAuthoritySawIt() throws {
        let touch = try TwoServices()
        #expect(touch.setPasscode("abcdef") == [.done])
        let connection = try #require(touch.connection)
        for kind in [AuthorityCall.Change.Kind.locked, .unlocked] {
            let change = AuthorityCall.Change(userID: TwoServices.userID, kind: kind)
            #expect(connection.received(ServiceMessage.authorityCall(9000, .change(change)).encoded()))
        }
        #expect(touch.authority.state.biometricUnlock == nil)
    }

    @Test func aNumberIsNotUsedForTwoEvaluationsAtOnce() throws {
        #expect(try machine.call(evaluate()).isEmpty, "the prompt waits")
        #expect(status(try machine.call(evaluate())) == .malformedRequest)
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
    }

    @Test func messagesOfTheOtherSideEndTheConnection() throws {
        let connection = try #require(machine.connection)
        #expect(!connection.received(ServiceMessage.authorityReply(1, .done).encoded()))
        #expect(!connection.received(ServiceMessage.storeCall(1, .countersWereLost(userID: 1)).encoded()))
        #expect(!connection.received(ServiceMessage.storeReply(77, .opened(true)).encoded()), "no such call")
        #expect(!connection.received(ServiceMessage.authorityCall(0, evaluate()).encoded()), "a call has a number")
        #expect(!connection.received(SecretBytes([0x80])))
    }

    /// A reply that comes after its call has timed out must not end the connection, which all users share.
    @Test func aSecondReplyToACallIsIgnored() throws {
        _ = try machine.call(evaluate())
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        let opened = machine.frames.compactMap { frame -> UInt64? in
            guard case .storeCall(let number, .open)? = try? ServiceMessage(decoding: frame) else { return nil }
            return number
        }
        let number = try #require(opened.last)
        let connection = try #require(machine.connection)
        #expect(connection.received(ServiceMessage.storeReply(number, .opened(true)).encoded()))
        #expect(!connection.received(ServiceMessage.storeReply(number + 1, .opened(true)).encoded()))
    }

    @Test func aWithdrawalHasNoStatusOfItsChoice() throws {
        _ = try machine.call(evaluate(), number: 9000)
        let withdraw = AuthorityCall.Withdraw(evaluation: 9000, status: .userCancel)
        let before = machine.frames.count
        _ = try machine.call(.withdraw(withdraw), number: 9001)
        let denied = machine.frames[before...].compactMap { frame -> Status? in
            guard case .authorityReply(9000, .failure(let failure))? = try? ServiceMessage(decoding: frame) else {
                return nil
            }
            return failure.status
        }
        #expect(denied == [.systemCancel])
    }
}
