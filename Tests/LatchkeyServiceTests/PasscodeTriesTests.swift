// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SeamStandIns
import SimulatedDriver
import Synchronization
import SystemDriver
import TestPromises
import Testing

@testable import LatchkeyService

/// Every verified passcode counts as a try, and none is verified while entry is delayed, also when requests overlap.
@Suite struct PasscodeTriesTests {
    private func set(_ new: String) -> Request { .passcode(.set(SecretBytes(new.utf8))) }

    private func change(_ new: String) -> Request { .passcode(.change(SecretBytes(new.utf8))) }

    /// Creates a machine without a sensor and with the passcode 1234.
    private func machine() throws -> InterruptedService {
        let machine = try InterruptedService(WorldState(sensor: .none), work: ImmediateWorkQueue())
        #expect(machine.answers(set("1234"))() == [.done])
        return machine
    }

    private func type(_ passcode: String, _ machine: InterruptedService) {
        machine.world.perform(.passcode(SecretBytes(passcode.utf8)))
    }

    @Test(.promise("tries.requests")) func changeRequiresThePasscodeAtTheDaemonsOwnPrompt() throws {
        let machine = try InterruptedService(work: ImmediateWorkQueue())
        machine.answers(set("1234"))
        // A proof of the passcode on a context of the same connection is not accepted.
        type("1234", machine)
        let rule = Request.EvaluateAccessControl(
            context: try machine.context(), accessControl: AccessControl(constraints: .devicePasscode),
            prompting: Prompting(reason: "test"))
        #expect(machine.answers(.evaluateAccessControl(rule))() == [.done])
        let answers = machine.answers(change("5678"))
        machine.world.perform(.touch(matching: true))
        #expect(answers().isEmpty, "biometry is not accepted")
        #expect(machine.world.transcript.contains { $0.contains("asks: \"changePasscode\"") })
        machine.answers(.simulate(.reset), id: 2)
        type("1234", machine)
        #expect(answers() == [.done])
        #expect(try machine.simulated.keychain.unlock(SecretBytes("5678".utf8)))
    }

    @Test(.promise("tries.requests")) func cancelledChangesUseNoPasscodeTries_LA30() throws {
        let machine = try machine()
        for id: UInt64 in 1...10 {
            let answers = machine.answers(change("5678"), id: id)
            machine.answers(.simulate(.cancel), id: 100 + id)
            #expect(answers() == [.failure(Failure(.userCancel))])
        }
        #expect(machine.simulated.service.authority.state.passcodeFailures == 0)
    }

    @Test func wrongPasscodeDoesNotChangeThePasscode() throws {
        let machine = try machine()
        let answers = machine.answers(change("5678"))
        for wrong in ["0000", "0001", "0002"] { type(wrong, machine) }
        #expect(answers() == [.failure(Failure(.authenticationFailed))])
        #expect(try machine.simulated.keychain.unlock(SecretBytes("1234".utf8)))
    }

    @Test(arguments: ["", "1", "123", "äöü", "👍👍👍"]) func shortPasscodeIsRefused(_ short: String) throws {
        let machine = try InterruptedService(WorldState(sensor: .none), work: ImmediateWorkQueue())
        #expect(machine.answers(set(short))() == [.failure(Failure(.invalidParameter))])
        #expect(machine.answers(set("äöüß"))() == [.done])
        #expect(machine.answers(change(short))() == [.failure(Failure(.invalidParameter))])
    }

    @Test(.promise("tries.once")) func repeatedWrongPasscodeCountsOnceInOneEvaluation_LA30() throws {
        let machine = try machine()
        let answers = machine.answers(change("5678"))
        for _ in 1...5 { type("0000", machine) }
        #expect(machine.simulated.service.authority.state.passcodeFailures == 1)
        #expect(machine.world.transcript.last?.contains("the same wrong passcode, tries left: 2") == true)
        machine.answers(.simulate(.cancel), id: 2)
        #expect(answers() == [.failure(Failure(.userCancel))])
        machine.answers(change("5678"), id: 3)
        type("0000", machine)
        #expect(machine.simulated.service.authority.state.passcodeFailures == 2, "a new evaluation counts it again")
    }

