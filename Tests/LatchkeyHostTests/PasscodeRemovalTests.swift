// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import SystemDriver
import Testing

@testable import LatchkeyService

/// What removing the passcode takes along, and what it must not leave behind.
@Suite struct PasscodeRemovalTests {
    private let machine: InterruptedService
    private var session: Session { machine.session }
    private var world: SimulatedWorld { machine.world }

    init() throws {
        machine = try InterruptedService(work: ImmediateWorkQueue())
        #expect(machine.answers(.passcode(.set(SecretBytes("1234".utf8))))() == [.done])
    }

    @Test func aPasscodeThatIsRemovedProvesNothingWhileItsPromptGoes() throws {
        let context = try machine.context()
        machine.whilePromptGoes.set { [session] in
            InterruptedService.answers(session, .passcode(.remove(SecretBytes("1234".utf8))), id: 2)
        }
        #expect(machine.answers(.simulate(.sensor(.none)))() == [.done])
        world.perform(.passcode(SecretBytes("1234".utf8)))
        machine.answers(InterruptedService.evaluation(context, .deviceOwnerAuthentication))
        #expect(machine.answers(.passcode(.set(SecretBytes("5678".utf8))))() == [.done])
        let again = InterruptedService.evaluation(context, .deviceOwnerAuthentication, mayAsk: false)
        #expect(machine.answers(again)() == [.failure(Failure(.notInteractive))])
    }

    @Test func aPasscodeIsNotRemovedWhileItAloneCanUnlock() {
        #expect(machine.answers(.lock)() == [.done])
        let answers = machine.answers(.passcode(.remove(SecretBytes("1234".utf8))))
        #expect(answers() == [.failure(Failure(.interactionNotAllowed))])
        #expect(machine.simulated.service.authenticator.state.isPasscodeSet)
    }
}
