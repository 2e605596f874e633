// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import SeamStandIns
import SimulatedDriver
import SoftwareEnclaveDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// The device is identified to a relying party only after its owner agreed, and its keys are attested only for the
/// program and the relying party of the enrolment.
@Suite struct AttestationTests {
    private let machine: SimulatedService
    private let module: AttestingKeyModule
    private let prompts: CollectingPrompter
    private let handler: ScriptedRequestHandler
    private var world: SimulatedWorld { machine.world }
    private let nonce = [UInt8](repeating: 9, count: 32)

    init() throws {
        var parts: (module: AttestingKeyModule, prompts: CollectingPrompter)?
        machine = try SimulatedService { service, _ in
            let module = AttestingKeyModule(SoftwareEnclave(clock: service.clock, random: service.random))
            let prompts = CollectingPrompter(service.prompter)
            parts = (module, prompts)
            (service.keyModule, service.prompter) = (module, prompts)
        }
        (module, prompts) = try #require(parts)
        handler = machine.handler()
        #expect(replies(.setPasscode("1234")) == [.done])
    }

    /// The replies to a request after the user has acted.
    private func replies(
        _ request: Request, _ actions: [SimulatedWorld.Action] = [], of handler: ScriptedRequestHandler? = nil
    ) -> [Reply] {
        let replies = InterruptedService.answers(handler ?? self.handler, request)
        for action in actions { world.perform(action) }
        return replies()
    }

    private func enrolment(_ party: String) -> Request { .beginEnrolment(Request.BeginEnrolment(party: party)) }

    /// Enrols the device; returns the attestation key.
    private func enroll(_ party: String = "example.com") throws -> [UInt8] {
        let replies = replies(enrolment(party), [.touch(matching: true)])
        guard case .enrolment(let made)? = replies.first else { throw Failure(.internalFailure, "\(replies)") }
        return made.attestationKey
    }

    private func makeKey(
        _ constraints: AccessConstraints = .privateKeyUsage, isPermanent: Bool = true
    ) throws -> EnclaveKeyName {
        let create = Request.CreateEnclaveKey(
            attributes: [:], accessControl: AccessControl(accessibility: .whenUnlocked, constraints: constraints),
            isPermanent: isPermanent, authentication: Authentication())
        guard case .enclaveKey(let key)? = replies(.createEnclaveKey(create)).first else {
            throw Failure(.internalFailure)
        }
        return key.name
    }

    private func proof(
        _ key: EnclaveKeyName, _ attestationKey: [UInt8], party: String = "example.com", nonce: [UInt8]? = nil
    ) -> Request {
        .proveKey(
            Request.ProveKey(
                name: key, party: party, attestationKey: attestationKey, nonce: nonce ?? self.nonce,
                authentication: Authentication()))
    }

    private func answer(_ attestationKey: [UInt8], party: String = "example.com") -> Request {
        .answerEnrolment(
            Request.AnswerEnrolment(party: party, attestationKey: attestationKey, challenge: [7]))
    }

    private func isRefused(_ replies: [Reply], _ status: Status) -> Bool {
        if case .failure(let failure)? = replies.first { replies.count == 1 && failure.status == status } else { false }
    }

    // MARK: - The agreement of the person

    @Test func thePromptNamesTheProgramAndTheRelyingParty() throws {
        _ = try enroll("bank.example.com")
        let prompt = try #require(prompts.shown.last)
        #expect(prompt.purpose == .identifyDevice && prompt.reason == "bank.example.com" && prompt.caller == "app")
    }

    @Test(.promise("proof.consent"), arguments: [[SimulatedWorld.Action.cancel], [.touch(matching: false), .cancel]])
    func decliningSendsNothingThatIdentifiesTheDevice(_ actions: [SimulatedWorld.Action]) {
        let replies = replies(enrolment("example.com"), actions)
        #expect(isRefused(replies, .userCancel))
        // The module would have to be asked for the endorsement key first.
        #expect(module.calls.isEmpty)
        for reply in replies {
            let bytes = Message.reply(id: 1, reply).encoded().copyBytes()
            #expect(!bytes.contains(AttestingKeyModule.request))
        }
    }

    @Test func aRequestThatMayNotPromptIsRefusedAndNotRecorded() throws {
        let request = Request.BeginEnrolment(party: "example.com", interactionAllowed: false)
        #expect(isRefused(replies(.beginEnrolment(request)), .notInteractive))
        #expect(module.calls.isEmpty && prompts.shown.isEmpty)
        #expect(try refusals() == 0, "no person has refused anything")
        #expect(isRefused(replies(enrolment("example.com"), [.cancel]), .userCancel))
        #expect(try refusals() == 1)
    }

    private func refusals() throws -> Int {
        try machine.keychain.log(Request.Log(after: 0, limit: 100, verifies: false)).lines.count {
            $0.event == .refused
        }
    }