    @Test func promptDuringADelayContinuesAfterIt_LA30() throws {
        let machine = try machine()
        machine.answers(change("5678"))
        for wrong in ["0000", "0001", "0002"] { type(wrong, machine) }
        let answers = machine.answers(change("5678"), id: 2)
        type("1234", machine)
        #expect(machine.world.transcript.last?.contains("entry in 5 s") == true)
        machine.answers(.simulate(.advance(seconds: 4)), id: 3)
        #expect(answers().isEmpty)
        machine.answers(.simulate(.advance(seconds: 1)), id: 4)
        #expect(answers() == [.done], "the scripted passcode is entered then")
    }

    @Test func delayLongerThanThePromptEndsWithPasscodeDelayed_LA30() throws {
        let machine = try machine()
        machine.answers(change("5678"))
        for wrong in ["0000", "0001", "0002"] { type(wrong, machine) }
        machine.answers(.simulate(.advance(seconds: 5)), id: 2)
        let answers = machine.answers(change("5678"), id: 3)
        type("0003", machine)
        machine.answers(.simulate(.advance(seconds: 59)), id: 4)
        #expect(answers().isEmpty, "the fourth wrong passcode delays for a minute")
        machine.answers(.simulate(.cancel), id: 5)
        let later = machine.answers(change("5678"), id: 6)
        machine.answers(.simulate(.advance(seconds: 1)), id: 7)
        type("0004", machine)
        machine.answers(.simulate(.advance(seconds: 300)), id: 8)
        #expect(later().isEmpty, "the fifth wrong passcode delays for 5 minutes, which the prompt survives")
        type("0005", machine)
        machine.answers(.simulate(.advance(seconds: 60)), id: 9)
        #expect(later() == [.failure(Failure(.passcodeDelayed))], "the sixth wrong passcode delays for an hour")
    }

    @Test func secondRequestToSetTheFirstPasscodeIsRefused() throws {
        let work = HeldWorkQueue()
        let machine = try InterruptedService(work: work)
        let answers = [machine.answers(set("first"), id: 1), machine.answers(set("second"), id: 2)]
        work.run()
        #expect(answers.map { $0() } == [[.done], [.failure(Failure(.notPermitted))]])
        #expect(try machine.simulated.keychain.unlock(SecretBytes("first".utf8)))
    }

    /// Creates a machine without a sensor, on which a passcode is entered and `meanwhile` runs while it is verified.
    private func typing(
        _ passcode: String, meanwhile: @escaping @Sendable (any RequestHandler) -> Void
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

    @Test func wrongPasscodeCountsAlthoughItsPromptIsCancelled_LA30() throws {
        let machine = try typing("wrong") { $0.cancel(1) }
        #expect(machine.simulated.service.authority.state.passcodeFailures == 1)
    }

    @Test func passcodeVerifiedDuringALockLeavesNoKey() throws {
        let machine = try typing("1234") { InterruptedService.answers($0, .simulate(.lock), id: 2) }
        #expect(machine.simulated.keychain.tree.lockState.isLocked)
        #expect(!machine.simulated.keychain.tree.holdsPasscodeKey)
    }

    @Test func passcodeAfterTheEndOfItsEvaluationIsNotStored() throws {
        let prompter = LatePrompter()
        let simulated = try SimulatedService(WorldState(sensor: .none)) { parts, _ in parts.prompter = prompter }
        let session = simulated.session()
        InterruptedService.answers(session, set("1234"))
        let evaluation = InterruptedService.evaluation(try session.context(), .deviceOwnerAuthentication)
        let answers = InterruptedService.answers(session, evaluation, id: 2)
        session.cancel(2)
        #expect(answers() == [.failure(Failure(.appCancel))])
        var passcode: SecretBytes? = SecretBytes("1234".utf8)
        weak let kept = passcode
        prompter.send(.passcode(try #require(passcode)))
        passcode = nil
        #expect(kept == nil)
    }

    @Test func passcodeIsNotVerifiedForAnEndedPrompt() throws {
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

/// A prompter that can send events after its prompt was dismissed.
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
