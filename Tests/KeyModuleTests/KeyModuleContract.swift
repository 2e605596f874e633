// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import SeamStandIns
import SimulatedDriver
import Testing

/// The contract of `KeyModule`, which every driver must fulfil.
@Suite(.ownTPM) struct KeyModuleContract {
    private static let digest = [UInt8](repeating: 0xa5, count: 32)
    private static let password = SecretBytes([UInt8](repeating: 7, count: 32))

    // MARK: - Keys and results

    @Test(arguments: Driver.all) func eachKeyHasItsOwnPointAndBlob(_ driver: Driver) throws {
        let module = driver.make()
        let (one, two) = (try module.newKey(), try module.newKey())
        for key in [one, two] { #expect(key.publicKey.count == 65 && key.publicKey[0] == 4) }
        #expect(one.publicKey != two.publicKey)
        #expect(one.blob != two.blob)
    }

    @Test(arguments: Driver.all) func bothPartiesComputeTheSameSharedSecret(_ driver: Driver) throws {
        let module = driver.make()
        let (one, two) = (try module.newKey(), try module.newKey())
        let secret = try driver.use(module, one, .agree(point: two.publicKey))
        #expect(secret.count == 32)
        #expect(try secret == driver.use(module, two, .agree(point: one.publicKey)))
        #expect(try secret != driver.use(module, one, .agree(point: one.publicKey)))
    }

    @Test(arguments: Driver.all, [20, 28, 32, 48, 64]) func digestsOfEverySupportedLengthAreSigned(
        _ driver: Driver, _ count: Int
    ) throws {
        let module = driver.make()
        let key = try module.newKey()
        let digest = [UInt8](repeating: 0xa5, count: count)
        let signature = try driver.use(module, key, .sign(digest: digest))
        #expect(signature.count == 64)
        let publicKey = try #require(PublicKey(key.publicKey, type: .ellipticCurve(.p256)))
        let der = try #require(ECDSASignature.der(raw: signature.copyBytes(), curve: .p256))
        #expect(publicKey.verifiesECDSA(digest, der: der))
    }

    /// A blob must work after a restart of the daemon, in a new module instance.
    @Test(arguments: Driver.all) func blobWorksInANewModuleInstance(_ driver: Driver) throws {
        let key = try driver.make().newKey()
        let peer = try driver.make().newKey()
        let now = try driver.use(driver.make(), key, .agree(point: peer.publicKey))
        #expect(try now == driver.use(driver.make(), peer, .agree(point: key.publicKey)))
    }

    @Test(arguments: Driver.all) func invalidPointsAreRejected(_ driver: Driver) throws {
        let module = driver.make()
        let (key, peer) = (try module.newKey(), try module.newKey())
        var moved = peer.publicKey
        moved[64] ^= 1
        let zero = [4] + [UInt8](repeating: 0, count: 64)
        let large = [4] + [UInt8](repeating: 255, count: 64)
        for point in [moved, zero, large, [0], Array(peer.publicKey.dropLast()), peer.publicKey + [0], []] {
            #expect(throws: Failure(.invalidParameter)) { try driver.use(module, key, .agree(point: point)) }
        }
    }

    @Test(arguments: Driver.all) func invalidBlobsAreRejected(_ driver: Driver) throws {
        let module = driver.make()
        for key in [try module.newKey(), try module.newKey(password: Self.password)] {
            let bytes = key.blob.copyBytes()
            let others: [[UInt8]] = [[], [0], Array(bytes.dropLast()), bytes + [0], [255] + bytes.dropFirst()]
            for blob in others {
                #expect(throws: Failure(.internalFailure)) {
                    try module.begin(SecretBytes(blob), .sign(digest: Self.digest))
                }
            }
        }
    }