    @Test func aLockWhileThePromptIsShownEndsTheEnrolment() {
        let context = Recorder<Reply>()
        handler.handle(2, enrolment("example.com")) { context.add($0) }
        #expect(replies(.lock) == [.done])
        world.perform(.touch(matching: true))
        #expect(isRefused(context.all, .systemCancel))
        #expect(module.calls.isEmpty)
    }

    /// A machine whose operations of keys wait until the test runs them.
    private func slowMachine(
        _ queue: HeldWorkQueue
    ) throws -> (SimulatedService, AttestingKeyModule, ScriptedRequestHandler) {
        var made: AttestingKeyModule?
        let machine = try SimulatedService { parts, _ in
            let module = AttestingKeyModule(
                SoftwareEnclave(clock: parts.clock, random: parts.random), isImmediate: false)
            (made, parts.keyModule, parts.keyWork) = (module, module, queue)
        }
        let handler = machine.handler()
        #expect(replies(.setPasscode("1234"), of: handler) == [.done])
        return (machine, try #require(made), handler)
    }

    /// The person has agreed, and the module has not been asked yet.
    @Test func aLockBeforeTheKeyIsMadeEndsTheEnrolment() throws {
        let queue = HeldWorkQueue()
        let (machine, module, handler) = try slowMachine(queue)
        let begun = Recorder<Reply>()
        handler.handle(2, enrolment("example.com")) { begun.add($0) }
        machine.world.perform(.touch(matching: true))
        #expect(begun.all.isEmpty)
        #expect(replies(.lock, of: handler) == [.done])
        queue.run()
        #expect(isRefused(begun.all, .systemCancel))
        #expect(module.calls.isEmpty)
    }

    @Test(.promise("proof.consent")) func withoutAPasscodeNothingShowsThatAPersonAgreed() throws {
        #expect(replies(.passcode(.remove), [.passcode(SecretBytes("1234".utf8))]) == [.done])
        let shown = prompts.shown.count
        #expect(isRefused(replies(enrolment("example.com"), [.touch(matching: true)]), .passcodeNotSet))
        #expect(module.calls.isEmpty && prompts.shown.count == shown)
    }

    @Test(arguments: [
        "", "a b", "example.com\n", "ex\u{430}mple.com", "“x”", "e\u{301}x", String(repeating: "a", count: 101),
    ]) func aNameThatCouldBeTakenForAnotherIsRefused(_ name: String) {
        #expect(isRefused(replies(enrolment(name), [.touch(matching: true)]), .invalidParameter))
        #expect(module.calls.isEmpty && prompts.shown.isEmpty)
    }

    // MARK: - Attestation keys

    @Test func aProofIsMadeForTheProgramThatEnrolled() throws {
        let (attestationKey, key) = (try enroll(), try makeKey())
        #expect(replies(answer(attestationKey)) == [.attestationMessage([4, 4, 4, 7])])
        #expect(replies(proof(key, attestationKey)) == [.attestationMessage([4, 4, 4] + nonce)])
        #expect(replies(proof(try makeKey(isPermanent: false), attestationKey)).count == 1)
        #expect(module.calls == [.newAttestationKey, .answer, .attest, .attest])
    }

    @Test func oneChallengeIsAnsweredAtATime() throws {
        let queue = HeldWorkQueue()
        let (machine, module, handler) = try slowMachine(queue)
        let sent = Recorder<Reply>()
        func send(_ request: Request, _ id: UInt64) {
            handler.handle(id, request) { sent.add($0) }
        }
        send(enrolment("example.com"), 2)
        machine.world.perform(.touch(matching: true))
        queue.run()
        guard case .enrolment(let made)? = sent.all.first else { throw Failure(.internalFailure) }
        send(answer(made.attestationKey), 3)
        #expect(isRefused(replies(answer(made.attestationKey), of: handler), .limitExceeded))
        queue.run()
        send(answer(made.attestationKey), 4)
        queue.run()
        #expect(sent.all.count == 3)
        #expect(module.calls == [.newAttestationKey, .answer, .answer])
    }

    @Test(.promise("proof.attestation-key")) func theAttestationKeyOfAnotherProgramIsRefused() throws {
        let (attestationKey, key) = (try enroll(), try makeKey())
        let other = machine.handler(Request.Hello(application: "other"))
        #expect(isRefused(replies(answer(attestationKey), of: other), .invalidParameter))
        #expect(isRefused(replies(proof(key, attestationKey), of: other), .invalidParameter))
        #expect(module.calls == [.newAttestationKey])
    }

    @Test(.promise("proof.attestation-key")) func theKeyOfAnotherProgramIsNotAttested() throws {
        let (stored, detached) = (try makeKey(), try makeKey(isPermanent: false))
        let other = machine.handler(Request.Hello(application: "other"))
        let begun = Recorder<Reply>()
        other.handle(1, enrolment("example.com")) { begun.add($0) }
        world.perform(.touch(matching: true))
        guard case .enrolment(let made)? = begun.all.first else { throw Failure(.internalFailure) }
        #expect(isRefused(replies(proof(stored, made.attestationKey), of: other), .itemNotFound))
        #expect(isRefused(replies(proof(detached, made.attestationKey), of: other), .invalidParameter))
        #expect(module.calls == [.newAttestationKey])
    }

    @Test(.promise("proof.attestation-key")) func theAttestationKeyOfOneRelyingPartyIsNotUsedForAnother() throws {
        let (attestationKey, key) = (try enroll("a.example"), try makeKey())
        #expect(isRefused(replies(answer(attestationKey, party: "b.example")), .invalidParameter))
        #expect(isRefused(replies(proof(key, attestationKey, party: "b.example")), .invalidParameter))
        #expect(module.calls == [.newAttestationKey])
    }

    @Test(.promise("proof.attestation-key")) func changedAttestationKeysAreRefused() throws {
        let (attestationKey, key) = (try enroll(), try makeKey())
        for index in attestationKey.indices {
            var changed = attestationKey
            changed[index] ^= 1
            #expect(isRefused(replies(answer(changed)), .invalidParameter), "byte \(index)")
        }
        let large = [UInt8](repeating: 1, count: Limits.detachedKeyBytes)
        for wrong in [[], Array(attestationKey.dropLast()), attestationKey + [0], large] {
            #expect(isRefused(replies(proof(key, wrong)), .invalidParameter))
        }
        #expect(module.calls == [.newAttestationKey])
    }

    @Test(.promise("proof.attestation-key")) func anAttestationKeyIsNoKeyOfTheEnclaveAndTheOtherWayRound() throws {
        let (attestationKey, key) = (try enroll(), try makeKey(isPermanent: false))
        guard case .detached(let sealed) = key else { throw Failure(.internalFailure) }
        #expect(isRefused(replies(proof(key, sealed)), .invalidParameter))
        #expect(isRefused(replies(proof(.detached(attestationKey), attestationKey)), .keyUsageNotAllowed))
        let use = Request.UseEnclaveKey(
            name: .detached(attestationKey), operation: .sign(digest: nonce), authentication: Authentication())
        #expect(isRefused(replies(.useEnclaveKey(use)), .keyUsageNotAllowed))
    }

    // MARK: - Keys

    @Test(arguments: [0, 15, 65]) func aNonceOfAnotherLengthIsRefused(_ count: Int) throws {
        let (attestationKey, key) = (try enroll(), try makeKey())
        let nonce = [UInt8](repeating: 1, count: count)
        #expect(isRefused(replies(proof(key, attestationKey, nonce: nonce)), .invalidParameter))
        #expect(module.calls == [.newAttestationKey])
    }

    @Test(.promise("proof.needs-use")) func aProtectedKeyNeedsTheProofOfItsUse() throws {
        let (attestationKey, key) = (try enroll(), try makeKey([.biometryAny, .privateKeyUsage]))
        #expect(isRefused(replies(proof(key, attestationKey), [.cancel]), .userCancel))
        #expect(module.calls == [.newAttestationKey])
        #expect(replies(proof(key, attestationKey), [.touch(matching: true)]).count == 1)
        #expect(prompts.shown.last?.reason.contains("example.com") == true)
        #expect(module.calls == [.newAttestationKey, .attest])
    }

    @Test func aKeyThatMayNotBeUsedIsNotAttested() throws {
        let (attestationKey, key) = (try enroll(), try makeKey([]))
        #expect(isRefused(replies(proof(key, attestationKey)), .keyUsageNotAllowed))
        #expect(module.calls == [.newAttestationKey])
    }

    @Test func enrolmentsAndProofsAreInTheAuditLog() throws {
        let (attestationKey, key) = (try enroll(), try makeKey())
        _ = replies(proof(key, attestationKey))
        guard case .log(let page)? = replies(.log(Request.Log(after: 0, limit: 100, verifies: true))).first else {
            throw Failure(.internalFailure)
        }
        #expect(page.lines.count { $0.event == .deviceIdentified && $0.caller == "app" } == 1)
        #expect(page.lines.count { $0.event == .keyAttested && $0.item.count == 16 } == 1)
        #expect(page.finding == nil)
    }

    @Test func keysOfTheSoftwareAreRefusedBeforeAPrompt() throws {
        let machine = try SimulatedService { parts, _ in
            parts.keyModule = SoftwareEnclave(clock: parts.clock, random: parts.random)
        }
        let handler = machine.handler()
        #expect(replies(.setPasscode("1234"), of: handler) == [.done])
        #expect(isRefused(replies(enrolment("example.com"), of: handler), .unimplemented))
    }
}
