// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import SystemDriver
import Testing

@testable import LatchkeyService

/// Every passcode that is looked at counts, and while entry is blocked none is looked at, however requests overlap.
@Suite struct PasscodeTriesTests {
    private func change(_ old: String) -> Request {
        .passcode(.change(old: SecretBytes(old.utf8), new: SecretBytes("new".utf8)))
    }

    private func set(_ new: String) -> Request { .passcode(.set(SecretBytes(new.utf8))) }

    @Test func triesThatWaitForEachOtherAreBlockedLikeLaterOnes_LA30() throws {
        let work = HeldWorkQueue()
        let machine = try InterruptedService(work: work)
        let first = machine.answers(set("1234"))
        work.run()
        #expect(first() == [.done])
        let wrong = (1...3).map { machine.answers(change("wrong"), id: $0) }
        let right = machine.answers(change("1234"), id: 4)
        work.run()
        #expect(wrong.map { $0() } == [[Reply]](repeating: [.failure(Failure(.authenticationFailed))], count: 3))
        #expect(right() == [.failure(Failure(.passcodeDelayed))])
        #expect(try machine.simulated.keychain.unlock(SecretBytes("1234".utf8)))
    }

    @Test func ofTwoFirstPasscodesOneIsRefused() throws {
        let work = HeldWorkQueue()
        let machine = try InterruptedService(work: work)
        let answers = [machine.answers(set("first"), id: 1), machine.answers(set("second"), id: 2)]
        work.run()
        #expect(answers.map { $0() } == [[.done], [.failure(Failure(.notPermitted))]])
        #expect(try machine.simulated.keychain.unlock(SecretBytes("first".utf8)))
    }

    /// A machine without a sensor, on which a passcode is typed and its evaluation ends in some way meanwhile.
    private func typing(
        _ passcode: String, meanwhile: @escaping @Sendable (Session) -> Void
    ) throws -> InterruptedService {
        let machine = try InterruptedService(WorldState(sensor: .none), work: ImmediateWorkQueue())
        machine.answers(set("1234"))
        let session = machine.session
        machine.whilePasscodeIsChecked.set { meanwhile(session) }
        let evaluation = InterruptedService.evaluation(try machine.context(), .deviceOwnerAuthentication)
        let answers = machine.answers(evaluation)
        machine.world.perform(.passcode(SecretBytes(passcode.utf8)))
        #expect(answers().count == 1)
        return machine
    }

    @Test func aTryWhosePromptIsCancelledCounts_LA30() throws {
        let machine = try typing("wrong") { $0.cancel(1) }
        #expect(machine.simulated.service.authenticator.state.passcodeFailures == 1)
    }

    @Test func aPasscodeThatIsCheckedAcrossALockLeavesNoKey() throws {
        let machine = try typing("1234") { InterruptedService.answers($0, .simulate(.lock), id: 2) }
        #expect(machine.simulated.keychain.tree.lockState.isLocked)
        #expect(!machine.simulated.keychain.tree.holdsPasscodeKey)
    }

    @Test func aPasscodeThatComesAfterTheEndIsNotKept() throws {
        let prompter = LatePrompter()
        let simulated = try SimulatedService(WorldState(sensor: .none)) { parts, _ in parts.prompter = prompter }
        let session = simulated.session()
        InterruptedService.answers(session, set("1234"))
        guard case .context(let context)? = InterruptedService.answers(session, .createContext)().first else {
            Issue.record("no context was made")
            return
        }
        let evaluation = InterruptedService.evaluation(context, .deviceOwnerAuthentication)
        let answers = InterruptedService.answers(session, evaluation, id: 2)
        session.cancel(2)
        #expect(answers() == [.failure(Failure(.appCancel))])
        var passcode: SecretBytes? = SecretBytes("1234".utf8)
        weak let kept = passcode
        prompter.send(.passcode(try #require(passcode)))
        passcode = nil
        #expect(kept == nil)
    }

    @Test func aPasscodeIsNotLookedAtForAPromptThatIsOver() throws {
        let work = HeldWorkQueue()
        let machine = try InterruptedService(WorldState(sensor: .none), work: work)
        machine.answers(set("1234"))
        work.run()
        machine.world.perform(.passcode(SecretBytes("1234".utf8)))
        machine.answers(InterruptedService.evaluation(try machine.context(), .deviceOwnerAuthentication))
        machine.answers(.simulate(.lock), id: 2)
        work.run()
        #expect(!machine.simulated.keychain.tree.holdsPasscodeKey)
    }
}

/// A prompt that still says something when it is over.
private final class LatePrompter: Prompter {
    private let events = Mutex<(@Sendable (PromptEvent) -> Void)?>(nil)

    func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        self.events.withLock { $0 = events }
        events(.visible)
    }
    func update(_ id: UInt64, _ content: PromptContent) {}
    func dismiss(_ id: UInt64) {}
    func send(_ event: PromptEvent) { events.withLock { $0 }?(event) }
}