    @Test(arguments: Driver.all) func oneKeyIsUsableFromManyThreads(_ driver: Driver) async throws {
        let module = driver.make()
        let (key, peer) = (try module.newKey(), try module.newKey())
        let expected = try driver.use(module, key, .agree(point: peer.publicKey))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 {
                group.addTask { try driver.use(module, key, .agree(point: peer.publicKey)) == expected }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    // MARK: - The two steps

    @Test(arguments: Driver.all) func usesBegunTogetherAreFinishedInAnyOrder(_ driver: Driver) throws {
        let module = driver.make()
        let (key, peer) = (try module.newKey(), try module.newKey())
        let expected = try [key, peer].map { try driver.use(module, key, .agree(point: $0.publicKey)) }
        let begun = try [key, peer].map { try module.begin(key.blob, .agree(point: $0.publicKey)) }
        #expect(try driver.finish(module, begun[1]) == expected[1])
        #expect(try driver.finish(module, begun[0]) == expected[0])
    }

    @Test(arguments: Driver.all) func aUseIsFinishedOnlyOnce(_ driver: Driver) throws {
        let module = driver.make()
        let challenge = try module.begin(try module.newKey().blob, .sign(digest: Self.digest))
        _ = try driver.finish(module, challenge)
        #expect(throws: Failure(.timedOut)) { try driver.finish(module, challenge) }
    }

    @Test(arguments: Driver.all) func aUseWhoseFinishFailedCannotBeFinishedAgain(_ driver: Driver) throws {
        let module = driver.make()
        let challenge = try module.begin(try module.newKey().blob, .agree(point: [0]))
        #expect(throws: Failure(.invalidParameter)) { try driver.finish(module, challenge) }
        #expect(throws: Failure(.timedOut)) { try driver.finish(module, challenge) }
    }

    @Test(arguments: Driver.all) func anAbandonedUseCannotBeFinished(_ driver: Driver) throws {
        let module = driver.make()
        let challenge = try module.begin(try module.newKey().blob, .sign(digest: Self.digest))
        for _ in 1...2 { module.abandon(challenge.use) }
        #expect(throws: Failure(.timedOut)) { try driver.finish(module, challenge) }
    }

    @Test(arguments: Driver.all) func aUseBelongsToTheInstanceThatBeganIt(_ driver: Driver) throws {
        let (module, other) = (driver.make(), driver.make())
        let key = try module.newKey()
        let challenge = try module.begin(key.blob, .sign(digest: Self.digest))
        _ = try other.begin(key.blob, .sign(digest: Self.digest))
        #expect(throws: Failure(.timedOut)) { try driver.finish(other, challenge) }
        other.abandon(challenge.use)
        _ = try driver.finish(module, challenge)
    }

    @Test(arguments: Driver.all) func aUseIsRefusedAfterItsDeadline(_ driver: Driver) throws {
        let clock = VirtualClock()
        let module = driver.make(clock)
        let key = try module.newKey()
        let inTime = try module.begin(key.blob, .sign(digest: Self.digest))
        clock.advance(seconds: Limits.begunKeyUseSeconds - 1)
        _ = try driver.finish(module, inTime)
        let late = try module.begin(key.blob, .sign(digest: Self.digest))
        clock.advance(seconds: Limits.begunKeyUseSeconds)
        #expect(throws: Failure(.timedOut)) { try driver.finish(module, late) }
    }

    @Test(arguments: Driver.all) func begunUsesAreLimitedUntilTheyEndOrExpire(_ driver: Driver) throws {
        let clock = VirtualClock()
        let module = driver.make(clock)
        let blob = try module.newKey().blob
        var begun: [KeyChallenge] = []
        for _ in 0..<Limits.begunKeyUses { begun.append(try module.begin(blob, .sign(digest: Self.digest))) }
        #expect(throws: Failure(.limitExceeded)) { try module.begin(blob, .sign(digest: Self.digest)) }
        module.abandon(begun[0].use)
        _ = try driver.finish(module, begun[1])
        for _ in 0..<2 { _ = try module.begin(blob, .sign(digest: Self.digest)) }
        #expect(throws: Failure(.limitExceeded)) { try module.begin(blob, .sign(digest: Self.digest)) }
        clock.advance(seconds: Limits.begunKeyUseSeconds)
        for _ in 0..<Limits.begunKeyUses { _ = try module.begin(blob, .sign(digest: Self.digest)) }
    }

    // MARK: - Approvals and passwords

    @Test(arguments: Driver.all) func anApprovalIsNeededIfAndOnlyIfTheChallengeHasASubject(_ driver: Driver) throws {
        let module = driver.make()
        let key = try module.newKey()
        let challenge = try module.begin(key.blob, .sign(digest: Self.digest))
        #expect((challenge.subject != nil) == driver.needsApproval)
        #expect(challenge.nonce.isEmpty == !driver.needsApproval)
        let wrong = KeyApproval(expirySeconds: 60, signature: [1])
        let unneeded: KeyApproval? = driver.needsApproval ? nil : wrong
        #expect(throws: Failure(.itemAuthenticationFailed)) {
            try module.finish(challenge.use, approval: unneeded, password: nil)
        }
        let next = try module.begin(key.blob, .sign(digest: Self.digest))
        #expect(throws: Failure(.itemAuthenticationFailed)) {
            try module.finish(next.use, approval: wrong, password: nil)
        }
    }

