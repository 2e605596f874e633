// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SystemDriver
import Testing

@testable import LatchkeyService

/// Removing the passcode revokes its proofs, and is refused while the keychain is locked.
@Suite struct PasscodeRemovalTests {
    private let machine: InterruptedService
    private var session: any RequestHandler { machine.session }
    private var world: SimulatedWorld { machine.world }

    init() throws {
        machine = try InterruptedService(work: ImmediateWorkQueue())
        #expect(machine.answers(.passcode(.set(SecretBytes("1234".utf8))))() == [.done])
    }

    @Test func removedPasscodeIsNotAProofForAWaitingEvaluation() throws {
        let context = try machine.context()
        #expect(machine.answers(.simulate(.sensor(.none)))() == [.done])
        machine.answers(.passcode(.remove), id: 2)
        machine.answers(InterruptedService.evaluation(context, .deviceOwnerAuthentication))
        // The passcode completes the removal; the evaluation that waits behind it must not accept it.
        world.perform(.passcode(SecretBytes("1234".utf8)))
        machine.answers(.simulate(.reset), id: 3)
        #expect(machine.answers(.passcode(.set(SecretBytes("5678".utf8))))() == [.done])
        let again = InterruptedService.evaluation(context, .deviceOwnerAuthentication, mayAsk: false)
        #expect(machine.answers(again)() == [.failure(Failure(.notInteractive))])
    }

    @Test func passcodeCannotBeRemovedWhileTheKeychainIsLocked() {
        #expect(machine.answers(.lock)() == [.done])
        let answers = machine.answers(.passcode(.remove))
        #expect(answers() == [.failure(Failure(.interactionNotAllowed))])
        #expect(machine.simulated.service.authority.state.isPasscodeSet)
    }
}
