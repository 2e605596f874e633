// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import RelyingPartyCrypto
import ServerTestSupport
import Synchronization
import Testing

@testable import RelyingParty

struct ServiceTests {
    private static func refused(_ reason: RefusalReason) -> RelyingPartyError { .refused(reason) }

    @Test(arguments: Backend.all, [true, false]) func aRegisteredKeySignsIn(backend: Backend, isRaw: Bool) throws {
        let fixture = try Fixture(backend)
        let key = try TestKey()
        try fixture.register(key, isRaw: isRaw)
        let (token, expiry) = try fixture.service.signIn(fixture.proof(key, isRaw: isRaw))
        #expect(expiry == fixture.now + 43200)
        let id = try key.publicKey.identifier
        let session = try fixture.service.session(token)
        #expect(session.user == "ada" && session.key == id && session.expiry == expiry && session.isRaw == isRaw)
        #expect(session.declaredTier == .user && session.attestation == .none)
        try fixture.service.endSession(token)
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(token) }
        #expect(try fixture.service.verifyAudit() == (3, nil))
    }

    @Test(arguments: Backend.all) func abuse43OneOfAHundredUsesOfAChallengeAtOnceSucceeds(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let key = try TestKey()
        try fixture.register(key)
        let proof = try fixture.proof(key)
        let outcomes = Mutex<(successes: Int, replays: Int)>((0, 0))
        DispatchQueue.concurrentPerform(iterations: 100) { _ in
            do throws(RelyingPartyError) {
                _ = try fixture.service.signIn(proof)
                outcomes.withLock { $0.successes += 1 }
            } catch {
                if error == .refused(.replayed) { outcomes.withLock { $0.replays += 1 } }
            }
        }
        #expect(outcomes.withLock { $0 } == (1, 99))
        #expect(try fixture.count("sessions") == 1)
    }

    @Test(arguments: Backend.all)
    func abuse45TheOtherSignatureOfASpentChallengeIsRefused(backend: Backend) throws {
        let (fixture, key) = (try Fixture(backend), try TestKey())
        try fixture.register(key)
        let other = { (proof: SignedProof) in
            SignedProof(
                user: proof.user, key: proof.key, challenge: proof.challenge,
                signature: KeyTests.withOtherS(proof.signature))
        }
        let (spent, fresh) = (try fixture.proof(key), try fixture.proof(key))
        _ = try fixture.service.signIn(spent)
        #expect(throws: RelyingPartyError.refused(.replayed)) { try fixture.service.signIn(other(spent)) }
        // The signature itself is valid.
        _ = try fixture.service.signIn(other(fresh))
        #expect(throws: RelyingPartyError.refused(.replayed)) { try fixture.service.signIn(fresh) }
        #expect(try fixture.count("sessions") == 2)
    }

    @Test(arguments: Backend.all) func aSeenChallengeCannotBeSpentWithoutAValidSignature(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let key = try TestKey()
        try fixture.register(key)
        let proof = try fixture.proof(key)
        let forged = SignedProof(
            user: proof.user, key: proof.key, challenge: proof.challenge, signature: try TestKey().sign(proof.challenge)
        )
        for _ in 0..<10 {
            #expect(throws: Self.refused(.wrongSignature)) { try fixture.service.signIn(forged) }
        }
        _ = try fixture.service.signIn(proof)
    }

    @Test(arguments: Backend.all) func refusedRequestsStoreNothing(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let key = try TestKey()
        try fixture.register(key)
        let before = try ["audit", "epochs", "sessions", "keys", "spent_500000"].map(fixture.count)
        for index in 0..<200 {
            let stranger = try TestKey()
            let proof = try fixture.proof(stranger, "user\(index)", .register)
            #expect(throws: Self.refused(.wrongCode)) {
                try fixture.service.register(
                    stranger.publicKey, proof, .code("0"), device: "", isRaw: false, tier: .user)
            }
            #expect(throws: Self.refused(.unknownKey)) { try fixture.service.signIn(fixture.proof(stranger)) }
        }
        #expect(try ["audit", "epochs", "sessions", "keys", "spent_500000"].map(fixture.count) == before)
        #expect(try fixture.count("codes") == 0)
    }

    @Test(arguments: Backend.all) func aCodeIsUsedOnceByItsUserWithinTenMinutes(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let attempt = { (code: String, user: String) throws in
            let key = try TestKey()
            try fixture.service.register(
                key.publicKey, fixture.proof(key, user, .register), .code(code), device: "", isRaw: false, tier: .user)
        }
        let code = try fixture.service.makeCode(for: "ada")
        #expect(throws: Self.refused(.wrongCode)) { try attempt(code, "bob") }
        try attempt(code, "ada")
        #expect(throws: Self.refused(.wrongCode)) { try attempt(code, "ada") }
        let late = try fixture.service.makeCode(for: "ada")
        fixture.advance(600)
        #expect(throws: Self.refused(.wrongCode)) { try attempt(late, "ada") }
    }

    @Test(arguments: Backend.all) func strangersCannotUseUpACode(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let attempt = { (code: String) throws in
            let key = try TestKey()
            try fixture.service.register(
                key.publicKey, fixture.proof(key, "ada", .register), .code(code), device: "", isRaw: false, tier: .user)
        }
        let code = try fixture.service.makeCode(for: "ada")
        for wrong in ["WRONG", String(repeating: "0", count: 16), String(code.dropLast()), code + "0"] {
            for _ in 0..<20 { #expect(throws: Self.refused(.wrongCode)) { try attempt(wrong) } }
        }
        try attempt(code)
    }

    @Test func aCodeIsReadAsPeopleTypeIt() throws {
        let code = EnrolmentCode(random: [UInt8](0..<16))
        #expect(code.text == "0123-4567-89AB-CDEF")
        for typed in ["0123456789abcdef", "o123 4567-89AB-CDEF", "OL23-4567-89AB-CDEF", "0i234567-89ab--cdef "] {
            #expect(EnrolmentCode(typed: typed)?.digits == code.digits)
        }
        for typed in [
            "", "0123-4567-89AB-CDE", "0123-4567-89AB-CDEFG", "0123-4567-89AB-CDEU", "0123\u{2011}4567-89AB-CDEF",
        ] {
            #expect(EnrolmentCode(typed: typed) == nil)
        }
    }

    @Test(arguments: Backend.all) func abuse46ATierBelowTheMinimumIsRefused(backend: Backend) throws {
        let fixture = try Fixture(backend, minimumTier: .file)
        let key = try TestKey()
        #expect(throws: Self.refused(.tierTooLow)) { try fixture.register(key, tier: .simulated) }
        try fixture.register(key, tier: .file)
    }

    @Test(arguments: Backend.all) func aSessionOfTheUserRegistersAnotherKey(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let (first, second) = (try TestKey(), try TestKey())
        try fixture.register(first)
        let token = try fixture.service.signIn(fixture.proof(first)).token
        func register(_ user: String, signer: TestKey) throws {
            let proof = try fixture.proof(second, user, .register)
            let signature = signer.sign(fixture.service.message(proof, .register, "", isRaw: false))
            try fixture.service.register(
                second.publicKey, proof, .session(token, .signature(signature)), device: "", isRaw: false, tier: .user)
        }
        #expect(throws: Self.refused(.unknownSession)) { try register("bob", signer: first) }
        #expect(throws: Self.refused(.wrongSignature), "the token alone is not enough") {
            try register("ada", signer: second)
        }
        try register("ada", signer: first)
        _ = try fixture.service.signIn(fixture.proof(second))
        #expect(throws: Self.refused(.keyExists)) { try fixture.register(second) }
    }

    @Test(arguments: Backend.all) func sessionsEndWhenIdleAndAtTheirAbsoluteLimit(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let key = try TestKey()
        try fixture.register(key)
        let idle = try fixture.service.signIn(fixture.proof(key)).token
        fixture.advance(899)
        _ = try fixture.service.session(idle)
        fixture.advance(900)
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(idle) }
        let busy = try fixture.service.signIn(fixture.proof(key)).token
        for _ in 0..<71 {
            fixture.advance(600)
            _ = try fixture.service.session(busy)
        }
        fixture.advance(600)
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(busy) }
        try fixture.service.removeOld()
        #expect(try fixture.count("sessions") == 0)
    }

    /// The tools of an operator end a text at a zero byte.
    @Test(arguments: Backend.all) func namesWithAZeroByteAreRefused(backend: Backend) throws {
        let (fixture, key) = (try Fixture(backend), try TestKey())
        #expect(throws: RelyingPartyError.malformed("device")) { try fixture.register(key, device: "a\0b") }
        #expect(throws: RelyingPartyError.malformed("user")) { try fixture.register(key, "a\0b") }
        #expect(throws: RelyingPartyError.malformed("context")) {
            try fixture.proof(key, "ada", .stepUp, context: "a\0b")
        }
    }

    @Test(arguments: Backend.all) func theNewestSessionsOfAKeyStay(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let key = try TestKey()
        try fixture.register(key)
        let early = try (0..<4).map { _ in try fixture.service.signIn(fixture.proof(key)).token }
        fixture.advance(1)
        // All of one second.
        for _ in 0..<40 {
            let token = try fixture.service.signIn(fixture.proof(key)).token
            _ = try fixture.service.session(token)
        }
        #expect(try fixture.count("sessions") == 16)
        for token in early {
            #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(token) }
        }
    }

    @Test(arguments: Backend.all) func theAuditLogNamesTheTargetAndTheKeyOfARevocation(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let key = try TestKey()
        try fixture.register(key, device: "phone")
        let proof = try fixture.proof(key, "ada", .revoke, context: "device:phone")
        _ = try fixture.service.revoke(.device("phone"), context: "device:phone", proof)
        _ = try fixture.service.revoke(.user, of: "ada")
        let rows = try fixture.service.storage.read(
            "SELECT key, detail FROM audit WHERE event = 'revoke' ORDER BY number", [])
        #expect(
            rows == [
                [.blob(proof.key), .text("device:phone, 1 keys")], [.blob([]), .text("user, 0 keys")],
            ])
    }

    @Test(arguments: Backend.all) func theStorageIsReadyOnlyWhenEveryTableIsThere(backend: Backend) throws {
        let fixture = try Fixture(backend)
        try fixture.service.checkStorage()
        _ = try fixture.service.storage.read("DROP TABLE audit", [])
        // Known for a second.
        try fixture.service.checkStorage()
        fixture.advance(1)
        #expect(throws: RelyingPartyError.self) { try fixture.service.checkStorage() }
    }

    @Test(arguments: Backend.all) func revocationEndsSessionsAndRefusesTheKey(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let (lost, kept) = (try TestKey(), try TestKey())
        try fixture.register(lost, device: "phone")
        try fixture.register(kept, device: "laptop")
        let tokens = try [lost, kept].map { try fixture.service.signIn(fixture.proof($0)).token }
        let waiting = try fixture.proof(lost)
        let proof = try fixture.proof(kept, "ada", .revoke, context: "device:phone")
        #expect(try fixture.service.revoke(.device("phone"), context: "device:phone", proof) == 1)
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(tokens[0]) }
        #expect(throws: Self.refused(.revokedKey)) { try fixture.service.signIn(waiting) }
        _ = try fixture.service.session(tokens[1])
        #expect(throws: Self.refused(.keyExists)) { try fixture.register(lost) }
        #expect(try fixture.service.revoke(.user, of: "ada") == 1)
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(tokens[1]) }
    }

    @Test(arguments: Backend.all) func aStepUpNeedsTheKeyOfTheSessionAndTheSignedContext(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let (key, other) = (try TestKey(), try TestKey())
        try fixture.register(key)
        try fixture.register(other)
        let token = try fixture.service.signIn(fixture.proof(key)).token
        let act = "pay 20 EUR to Bob"
        let proof = try fixture.proof(key, "ada", .stepUp, context: act)
        #expect(throws: Self.refused(.otherBinding)) {
            try fixture.service.stepUp(token, context: "pay 200 EUR to Bob", proof)
        }
        let foreign = try fixture.proof(other, "ada", .stepUp, context: act)
        #expect(throws: Self.refused(.otherBinding)) { try fixture.service.stepUp(token, context: act, foreign) }
        #expect(throws: Self.refused(.unknownSession)) {
            try fixture.service.stepUp([UInt8](repeating: 0, count: 32), context: act, proof)
        }
        #expect(throws: Self.refused(.otherBinding)) { try fixture.service.signIn(proof) }
        #expect(try fixture.service.stepUp(token, context: act, proof).session.user == "ada")
        #expect(throws: Self.refused(.replayed)) { try fixture.service.stepUp(token, context: act, proof) }
    }

    private static func rotation(
        _ fixture: Fixture, _ old: TestKey, _ new: TestKey, tier: DeclaredTier = .user, signer: TestKey? = nil
    ) throws -> (SignedProof, [UInt8]) {
        let context = RelyingPartyService.rotationContext(try new.publicKey, tier)
        let proof = try fixture.proof(old, "ada", .rotate, context: context)
        return (proof, (signer ?? new).sign(fixture.service.message(proof, .rotate, context, isRaw: false)))
    }

    @Test(arguments: Backend.all) func rotationReplacesAKeyAndEndsItsSessions(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let (old, new, other) = (try TestKey(), try TestKey(), try TestKey())
        try fixture.register(old, device: "phone")
        let token = try fixture.service.signIn(fixture.proof(old)).token
        let (proof, signature) = try Self.rotation(fixture, old, new)
        let rotate = { (key: TestKey, tier: DeclaredTier, signature: [UInt8]) in
            _ = try fixture.service.rotate(to: key.publicKey, tier: tier, proof, signature: signature)
        }
        #expect(throws: Self.refused(.wrongSignature), "the new key has not signed") {
            try rotate(new, .user, Self.rotation(fixture, old, new, signer: other).1)
        }
        #expect(throws: Self.refused(.otherBinding), "another key or tier than was signed") {
            try rotate(other, .user, signature)
        }
        #expect(throws: Self.refused(.otherBinding)) { try rotate(new, .file, signature) }
        try rotate(new, .user, signature)
        #expect(throws: Self.refused(.revokedKey)) { try rotate(new, .user, signature) }
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(token) }
        #expect(throws: Self.refused(.revokedKey)) { try fixture.service.signIn(fixture.proof(old)) }
        _ = try fixture.service.signIn(fixture.proof(new))
        #expect(try fixture.service.revoke(.device("phone"), of: "ada") == 1, "the device is the same")
    }

    @Test(arguments: Backend.all) func rotationToARegisteredKeyALowerTierOrByARawKeyIsRefused(backend: Backend) throws {
        let fixture = try Fixture(backend, minimumTier: .file)
        let (old, other, new) = (try TestKey(), try TestKey(), try TestKey())
        try fixture.register(old, tier: .file)
        try fixture.register(other, tier: .file)
        for (key, tier, reason) in [
            (old, DeclaredTier.file, RefusalReason.keyExists), (other, .file, .keyExists), (new, .user, .tierTooLow),
        ] {
            let (proof, signature) = try Self.rotation(fixture, old, key, tier: tier)
            #expect(throws: Self.refused(reason)) {
                try fixture.service.rotate(to: key.publicKey, tier: tier, proof, signature: signature)
            }
        }
        _ = try fixture.service.signIn(fixture.proof(old))
        let raw = try TestKey()
        try fixture.register(raw, isRaw: true, tier: .file)
        let (proof, signature) = try Self.rotation(fixture, raw, new, tier: .file)
        // A raw key signs the bare challenge, so a signature of the message is not even valid.
        #expect(throws: Self.refused(.wrongSignature)) {
            try fixture.service.rotate(to: new.publicKey, tier: .file, proof, signature: signature)
        }
        let challenge = try fixture.proof(
            raw, "ada", .rotate, context: RelyingPartyService.rotationContext(new.publicKey, .file), isRaw: true)
        #expect(throws: Self.refused(.rawKey)) {
            try fixture.service.rotate(to: new.publicKey, tier: .file, challenge, signature: signature)
        }
    }

    @Test(arguments: Backend.all) func aRawKeyOnlyLogsIn(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let key = try TestKey()
        try fixture.register(key, isRaw: true)
        let proof = try fixture.proof(key, "ada", .revoke, context: "user", isRaw: true)
        #expect(throws: Self.refused(.rawKey)) { try fixture.service.revoke(.user, context: "user", proof) }
        let (token, second) = (try fixture.service.signIn(fixture.proof(key, isRaw: true)).token, try TestKey())
        #expect(throws: Self.refused(.rawKey), "its session registers no key") {
            try fixture.service.register(
                second.publicKey, fixture.proof(second, "ada", .register), .session(token, .signature([])), device: "",
                isRaw: false, tier: .user)
        }
        // The other one is no user's.
        #expect(try fixture.count("keys") == 2)
    }

    /// Its private key is 1, so anyone can sign with it.
    @Test func theKeyThatNoUserHasSignsNoOneIn() throws {
        let fixture = try Fixture()
        let decoy = [UInt8](repeating: 0, count: 32)
        #expect(try fixture.service.storage.keyOrDecoy([UInt8](repeating: 7, count: 32)).identifier == decoy)
        for user in ["ada", " "] {
            let challenge = try fixture.service.challenge(user: user, key: decoy, purpose: .login)
            let proof = SignedProof(user: user, key: decoy, challenge: challenge, signature: [])
            #expect(throws: Self.refused(.unknownKey)) { try fixture.service.signIn(proof) }
        }
        #expect(throws: RelyingPartyError.malformed("user")) {
            try fixture.service.challenge(user: "", key: decoy, purpose: .login)
        }
        #expect(throws: RelyingPartyError.malformed("user")) { try fixture.service.delete("") }
        #expect(try fixture.service.revoke(.user, of: "") == 0)
        #expect(try fixture.service.unfreeze(decoy, of: "") == false)
    }

    @Test(arguments: Backend.all) func aSignatureOfTheBareChallengeIsRefusedForABoundKey(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let key = try TestKey()
        try fixture.register(key)
        #expect(throws: Self.refused(.wrongSignature)) { try fixture.service.signIn(fixture.proof(key, isRaw: true)) }
    }

    @Test(arguments: Backend.all) func tablesOfOldEpochsAreDroppedAndAClockSetBackRevivesNothing(
        backend: Backend
    ) throws {
        let fixture = try Fixture(backend)
        let key = try TestKey()
        try fixture.register(key)
        let proof = try fixture.proof(key)
        _ = try fixture.service.signIn(proof)
        fixture.advance(3600 + 1199)
        try fixture.service.removeOld()
        #expect(try fixture.count("epochs") == 1)
        fixture.advance(1)
        try fixture.service.removeOld()
        #expect(try fixture.count("epochs") == 0)
        fixture.advance(-4800)
        #expect(throws: Self.refused(.replayed)) { try fixture.service.signIn(proof) }
    }

    @Test(arguments: Backend.all) func aChangedRowOfTheAuditLogIsFound(backend: Backend) throws {
        let fixture = try Fixture(backend)
        for _ in 0..<3 { _ = try fixture.service.makeCode(for: "ada") }
        _ = try fixture.service.storage.read("UPDATE audit SET detail = 'bob' WHERE number = 2", [])
        #expect(try fixture.service.verifyAudit() == (1, AuditPosition(node: backend == .sqlite ? "" : "a", number: 2)))
    }

    @Test(arguments: Backend.all) func keysAndSessionsOfAUserAreLimited(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let keys = try (0..<21).map { _ in try TestKey() }
        for key in keys.prefix(20) { try fixture.register(key) }
        #expect(throws: Self.refused(.tooManyKeys)) { try fixture.register(keys[20]) }
        for _ in 0..<20 { _ = try fixture.service.signIn(fixture.proof(keys[0])) }
        #expect(try fixture.count("sessions") == 16)
    }

    @Test(arguments: Backend.all) func statementsInNamesAreStoredAsText(backend: Backend) throws {
        let fixture = try Fixture(backend)
        let key = try TestKey()
        let name = "'; DROP TABLE keys; --"
        try fixture.register(key, name, device: name)
        #expect(try fixture.service.session(fixture.service.signIn(fixture.proof(key, name)).token).user == name)
    }
}