    @Test(arguments: Driver.all.filter(\.needsApproval))
    func anApprovalIsValidForOneUseOnly(_ driver: Driver) throws {
        let module = driver.make()
        let key = try module.newKey()
        let challenges = try (0..<2).map { _ in try module.begin(key.blob, .sign(digest: Self.digest)) }
        let approval = try #require(driver.approve(challenges[0]))
        #expect(challenges[0].nonce != challenges[1].nonce)
        #expect(throws: Failure(.itemAuthenticationFailed)) {
            try module.finish(challenges[1].use, approval: approval, password: nil)
        }
    }

    @Test(arguments: Driver.all) func aKeyWithAPasswordIsUsedOnlyWithIt(_ driver: Driver) throws {
        let module = driver.make()
        let key = try module.newKey(password: Self.password)
        let other = SecretBytes([UInt8](repeating: 8, count: 32))
        for wrong in [nil, other] {
            let challenge = try module.begin(key.blob, .sign(digest: Self.digest))
            #expect(throws: Failure(.itemAuthenticationFailed)) {
                try driver.finish(module, challenge, password: wrong)
            }
        }
        let challenge = try driver.make().newKey()
        let secret = try driver.use(module, key, .agree(point: challenge.publicKey), password: Self.password)
        #expect(try secret == driver.use(module, challenge, .agree(point: key.publicKey)))
    }

    @Test(arguments: Driver.all) func aKeyWithoutAPasswordIgnoresOne(_ driver: Driver) throws {
        let module = driver.make()
        _ = try driver.use(module, try module.newKey(), .sign(digest: Self.digest), password: Self.password)
    }

    // MARK: - Attesting and erasing

    @Test(arguments: Driver.all) func attestationContainsTheNonceOrIsRefusedByName(_ driver: Driver) throws {
        let module = driver.make()
        let key = try module.newKey()
        let nonce = [UInt8](repeating: 3, count: 32)
        do {
            let attestationKey = try module.newAttestationKey()
            #expect(try module.attest(key.blob, by: attestationKey.blob, nonce: nonce).contains(nonce))
            #expect(module.kind == .tpm)
            for count in [0, 15, 65] {
                #expect(throws: Failure(.invalidParameter)) {
                    let nonce = [UInt8](repeating: 3, count: count)
                    return try module.attest(key.blob, by: attestationKey.blob, nonce: nonce)
                }
            }
        } catch {
            #expect(error.status == .unimplemented)
            #expect(error.message.contains("\(module.kind.name) enclave cannot attest"))
        }
    }

    @Test(arguments: Driver.all) func aKeyMayBeErasedTwice(_ driver: Driver) throws {
        let module = driver.make()
        let key = try module.newKey()
        for _ in 1...2 { try module.erase(key.blob) }
    }
}
