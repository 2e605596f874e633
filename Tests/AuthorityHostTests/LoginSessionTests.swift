// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// Login sessions as both services use them: locks, the end of sessions, and sessions in which biometry is refused.
@Suite struct LoginSessionTests {
    private let machine: TwoServices

    init() throws {
        machine = try TwoServices()
        machine.sessions.callerSession = "2"
        machine.sessions.send(.changed, biometry: .only(["2"]))
        #expect(machine.setPasscode("abcdef") == [.done])
    }

    private func status(_ replies: [Reply]) -> Status? {
        if case .failure(let failure)? = replies.first { failure.status } else { nil }
    }

    private var tree: KeyTree { get throws { try machine.keychain.tree } }

    // MARK: - Lock

    @Test func aLockedSessionEndsPromptsAndWipesKeysAndItsUnlockReturnsThem() throws {
        #expect(try tree.holdsPasscodeKey)
        let replies = machine.evaluate()
        #expect(replies().isEmpty)
        #expect(machine.sessions.send(.locked, isLocked: true), "reported as done")
        #expect(status(replies()) == .systemCancel)
        #expect(try !tree.holdsPasscodeKey && tree.lockState.isLocked)
        #expect(machine.authority.state.isLocked)
        #expect(status(machine.evaluate()()) == .notInteractive)
        machine.sessions.send(.changed, isLocked: false)
        #expect(try !tree.lockState.isLocked && !tree.holdsPasscodeKey)
        #expect(!machine.authority.state.isLocked)
    }

    @Test func aLockThatWasRequestedStaysWhenTheSessionIsUnlocked() throws {
        #expect(machine.answers(machine.session(), .lock)() == [.done])
        machine.sessions.send(.locked, isLocked: true)
        machine.sessions.send(.changed, isLocked: false)
        #expect(try tree.lockState.isLocked && machine.authority.state.isLocked)
    }

    @Test func aLockThatIsRequestedWhileTheSessionIsLockedStays() throws {
        machine.sessions.send(.locked, isLocked: true)
        #expect(machine.answers(machine.session(), .lock)() == [.done])
        machine.sessions.send(.changed, isLocked: false)
        #expect(try tree.lockState.isLocked && machine.authority.state.isLocked)
        #expect(try machine.keychain.storedLock().isLocked, "stored")
    }

    @Test func sessionsThatAreNotKnownAnyMoreLockUntilTheyAre() throws {
        let replies = machine.evaluate()
        machine.sessions.send(.changed, isLocked: true)
        #expect(status(replies()) == .systemCancel)
        #expect(try tree.lockState.isLocked && machine.authority.state.isLocked)
        machine.sessions.send(.changed, isLocked: false)
        #expect(try !tree.lockState.isLocked && !machine.authority.state.isLocked)
    }

    @Test func theLockOfASessionIsNotStored() throws {
        machine.sessions.send(.locked, isLocked: true)
        #expect(try !machine.keychain.storedLock().isLocked)
    }

    @Test func thePasscodeUnlocksWhileASessionIsLockedAndTheNextLockCounts() throws {
        machine.sessions.send(.locked, isLocked: true)
        machine.sessions.callerSession = "7"
        let replies = machine.answers(machine.session(), .unlock(Prompting()))
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        #expect(replies() == [.done])
        #expect(try !tree.lockState.isLocked)
        machine.sessions.send(.locked)
        #expect(try tree.lockState.isLocked)
    }

    @Test func sleepLocksTheKeychainOfEveryUser() throws {
        #expect(machine.sessions.send(.locked, isLocked: true, user: nil))
        #expect(try tree.lockState.isLocked)
        machine.sessions.send(.changed, isLocked: false, user: nil)
        #expect(try !tree.lockState.isLocked)
    }

    @Test func theSessionOfAnotherUserChangesNothing() throws {
        let replies = machine.evaluate()
        #expect(machine.sessions.send(.locked, user: 1001), "there is nothing to wait for")
        #expect(try replies().isEmpty && !tree.lockState.isLocked)
    }

