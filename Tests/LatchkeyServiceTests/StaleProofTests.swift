// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SoftwareEnclaveDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// A proof that is revoked while a request shows a prompt for further proofs is not accepted afterwards.
@Suite struct StaleProofTests {
    private let session: any RequestHandler
    private let world: SimulatedWorld
    private let context: ContextHandle

    init() throws {
        let simulated = try SimulatedService { parts, world in
            parts.sessions = world
            parts.keyModule = SoftwareEnclave(clock: parts.clock, random: parts.random)
        }
        world = simulated.world
        session = simulated.handler()
        context = try session.context()
        #expect(InterruptedService.answers(session, .setPasscode("1234"))() == [.done])
    }

    /// As after a real restart, proofs of the earlier boot are void, also on a connection that is still open.
    @Test func noProofOfAContextOutlivesASimulatedRestart() throws {
        world.perform(.touch(matching: true))
        func evaluate(mayAsk: Bool) -> () -> [Reply] {
            var prompting = Prompting(reason: "test")
            prompting.interactionAllowed = mayAsk
            return InterruptedService.answers(
                session,
                .evaluate(
                    Request.Evaluate(context: context, policy: .deviceOwnerAuthentication, prompting: prompting)))
        }
        #expect(evaluate(mayAsk: true)() == [.proven([.biometry])])
        #expect(evaluate(mayAsk: false)() == [.proven([.biometry])], "the context has the proof")
        #expect(InterruptedService.answers(session, .simulate(.restart))() == [.done])
        guard case .failure(let failure)? = evaluate(mayAsk: false)().first else {
            Issue.record("the proof is accepted in the next boot")
            return
        }
        #expect(failure.status == .notInteractive)
    }

    private let bound = AccessControl(
        accessibility: .whenPasscodeSetThisDeviceOnly, constraints: [.biometryAny, .privateKeyUsage])

    /// Adds a proof by biometry to the context while the key derived from the passcode is not in memory, so that the
    /// request also requires the passcode; then replaces the finger while that prompt is shown.
    private func exchangingTheFinger(_ request: Request) -> () -> [Reply] {
        #expect(InterruptedService.answers(session, .simulate(.lock))() == [.done])
        #expect(InterruptedService.answers(session, .simulate(.unlock(byBiometry: true)))() == [.done])
        world.perform(.touch(matching: true))
        let proven = InterruptedService.answers(
            session,
            .evaluate(
                Request.Evaluate(
                    context: context, policy: .deviceOwnerAuthenticationWithBiometrics,
                    prompting: Prompting(reason: "test"))))
        #expect(proven() == [.proven([.biometry])])
        let answers = InterruptedService.answers(session, request)
        #expect(answers().isEmpty, "the passcode is requested")
        #expect(InterruptedService.answers(session, .simulate(.replaceFinger))() == [.done])
        world.perform(.passcode(SecretBytes("1234".utf8)))
        return answers
    }

    @Test(.promise("abuse.32")) func keyIsNotUsedWithAProofOfAnEarlierEnrolmentSet_abuse32() throws {
        let made = InterruptedService.answers(
            session,
            .createEnclaveKey(
                Request.CreateEnclaveKey(
                    attributes: [:], accessControl: bound, isPermanent: true, authentication: Authentication())))
        guard case .enclaveKey(let key)? = made().first else { throw Failure(.internalFailure) }
        let use = Request.UseEnclaveKey(
            name: key.name, operation: .sign(digest: [UInt8](repeating: 1, count: 32)),
            authentication: Authentication(context: context))
        let answers = exchangingTheFinger(.useEnclaveKey(use))
        #expect(answers().isEmpty, "the new finger is requested")
        world.perform(.touch(matching: true))
        guard case .enclaveResult? = answers().first else {
            Issue.record("the new finger was not accepted: \(answers())")
            return
        }
    }

    @Test(.promise("abuse.32")) func itemIsNotUpdatedWithAProofOfAnEarlierEnrolmentSet_abuse32() {
        let rule = AccessControl(accessibility: bound.accessibility, constraints: .biometryAny)
        let item = Request.AddItem(
            attributes: [.account: .text("account")], accessControl: rule, secret: SecretBytes("secret".utf8))
        #expect(InterruptedService.answers(session, .addItem(item))() == [.done])
        let change = Request.UpdateItems(
            changes: [.label: .text("new")], authentication: Authentication(context: context))
        let answers = exchangingTheFinger(.updateItems(change))
        #expect(answers().isEmpty, "the new finger is requested")
        world.perform(.touch(matching: true))
        #expect(answers() == [.done])
    }
}
