// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeys
import LatchkeyModel
import LatchkeySeams
import SoftwareEnclaveDriver
import Testing

/// A driver that the contract tests of `KeyModule` run against.
struct Driver: Sendable, CustomTestStringConvertible {
    let name: String
    let make: @Sendable () -> any KeyModule
    var testDescription: String { name }

    /// All drivers. A new driver is added here and must pass every test unchanged.
    static let all = [Driver(name: "software") { SoftwareEnclave() }]
}

/// The contract of `KeyModule`, which every driver must fulfil.
@Suite struct KeyModuleContract {
    private static let rule = AccessControl(
        accessibility: .whenUnlockedThisDeviceOnly, constraints: [.privateKeyUsage])

    @Test(arguments: Driver.all) func eachKeyHasItsOwnPointAndBlob(_ driver: Driver) throws {
        let module = driver.make()
        let one = try module.create(Self.rule)
        let two = try module.create(Self.rule)
        for key in [one, two] { #expect(key.publicKey.count == 65 && key.publicKey[0] == 4) }
        #expect(one.publicKey != two.publicKey)
        #expect(one.blob != two.blob)
    }

    @Test(arguments: Driver.all) func bothPartiesComputeTheSameSharedSecret(_ driver: Driver) throws {
        let module = driver.make()
        let one = try module.create(Self.rule)
        let two = try module.create(Self.rule)
        let secret = try module.agree(one.blob, point: two.publicKey)
        #expect(secret.count == 32)
        #expect(try secret == module.agree(two.blob, point: one.publicKey))
        #expect(try secret != module.agree(one.blob, point: one.publicKey))
    }

    @Test(arguments: Driver.all, [20, 28, 32, 48, 64]) func digestsOfEverySupportedLengthAreSigned(
        _ driver: Driver, _ count: Int
    ) throws {
        let module = driver.make()
        let key = try module.create(Self.rule)
        let digest = [UInt8](repeating: 0xa5, count: count)
        let signature = try module.sign(key.blob, digest: digest)
        #expect(signature.count == 64)
        let publicKey = try #require(PublicKey(key.publicKey, type: .ellipticCurve(.p256)))
        let der = try #require(ECDSASignature.der(raw: signature.copyBytes(), curve: .p256))
        #expect(publicKey.verifiesECDSA(digest, der: der))
    }

    /// A blob must work after a restart of the daemon, in a new module instance.
    @Test(arguments: Driver.all) func blobWorksInANewModuleInstance(_ driver: Driver) throws {
        let key = try driver.make().create(Self.rule)
        let peer = try driver.make().create(Self.rule)
        let now = try driver.make().agree(key.blob, point: peer.publicKey)
        #expect(try now == driver.make().agree(peer.blob, point: key.publicKey))
    }

    @Test(arguments: Driver.all) func invalidPointsAreRejected(_ driver: Driver) throws {
        let module = driver.make()
        let key = try module.create(Self.rule)
        let peer = try module.create(Self.rule)
        var moved = peer.publicKey
        moved[64] ^= 1
        let zero = [4] + [UInt8](repeating: 0, count: 64)
        let large = [4] + [UInt8](repeating: 255, count: 64)
        for point in [moved, zero, large, [0], Array(peer.publicKey.dropLast()), peer.publicKey + [0], []] {
            #expect(throws: Failure(.invalidParameter)) { try module.agree(key.blob, point: point) }
        }
    }

    @Test(arguments: Driver.all) func invalidBlobsAreRejected(_ driver: Driver) throws {
        let module = driver.make()
        let key = try module.create(Self.rule)
        let bytes = key.blob.copyBytes()
        let others: [[UInt8]] = [[], [0], Array(bytes.dropLast()), bytes + [0], [255] + bytes.dropFirst()]
        for blob in others {
            #expect(throws: Failure.self) {
                try module.sign(SecretBytes(blob), digest: [UInt8](repeating: 1, count: 32))
            }
        }
    }

    @Test(arguments: Driver.all) func oneKeyIsUsableFromManyThreads(_ driver: Driver) async throws {
        let module = driver.make()
        let key = try module.create(Self.rule)
        let peer = try module.create(Self.rule)
        let expected = try module.agree(key.blob, point: peer.publicKey)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 { group.addTask { try module.agree(key.blob, point: peer.publicKey) == expected } }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
