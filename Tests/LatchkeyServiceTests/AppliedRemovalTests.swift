// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import SystemDriver
import Testing

@testable import LatchkeyService

/// Each way to remove the passcode is answered when the authority has removed what it has of the passcode.
@Suite struct AppliedRemovalTests {
    private static let ways: [Request] = [.passcode(.remove), .discardProtected, .discardForgotten]

    /// An authority that applies the removal of a passcode when the test wants, or not at all.
    private final class SlowAuthority: AuthorityDecorator {
        let authority: any AuthenticationAuthority
        let service = ServiceReference()
        private let held: Held

        init(_ authority: any AuthenticationAuthority, _ held: Held) { (self.authority, self.held) = (authority, held) }

        func report(_ change: AuthorityChange, then: (@Sendable (Failure?) -> Void)?) {
            guard case .passcodeExists(false) = change else { return authority.report(change, then: then) }
            held.removal.withLock {
                $0 = { [authority] failure in
                    guard failure == nil else { return then?(failure) ?? () }
                    authority.report(change, then: then)
                }
            }
        }
    }

    /// The removal that the authority has not applied so far.
    private final class Held: Sendable {
        let removal = Mutex<(@Sendable (Failure?) -> Void)?>(nil)

        /// Follows it, or fails with `failure`.
        func apply(_ failure: Failure? = nil) { removal.withLock { $0 }?(failure) }
    }

    private let held = Held()
    private let machine: SimulatedService

    init() throws {
        machine = try SimulatedService(WorldState(sensor: .none)) { [held] parts, _ in
            parts.wrap = { SlowAuthority($0, held) }
        }
        #expect(answers(.passcode(.set(SecretBytes("1234".utf8))))() == [.done])
    }

    private func answers(_ request: Request) -> () -> [Reply] {
        InterruptedService.answers(machine.session(), request)
    }

    private func remove(_ way: Request) -> () -> [Reply] {
        let replies = answers(way)
        machine.world.perform(.passcode(SecretBytes("1234".utf8)))
        return replies
    }

    @Test(arguments: ways) func aRemovalIsAnsweredWhenTheStatusSaysSo(_ way: Request) throws {
        let replies = remove(way)
        #expect(!machine.keychain.isPasscodeSet)
        #expect(replies().isEmpty)
        held.apply()
        #expect(replies() == [.done])
        guard case .status(let report)? = answers(.status)().last else { throw Failure(.internalFailure) }
        #expect(!report.isPasscodeSet)
    }

    @Test(arguments: ways) func aRemovalThatTheAuthorityCannotApplyIsNotCalledDone(_ way: Request) {
        let failure = Failure(.diskFull, "No space is left.")
        let replies = remove(way)
        held.apply(failure)
        #expect(replies() == [.failure(failure)])
    }

    @Test func aLockedKeychainIsUnlockedAfterTheRemoval() {
        #expect(answers(.lock)() == [.done])
        let replies = answers(.discardForgotten)
        held.apply()
        #expect(replies() == [.done])
        #expect(!machine.service.authority.state.isLocked)
    }

    @Test func aLockWhileThePasscodeIsRemovedEndsWithIt() {
        let replies = remove(.passcode(.remove))
        #expect(answers(.lock)() == [.done])
        held.apply()
        #expect(replies() == [.done])
        #expect(!machine.service.authority.state.isLocked && !machine.keychain.tree.lockState.isLocked)
    }

    @Test(arguments: ways) func theLockOfALoginSessionOutlastsTheRemoval(_ way: Request) {
        let replies = remove(way)
        machine.service.applySessionLock(isLocked: true)
        held.apply()
        #expect(replies() == [.done] && machine.keychain.tree.lockState.isLocked)
        machine.service.applySessionLock(isLocked: false)
        #expect(!machine.keychain.tree.lockState.isLocked)
    }

    /// So is a passcode whose setting failed in its last write, which was not reported to the authority.
    @Test func aPasscodeThatTheKeychainAloneHasIsNotReplacedAsAFirstOne() throws {
        #expect(remove(.discardForgotten)().isEmpty)
        held.apply()
        let key = NewPasscodeKey.slotKey(
            SecretBytes([UInt8](repeating: 1, count: 32)), passcodeID: [UInt8](repeating: 2, count: 16))
        try machine.keychain.setPasscode(key, caller: SimulatedService.caller)
        #expect(!machine.service.authority.state.isPasscodeSet)
        guard case .failure(let failure)? = answers(.passcode(.setAtPrompt))().last else {
            Issue.record("a prompt was shown")
            return
        }
        #expect(failure.status == .notPermitted)
    }
}
