// SPDX-License-Identifier: Apache-2.0

import Dispatch
import RelyingPartyCrypto
import ServerTestSupport
import SignInVerification
import Synchronization
import Testing

@testable import RelyingParty

struct CounterTests {
    private static func refused(_ reason: RefusalReason) -> RelyingPartyError { .refused(reason) }

    private static func prepared(
        _ backend: Backend, _ counters: CounterPolicy = .tolerant
    ) throws -> (fixture: Fixture, key: TestKey, id: [UInt8]) {
        var policy = RelyingPartyPolicy(relyingPartyID: "example.com")
        policy.counters = counters
        let (fixture, key) = (try Fixture(backend, policy: policy), try TestKey())
        try fixture.register(key)
        return (fixture, key, try key.publicKey.identifier)
    }

    @Test(arguments: Backend.all) func aHigherCounterIsAcceptedAndStored(backend: Backend) throws {
        let (fixture, key, id) = try Self.prepared(backend)
        for counter: Int64 in [0, 1, 7, 9_007_199_254_740_991] {
            let token = try fixture.service.signIn(fixture.proof(key, counter: counter)).token
            #expect(try fixture.service.session(token).key == id)
            #expect(try fixture.service.storage.keyOrDecoy(id).counter == counter)
        }
    }

    @Test(
        arguments: Backend.all,
        [(.tolerant, 100), (.tolerant, 83), (.tolerant, 0), (.strict, 100), (.strict, 99), (.strict, 84), (.strict, 0)]
            as [(CounterPolicy, Int64)])
    func aRepeatedCounterAndALargeStepBackFreezeTheKey(
        backend: Backend, policy: (counters: CounterPolicy, next: Int64)
    ) throws {
        let next = policy.next
        let (fixture, key, id) = try Self.prepared(backend, policy.counters)
        let token = try fixture.service.signIn(fixture.proof(key, counter: 100)).token
        let waiting = try fixture.proof(key, counter: 101)
        #expect(throws: Self.refused(.counterRegressed)) {
            try fixture.service.signIn(fixture.proof(key, counter: next))
        }
        #expect(throws: Self.refused(.unknownSession), "its sessions have ended") { try fixture.service.session(token) }
        #expect(throws: Self.refused(.frozenKey)) { try fixture.service.signIn(waiting) }
        #expect(throws: Self.refused(.frozenKey), "it revokes nothing") {
            try fixture.service.revoke(.user, context: "user", fixture.proof(key, "ada", .revoke, context: "user"))
        }
        let rows = try fixture.service.storage.read("SELECT key, detail FROM audit WHERE event = 'freeze'", [])
        #expect(rows == [[.blob(id), .text("counter \(next)")]])
        #expect(try fixture.service.verifyAudit().firstWrong == nil)
    }

    /// Two requests of one key, the first of which arrives after the second.
    @Test(arguments: Backend.all, [99, 84] as [Int64])
    func aRequestThatArrivesLateIsRefusedAndFreezesNothing(backend: Backend, late: Int64) throws {
        let (fixture, key, id) = try Self.prepared(backend)
        let waiting = try fixture.proof(key, counter: late)
        let token = try fixture.service.signIn(fixture.proof(key, counter: 100)).token
        let before = try ["audit", "sessions"].map(fixture.count)
        for _ in 0..<2 {
            #expect(throws: Self.refused(.counterLate)) { try fixture.service.signIn(waiting) }
        }
        #expect(try ["audit", "sessions"].map(fixture.count) == before)
        #expect(try fixture.service.session(token).key == id)
        #expect(try fixture.service.storage.keyOrDecoy(id).counter == 100)
        _ = try fixture.service.signIn(fixture.proof(key, counter: 101))
    }

    @Test(arguments: Backend.all) func aReplayedRequestFreezesNothing(backend: Backend) throws {
        let (fixture, key, _) = try Self.prepared(backend)
        let proof = try fixture.proof(key, counter: 3)
        _ = try fixture.service.signIn(proof)
        #expect(throws: Self.refused(.replayed)) { try fixture.service.signIn(proof) }
        _ = try fixture.service.signIn(fixture.proof(key, counter: 4))
    }

    @Test(arguments: Backend.all) func theSignatureCoversTheCounter(backend: Backend) throws {
        let (fixture, key, _) = try Self.prepared(backend)
        let proof = try fixture.proof(key, counter: 3)
        for counter: Int64? in [nil, 2, 4] {
            let changed = SignedProof(
                user: proof.user, key: proof.key, challenge: proof.challenge, signature: proof.signature,
                counter: counter)
            #expect(throws: Self.refused(.wrongSignature)) { try fixture.service.signIn(changed) }
        }
        _ = try fixture.service.signIn(proof)
    }

    @Test(arguments: Backend.all) func aKeyThatCountedOnceMustGoOn(backend: Backend) throws {
        let (fixture, key, _) = try Self.prepared(backend)
        _ = try fixture.service.signIn(fixture.proof(key, counter: 3))
        #expect(throws: Self.refused(.counterMissing)) { try fixture.service.signIn(fixture.proof(key)) }
        // Nothing shows a copy, so the key is not frozen.
        _ = try fixture.service.signIn(fixture.proof(key, counter: 4))
    }

    @Test(arguments: Backend.all) func rawKeysAndOtherPurposesHaveNoCounter(backend: Backend) throws {
        let (fixture, key, _) = try Self.prepared(backend)
        let raw = try TestKey()
        try fixture.register(raw, isRaw: true)
        #expect(throws: Self.refused(.rawKey)) {
            try fixture.service.signIn(fixture.proof(raw, isRaw: true, counter: 1))
        }
        let proof = try fixture.proof(key, "ada", .revoke, context: "user", counter: 1)
        #expect(throws: RelyingPartyError.malformed("counter")) {
            try fixture.service.revoke(.user, context: "user", proof)
        }
        for counter: Int64 in [-1, 9_007_199_254_740_992, .max, .min] {
            let proof = try fixture.proof(key, counter: counter)
            #expect(throws: RelyingPartyError.malformed("counter")) { try fixture.service.signIn(proof) }
        }
    }

    @Test(arguments: Backend.all) func aStepUpCountsAsWell(backend: Backend) throws {
        let (fixture, key, _) = try Self.prepared(backend)
        let token = try fixture.service.signIn(fixture.proof(key, counter: 1)).token
        let stepUp = { (counter: Int64) throws in
            try fixture.service.stepUp(
                token, context: "pay", fixture.proof(key, "ada", .stepUp, context: "pay", counter: counter))
        }
        #expect(try stepUp(2).session.user == "ada")
        #expect(throws: Self.refused(.counterRegressed)) { try stepUp(2) }
        #expect(try fixture.count("sessions") == 0)
        let rows = try fixture.service.storage.read("SELECT 1 FROM audit WHERE event = 'step-up'", [])
        #expect(rows.count == 1, "the second act was not approved")
    }

    @Test(arguments: Backend.all) func ofUsesAtOnceWithOneCounterOneSucceedsAndTheKeyIsFrozen(backend: Backend) throws {
        let (fixture, key, id) = try Self.prepared(backend)
        let proofs = try (0..<20).map { _ in try fixture.proof(key, counter: 5) }
        let outcomes = Mutex<(successes: Int, refusals: Int)>((0, 0))
        DispatchQueue.concurrentPerform(iterations: proofs.count) { index in
            do throws(RelyingPartyError) {
                _ = try fixture.service.signIn(proofs[index])
                outcomes.withLock { $0.successes += 1 }
            } catch {
                if [.refused(.counterRegressed), .refused(.frozenKey)].contains(error) {
                    outcomes.withLock { $0.refusals += 1 }
                }
            }
        }
        #expect(outcomes.withLock { $0 } == (1, 19))
        #expect(try fixture.service.storage.keyOrDecoy(id).isFrozen)
        #expect(try fixture.count("sessions") == 0)
    }

    @Test(arguments: Backend.all) func theOperatorUnfreezesTheKeyOfAUser(backend: Backend) throws {
        let (fixture, key, id) = try Self.prepared(backend)
        #expect(try fixture.service.unfreeze(id, of: "ada") == false, "it is not frozen")
        for counter: Int64 in [7, 7] { _ = try? fixture.service.signIn(fixture.proof(key, counter: counter)) }
        #expect(try fixture.service.unfreeze(id, of: "bob") == false)
        #expect(throws: Self.refused(.frozenKey)) { try fixture.service.signIn(fixture.proof(key, counter: 8)) }
        #expect(try fixture.service.unfreeze(id, of: "ada"))
        // The client lost its counter.
        _ = try fixture.service.signIn(fixture.proof(key, counter: 1))
    }
}
