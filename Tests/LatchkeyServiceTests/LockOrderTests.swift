// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SystemDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// Locking and unlocking while a prompt is dismissed, which may take seconds on a terminal.
@Suite struct LockOrderTests {
    private let machine: InterruptedService
    private var session: any RequestHandler { machine.session }
    private var world: SimulatedWorld { machine.world }
    private let asks = [Reply.failure(Failure(.notInteractive))]

    init() throws {
        machine = try InterruptedService(work: ImmediateWorkQueue())
        #expect(machine.answers(.setPasscode("1234"))() == [.done])
    }

    @Test(.promise("abuse.12")) func lockRevokesAProofObtainedWhileThePromptIsDismissed_abuse12() throws {
        let context = try machine.context()
        machine.whilePromptGoes.set { [session] in InterruptedService.answers(session, .simulate(.lock), id: 2) }
        world.perform(.touch(matching: true))
        machine.answers(InterruptedService.evaluation(context, .deviceOwnerAuthenticationWithBiometrics))
        #expect(machine.answers(.simulate(.unlock(byBiometry: false)))() == [.done])
        let again = InterruptedService.evaluation(context, .deviceOwnerAuthenticationWithBiometrics, mayAsk: false)
        #expect(machine.answers(again)() == asks)
    }

    @Test func lockAfterAnUnlockLeavesTheKeychainLocked_KC14() throws {
        let context = try machine.context()
        machine.whilePromptGoes.set { [session] in
            InterruptedService.answers(session, .simulate(.unlock(byBiometry: false)), id: 2)
            InterruptedService.answers(session, .simulate(.lock), id: 3)
        }
        world.perform(.touch(matching: true))
        machine.answers(InterruptedService.evaluation(context, .deviceOwnerAuthenticationWithBiometrics))
        #expect(machine.simulated.service.authority.state.isLocked)
        #expect(machine.simulated.keychain.tree.lockState.isLocked)
    }

    @Test func keychainIsUnlockedWhenAnUnlockIsAnswered() {
        #expect(machine.answers(.lock)() == [.done])
        let tree = machine.simulated.keychain.tree
        let seen = Recorder<Bool>()
        world.perform(.touch(matching: true))
        session.handle(1, .unlock(Prompting())) { reply in
            seen.add(reply == .done && !tree.lockState.isLocked)
        }
        #expect(seen.all == [true])
    }

    @Test func unlockFailsIfTheSensorWasRemovedMeanwhile() {
        #expect(machine.answers(.lock)() == [.done])
        machine.whilePromptGoes.set { [session] in
            InterruptedService.answers(session, .simulate(.sensor(.none)), id: 2)
        }
        world.perform(.touch(matching: true))
        let answers = machine.answers(.unlock(Prompting()))
        #expect(answers() == [.failure(Failure(.authenticationFailed))])
        #expect(machine.simulated.keychain.tree.lockState.isLocked)
    }

    @Test func lockDuringAnUnlockTakesPrecedence() {
        #expect(machine.answers(.lock)() == [.done])
        machine.whilePromptGoes.set { [session] in InterruptedService.answers(session, .lock, id: 2) }
        world.perform(.touch(matching: true))
        let answers = machine.answers(.unlock(Prompting()))
        #expect(answers() == [.failure(Failure(.systemCancel))])
        #expect(machine.simulated.service.authority.state.isLocked)
        #expect(machine.simulated.keychain.tree.lockState.isLocked)
    }
}
