// SPDX-License-Identifier: Apache-2.0

import Dispatch
import RelyingPartyCrypto
import ServerTestSupport
import SignInVerification
import Synchronization
import Testing

@testable import RelyingParty

/// What passkeys approve within sessions, their counters, and the kinds of sessions.
struct PasskeyActTests {
    private static func refused(_ reason: RefusalReason) -> RelyingPartyError { .refused(reason) }

    private static func prepared(
        _ backend: Backend = .sqlite, counter: UInt32 = 0
    ) throws -> (fixture: Fixture, passkey: TestPasskey) {
        let (fixture, passkey) = (try Fixture(backend, policy: Fixture.passkeys), try TestPasskey(counter: counter))
        try fixture.register(passkey)
        return (fixture, passkey)
    }

    // MARK: - Kinds of sessions

    @Test(arguments: Backend.all) func aSessionOfABrowserIsNeverOneOfAProgram(backend: Backend) throws {
        let (fixture, passkey) = try Self.prepared(backend)
        let (service, browser, program) = (
            fixture.service, try fixture.signIn(passkey, in: .browser), try fixture.signIn(passkey)
        )
        #expect(throws: Self.refused(.unknownSession)) { try service.session(browser) }
        #expect(throws: Self.refused(.unknownSession)) { try service.browserSession(program) }
        #expect(try service.browserSession(browser).user == "ada" && service.session(program).user == "ada")
        let act = { try fixture.proof(passkey, "ada", .stepUp, context: "pay") }
        #expect(throws: Self.refused(.unknownSession)) { try service.stepUp(browser, context: "pay", act()) }
        #expect(throws: Self.refused(.unknownSession)) {
            try service.stepUp(program, context: "pay", act(), in: .browser)
        }
        #expect(try service.stepUp(browser, context: "pay", act(), in: .browser).session.user == "ada")
        try service.endSession(browser)
        try service.endSession(program, of: .browser)
        #expect(try service.browserSession(browser).user == "ada" && service.session(program).user == "ada")
        try service.endSession(browser, of: .browser)
        #expect(throws: Self.refused(.unknownSession)) { try service.browserSession(browser) }
        // Keys that are no passkeys open sessions of programs only.
        let key = try TestKey()
        try fixture.register(key)
        let token = try service.signIn(fixture.proof(key)).token
        #expect(throws: Self.refused(.unknownSession)) { try service.browserSession(token) }
    }

    // MARK: - Forms of proofs

    @Test(arguments: Backend.all) func aPasskeyApprovesAndRevokes(backend: Backend) throws {
        let (fixture, passkey) = try Self.prepared(backend)
        let service = fixture.service
        let token = try fixture.signIn(passkey)
        let proof = try fixture.proof(passkey, "ada", .stepUp, context: "pay 20 EUR")
        #expect(throws: Self.refused(.otherBinding)) { try service.stepUp(token, context: "pay 200 EUR", proof) }
        #expect(try service.stepUp(token, context: "pay 20 EUR", proof).session.user == "ada")
        #expect(throws: Self.refused(.replayed)) { try service.stepUp(token, context: "pay 20 EUR", proof) }
        // The credential that the response names has to be the one of the key.
        let assertion = try #require(fixture.proof(passkey, "ada", .stepUp, context: "pay 20 EUR").assertion)
        let other = try assertion.with(credential: [UInt8](repeating: 7, count: 32), userHandle: nil)
        #expect(throws: Self.refused(.otherCredential)) {
            try service.stepUp(
                token, context: "pay 20 EUR", SignedProof(user: "ada", key: proof.key, assertion: other))
        }
        let revocation = try fixture.proof(passkey, "ada", .revoke, context: "user")
        #expect(try service.revoke(.user, context: "user", revocation) == 1)
        #expect(throws: Self.refused(.unknownSession)) { try service.session(token) }
    }

    @Test func theFormOfTheKeyDecidesWhichProofIsDemanded() throws {
        let (fixture, passkey) = try Self.prepared()
        let (service, bound, raw) = (fixture.service, try TestKey(), try TestKey())
        try fixture.register(bound)
        try fixture.register(raw, isRaw: true)
        // The key of the passkey signs what bound and raw keys sign.
        for isRaw in [false, true] {
            #expect(throws: Self.refused(.otherForm)) { try service.signIn(fixture.proof(passkey.key, isRaw: isRaw)) }
            let proof = try fixture.proof(passkey.key, "ada", .revoke, context: "user", isRaw: isRaw)
            #expect(throws: Self.refused(.otherForm)) { try service.revoke(.user, context: "user", proof) }
        }
        // Keys of other forms sign an assertion.
        for key in [bound, raw] {
            let challenge = try service.challenge(
                user: "ada", key: key.publicKey.identifier, purpose: .revoke, context: "user")
            let proof = SignedProof(
                user: "ada", key: try key.publicKey.identifier, assertion: try passkey.sign(challenge, by: key))
            #expect(throws: Self.refused(.otherForm)) { try service.revoke(.user, context: "user", proof) }
        }
        // A passkey signs in by a challenge that names no key, and is not rotated.
        #expect(throws: Self.refused(.otherForm)) { try service.signIn(fixture.proof(passkey, "ada", .login)) }
        let new = try TestKey()
        let context = RelyingPartyService.rotationContext(try new.publicKey, .user)
        let proof = try fixture.proof(passkey, "ada", .rotate, context: context)
        let signature = new.sign(service.message(proof, .rotate, context, isRaw: false))
        #expect(throws: Self.refused(.otherForm)) {
            try service.rotate(to: new.publicKey, tier: .user, proof, signature: signature)
        }
    }

    // MARK: - Registration within a session

    private static func add(
        _ new: TestPasskey, _ fixture: Fixture, _ token: [UInt8], _ user: String = "ada", kind: SessionKind = .program,
        _ prove: (SignedProof) throws -> SessionProof
    ) throws {
        let (challenge, _) = try fixture.service.passkeyChallenge(registering: user)
        let named = SignedProof(user: user, key: try new.identifier, challenge: challenge, signature: [])
        try fixture.service.registerPasskey(
            new.registration(challenge), of: user, device: "", .session(token, of: kind, prove(named)))
    }

    @Test(arguments: Backend.all) func aBoundKeyOfASessionAddsAPasskey(backend: Backend) throws {
        let fixture = try Fixture(backend, policy: Fixture.passkeys)
        let (bound, raw, new) = (try TestKey(), try TestKey(), try TestPasskey())
        try fixture.register(bound)
        try fixture.register(raw, isRaw: true)
        let token = try fixture.service.signIn(fixture.proof(bound)).token
        let signed = { (key: TestKey, proof: SignedProof, purpose: ChallengePurpose) -> SessionProof in
            .signature(key.sign(fixture.service.message(proof, purpose, "", isRaw: false)))
        }
        #expect(throws: Self.refused(.wrongSignature), "the token alone is not enough") {
            try Self.add(new, fixture, token) { signed(new.key, $0, .passkeyRegister) }
        }
        #expect(throws: Self.refused(.wrongSignature), "another purpose") {
            try Self.add(new, fixture, token) { signed(bound, $0, .register) }
        }
        #expect(throws: Self.refused(.wrongSignature), "another key") {
            try Self.add(new, fixture, token) { proof in
                let other = SignedProof(
                    user: "ada", key: [UInt8](repeating: 1, count: 32), challenge: proof.challenge, signature: [])
                return signed(bound, other, .passkeyRegister)
            }
        }
        #expect(throws: Self.refused(.unknownSession), "another user") {
            try Self.add(new, fixture, token, "bob") { signed(bound, $0, .passkeyRegister) }
        }
        #expect(throws: Self.refused(.unknownSession), "another kind of session") {
            try Self.add(new, fixture, token, kind: .browser) { signed(bound, $0, .passkeyRegister) }
        }
        let weak = try fixture.service.signIn(fixture.proof(raw, isRaw: true)).token
        #expect(throws: Self.refused(.rawKey)) {
            try Self.add(new, fixture, weak) { signed(raw, $0, .passkeyRegister) }
        }
        try Self.add(new, fixture, token) { signed(bound, $0, .passkeyRegister) }
        #expect(try fixture.signIn(new).count == 32)
    }

    @Test(arguments: Backend.all) func aPasskeyOfASessionAddsAnotherOneOnce(backend: Backend) throws {
        let (fixture, passkey) = try Self.prepared(backend, counter: 1)
        let (service, new, other) = (fixture.service, try TestPasskey(), try TestPasskey())
        let token = try fixture.signIn(passkey, in: .browser)
        func assertion(naming key: [UInt8], by signer: TestPasskey) throws -> SessionProof {
            let challenge = try service.challenge(
                user: "ada", key: passkey.identifier, purpose: .register,
                context: "key:" + StrictBase64.url.encode(key))
            return .assertion(try signer.sign(challenge))
        }
        func add(_ prove: (SignedProof) throws -> SessionProof) throws {
            try Self.add(new, fixture, token, kind: .browser, prove)
        }
        #expect(throws: Self.refused(.otherBinding), "an assertion that names another key") {
            try add { _ in try assertion(naming: other.identifier, by: passkey) }
        }
        #expect(throws: Self.refused(.wrongSignature), "an assertion of the new key") {
            try add { try assertion(naming: $0.key, by: new) }
        }
        #expect(throws: Self.refused(.otherForm)) {
            try add { .signature(passkey.key.sign(service.message($0, .passkeyRegister, "", isRaw: false))) }
        }
        #expect(throws: Self.refused(.otherBinding), "an assertion of a step-up") {
            try add { proof in
                let act = try fixture.proof(
                    passkey, "ada", .stepUp, context: "key:" + StrictBase64.url.encode(proof.key))
                return .assertion(try #require(act.assertion))
            }
        }
        let used = try assertion(naming: new.identifier, by: passkey)
        try add { _ in used }
        #expect(try fixture.signIn(new).count == 32)
        // The registration reported 1, the sign-in 2, two refused assertions 3 and 4.
        #expect(try fixture.service.storage.keyOrDecoy(passkey.identifier).counter == 5)
        // The challenge of the assertion is spent as well.
        #expect(throws: Self.refused(.replayed)) { try add { _ in used } }
    }

    // MARK: - Counters

    @Test func anAuthenticatorThatReports0DoesNotCount() throws {
        let (fixture, passkey) = try Self.prepared()
        for _ in 0..<3 { _ = try fixture.signIn(passkey) }
        #expect(try fixture.service.storage.keyOrDecoy(passkey.identifier).counter == nil)
        // It may begin to count, and not end.
        passkey.counter = 5
        _ = try fixture.signIn(passkey)
        passkey.counter = 0
        #expect(throws: Self.refused(.counterLate)) { try fixture.signIn(passkey) }
        passkey.counter = 20
        _ = try fixture.signIn(passkey)
        passkey.counter = 0
        #expect(throws: Self.refused(.counterRegressed)) { try fixture.signIn(passkey) }
        #expect(throws: Self.refused(.frozenKey)) { try fixture.signIn(passkey) }
    }

    @Test(arguments: [30, 13, 1] as [UInt32]) func aRepeatedCounterAndALargeStepBackFreezeThePasskey(
        _ next: UInt32
    ) throws {
        // The registration reports 7.
        let (fixture, passkey) = try Self.prepared(counter: 7)
        let id = try passkey.identifier
        #expect(try fixture.service.storage.keyOrDecoy(id).counter == 7)
        passkey.counter = 30
        let tokens = try (fixture.signIn(passkey), passkey.sign(fixture.service.passkeyChallenge()))
        passkey.counter = next
        #expect(throws: Self.refused(.counterRegressed)) { try fixture.signIn(passkey, in: .browser) }
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(tokens.0) }
        #expect(throws: Self.refused(.frozenKey)) { try fixture.service.signIn(tokens.1) }
        #expect(throws: Self.refused(.frozenKey)) {
            try fixture.service.revoke(
                .user, context: "user", fixture.proof(passkey, "ada", .revoke, context: "user"))
        }
        #expect(try fixture.service.unfreeze(id, of: "ada"))
        _ = try fixture.signIn(passkey)
        #expect(try fixture.service.verifyAudit().firstWrong == nil)
    }

    @Test(arguments: [29, 14] as [UInt32]) func anAssertionThatArrivesLateFreezesNothing(_ late: UInt32) throws {
        let (fixture, passkey) = try Self.prepared(counter: 7)
        passkey.counter = late
        let waiting = try passkey.sign(fixture.service.passkeyChallenge())
        passkey.counter = 30
        let token = try fixture.signIn(passkey)
        #expect(throws: Self.refused(.counterLate)) { try fixture.service.signIn(waiting) }
        #expect(try fixture.service.session(token).user == "ada")
        _ = try fixture.signIn(passkey)
    }

    @Test func stepUpsRevocationsAndAdditionsCountAsWell() throws {
        for act in 0..<3 {
            let (fixture, passkey) = try Self.prepared(counter: 1)
            let token = try fixture.signIn(passkey)
            let new = try TestPasskey()
            passkey.counter = 2
            let before = try fixture.count("keys")
            #expect(throws: Self.refused(.counterRegressed), "act \(act)") {
                switch act {
                case 0:
                    _ = try fixture.service.stepUp(
                        token, context: "pay", fixture.proof(passkey, "ada", .stepUp, context: "pay"))
                case 1:
                    _ = try fixture.service.revoke(
                        .user, context: "user", fixture.proof(passkey, "ada", .revoke, context: "user"))
                default:
                    try Self.add(new, fixture, token) { proof in
                        let challenge = try fixture.service.challenge(
                            user: "ada", key: passkey.identifier, purpose: .register,
                            context: "key:" + StrictBase64.url.encode(proof.key))
                        return .assertion(try passkey.sign(challenge))
                    }
                }
            }
            let record = try fixture.service.storage.keyOrDecoy(passkey.identifier)
            #expect(record.isFrozen && !record.isRevoked)
            #expect(try fixture.count("keys") == before && fixture.count("sessions") == 0)
            #expect(try fixture.service.storage.read("SELECT 1 FROM audit WHERE event = 'freeze'", []).count == 1)
        }
    }

    @Test(arguments: Backend.all) func ofUsesAtOnceWithOneCounterOneSucceeds(backend: Backend) throws {
        let (fixture, passkey) = try Self.prepared(backend, counter: 1)
        try fixture.giveRole(passkey)
        let responses = try (0..<20).map { _ in
            passkey.counter = 5
            return try passkey.sign(fixture.service.passkeyChallenge())
        }
        let outcomes = Mutex<(successes: Int, refusals: Int)>((0, 0))
        DispatchQueue.concurrentPerform(iterations: responses.count) { index in
            do throws(RelyingPartyError) {
                _ = try fixture.service.signInAdministrator(responses[index])
                outcomes.withLock { $0.successes += 1 }
            } catch {
                if [.refused(.counterRegressed), .refused(.frozenKey)].contains(error) {
                    outcomes.withLock { $0.refusals += 1 }
                }
            }
        }
        #expect(outcomes.withLock { $0 } == (1, 19))
        #expect(try fixture.count("sessions") == 0, "the sessions of a frozen key end")
    }
}
