// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SystemDriver
import Testing

@testable import SimulatedDriver

/// What the decorators of a simulated machine add to the service: commands of a script, its faults, and the passcode
/// that the simulation has seen.
@Suite struct ScriptedServiceTests {
    private let machine: SimulatedService
    private let handler: ScriptedRequestHandler
    private var world: SimulatedWorld { machine.world }

    init() throws {
        machine = try SimulatedService(WorldState(sensor: .none)) { parts, world in
            parts.sessions = world
            parts.prompter = ScriptedPrompter(SimulatedPrompter(world), world: world)
        }
        handler = machine.handler(Request.Hello(application: "app"))
    }

    private func call(_ request: Request) -> Reply? { InterruptedService.answers(handler, request)().last }

    private func secret(_ text: String) -> SecretBytes { SecretBytes(text.utf8) }

    /// Evaluates a policy while the passcode is typed.
    private func evaluate(typing passcode: String) throws -> Reply? {
        guard case .context(let context)? = call(.createContext) else { throw Failure(.internalFailure) }
        return world.playing([.passcode(secret(passcode)), .cancel]) {
            call(InterruptedService.evaluation(context, .deviceOwnerAuthentication))
        }
    }

    private func acceptAny() -> Reply? { call(.simulate(.acceptAnyPasscode(true))) }

    @Test func serviceItselfRefusesCommandsOfAScript() {
        let session = machine.session()
        for request in [Request.simulate(.touch(matching: true)), .simulate(.lock), .transcript] {
            #expect(InterruptedService.answers(session, request)() == [.failure(Failure(.notPermitted))])
        }
        #expect(!world.transcript.contains { $0.contains("lock") })
    }

    @Test func passcodeOfARequestIsKnownOnlyIfItWasAccepted() throws {
        #expect(call(.passcode(.set(secret("123")))) == .failure(Failure(.invalidParameter)))
        #expect(acceptAny() == .failure(Failure(.passcodeNotSet)))
        #expect(call(.passcode(.set(secret("1234")))) == .done)
        #expect(call(.passcode(.set(secret("5678")))) == .failure(Failure(.notPermitted)))
        #expect(world.passcode.known == secret("1234"))
    }

    @Test func passcodeChosenAtAPromptIsKnownWhenItIsStored() throws {
        let answers = InterruptedService.answers(handler, .passcode(.setAtPrompt))
        for _ in 1...2 { world.perform(.newPasscode(secret("abcdef"))) }
        #expect(answers() == [.done])
        #expect(world.passcode.known == secret("abcdef"))
        #expect(acceptAny() == .done)
        #expect(try evaluate(typing: "anything") == .proven([.passcode]))
    }

    @Test func changedPasscodeIsKnown() {
        #expect(call(.passcode(.set(secret("1234")))) == .done)
        let change = { [self] in call(.passcode(.change(secret("5678")))) }
        #expect(world.playing([.passcode(secret("0000")), .cancel], change) == .failure(Failure(.userCancel)))
        #expect(world.passcode.known == secret("1234"))
        #expect(world.playing([.passcode(secret("1234")), .cancel], change) == .done)
        #expect(world.passcode.known == secret("5678"))
    }

    @Test func typedPasscodeIsKnownOnlyIfItIsRight() throws {
        #expect(call(.passcode(.set(secret("1234")))) == .done)
        world.passcode.learn(nil)
        #expect(try evaluate(typing: "0000") == .failure(Failure(.userCancel)))
        #expect(world.passcode.known == nil)
        #expect(try evaluate(typing: "1234") == .proven([.passcode]))
        #expect(world.passcode.known == secret("1234"))
    }

    @Test(arguments: [Request.passcode(.remove), .discardProtected, .discardForgotten])
    func removedPasscodeIsForgotten(_ request: Request) {
        #expect(call(.passcode(.set(secret("1234")))) == .done)
        #expect(world.playing([.passcode(secret("1234")), .cancel]) { call(request) } == .done)
        #expect(world.passcode.known == nil)
    }

    @Test func unlockOfAScriptOpensThePasscodeClassWithTheKnownPasscode() {
        #expect(call(.passcode(.set(secret("1234")))) == .done)
        #expect(call(.simulate(.lock)) == .done)
        #expect(!machine.keychain.tree.holdsPasscodeKey)
        #expect(call(.simulate(.unlock(byBiometry: true))) == .done)
        #expect(!machine.keychain.tree.holdsPasscodeKey)
        #expect(call(.simulate(.unlock(byBiometry: false))) == .done)
        #expect(machine.keychain.tree.holdsPasscodeKey)
    }

    @Test func faultOfAScriptFailsOneItemRequestAndNoOther() {
        #expect(call(.simulate(.fail(.missingEntitlement))) == .done)
        #expect(call(.status) != nil && call(.createContext) != .failure(Failure(.missingEntitlement)))
        #expect(call(.deleteItems(ItemQuery(itemClass: .genericPassword))) == .failure(Failure(.missingEntitlement)))
        #expect(call(.deleteItems(ItemQuery(itemClass: .genericPassword))) == .failure(Failure(.itemNotFound)))
    }

    @Test func personWhoAlwaysAnswersSetsChangesAndRemovesAPasscode() {
        #expect(call(.simulate(.answer(.always))) == .done)
        for change in [Request.PasscodeChange.setAtPrompt, .changeAtPrompt] {
            #expect(call(.passcode(change)) == .done)
            #expect(world.passcode.known == secret("1234"))
        }
        #expect(call(.passcode(.remove)) == .done)
    }

    @Test(arguments: SimulatedAnswers.allCases) func answersOfThePersonOutliveTheProcess(
        _ answers: SimulatedAnswers
    ) throws {
        var state = WorldState(sensor: .faceID, enrolment: [1, 254])
        state.answers = answers
        #expect(try WorldState(text: state.text) == state)
        #expect(throws: Failure.self) { try WorldState(text: "answers = sometimes\n") }
    }

    @Test func problemOfTheScriptIsToldOnce() throws {
        #expect(call(.passcode(.set(secret("1234")))) == .done)
        world.perform(.fallback)
        guard case .failure(let failure)? = call(.passcode(.remove)) else {
            Issue.record("the prompt did not end")
            return
        }
        #expect(failure.status == .notInteractive && failure.message.description.contains("The script cannot go on"))
        #expect(world.takeScriptProblem() == nil)
    }
}