    @Test func theEndOfTheLastSessionWipesKeysAndLocksNothing() throws {
        let replies = machine.evaluate()
        machine.sessions.send(.ended, biometry: .only([]))
        #expect(status(replies()) == .systemCancel)
        #expect(try !tree.holdsPasscodeKey && !tree.lockState.isLocked)
    }

    @Test func aStoreThatIsOpenedWhileASessionIsLockedIsLocked() throws {
        machine.sessions.send(.locked, isLocked: true)
        machine.crashAuthority()
        #expect(try tree.lockState.isLocked && machine.authority.state.isLocked)
        machine.sessions.send(.changed, isLocked: false)
        #expect(try !tree.lockState.isLocked)
    }

    /// A store that was not open, because its TPM was not there, has missed the lock.
    @Test func aStoreThatIsAttachedAgainLearnsOfALockedSession() throws {
        machine.sessions.send(.locked, isLocked: true)
        machine.service.applySessionLock(isLocked: false)
        #expect(try !tree.lockState.isLocked)
        let attach = AuthorityCall.Attach(
            userID: TwoServices.userID, isPasscodeSet: true, isLocked: false, recoveryCopy: [])
        #expect(try machine.call(.attach(attach)) == [.done])
        #expect(try tree.lockState.isLocked)
    }

    @Test func anUnlockThatWasMissedIsLearntWithTheNextConnection() throws {
        machine.sessions.send(.locked, isLocked: true)
        machine.sessions.report.withLock { $0 = nil }
        machine.sessions.send(.changed, isLocked: false)
        #expect(try tree.lockState.isLocked)
        machine.crashAuthority()
        #expect(try !tree.lockState.isLocked)
    }

    // MARK: - Biometry

    @Test(.promise("abuse.22"), arguments: ["7", "", "user2"]) func biometryIsRefusedInOtherSessions_abuse22(
        _ session: String
    ) throws {
        machine.sessions.callerSession = session
        let preflight = machine.answers(machine.session(), .canEvaluate(.deviceOwnerAuthenticationWithBiometrics))()
        guard case .policy(let answer)? = preflight.first else { return #expect(Bool(false), "\(preflight)") }
        #expect(answer.refusal?.status == .biometryNotAvailable)
        #expect(answer.refusal?.message.contains("session at this machine") == true)
        #expect(status(machine.evaluate(.deviceOwnerAuthenticationWithBiometrics)()) == .biometryNotAvailable)
        let replies = machine.evaluate()
        machine.world.perform(.touch(matching: true))
        #expect(replies().isEmpty, "the sensor is not armed")
        _ = try machine.world.apply(.reset)
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        #expect(replies() == [.proven([.passcode])])
    }

    @Test func programsOfTheUserManagerBelongToTheSessionAtTheMachine() throws {
        machine.sessions.callerSession = BiometrySessions.userManager
        let replies = machine.evaluate(.deviceOwnerAuthenticationWithBiometrics)
        machine.world.perform(.touch(matching: true))
        #expect(replies() == [.proven([.biometry])])
        machine.sessions.send(.changed, biometry: .only([]))
        #expect(status(machine.evaluate(.deviceOwnerAuthenticationWithBiometrics)()) == .biometryNotAvailable)
    }

    @Test(.promise("abuse.22")) func aSessionThatBecomesInactiveStopsTheSensor_abuse22() throws {
        let biometry = machine.evaluate(.deviceOwnerAuthenticationWithBiometrics)
        machine.sessions.send(.changed, biometry: .only(["3"]))
        #expect(status(biometry()) == .systemCancel)
        machine.sessions.send(.changed, biometry: .only(["2"]))
        let either = machine.evaluate()
        machine.sessions.send(.changed, biometry: .only([]))
        machine.world.perform(.touch(matching: true))
        #expect(either().isEmpty)
        _ = try machine.world.apply(.reset)
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        #expect(either() == [.proven([.passcode])])
    }

    /// latchkeyd's own view of the caller's session decides nothing.
    @Test func theAuthorityDeterminesTheSessionItself_abuse22() throws {
        let session = machine.session()
        let context = try machine.context(session)
        machine.sessions.callerSession = "7"
        let replies = machine.answers(session, .evaluate(context, .deviceOwnerAuthenticationWithBiometrics))
        #expect(status(replies()) == .biometryNotAvailable)
    }
}
