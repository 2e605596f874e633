// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyCrypto

/// A private scalar for one operation gives the results of a prepared key.
@Suite struct PrivateScalarTests {
    private func pair(_ curve: Curve) throws -> (PrivateKey, PrivateScalar) {
        let key = try PrivateKey.generate(curve)
        let scalar = SecretBytes(key.externalRepresentation.copyBytes().dropFirst(curve.pointBytes))
        return (key, try #require(PrivateScalar(scalar, curve: curve)))
    }

    @Test(arguments: Curve.allCases, [20, 32, 48, 64, 100])
    func signatureVerifiesWithThePublicKey(_ curve: Curve, _ count: Int) throws {
        let (key, scalar) = try pair(curve)
        let digest = [UInt8](repeating: 0x5a, count: count)
        let signature = try scalar.sign(digest).copyBytes()
        #expect(signature.count == 2 * curve.byteCount)
        let der = try #require(ECDSASignature.der(raw: signature, curve: curve))
        #expect(key.publicKey.verifiesECDSA(digest, der: der))
        var changed = digest
        changed[0] ^= 1
        #expect(!key.publicKey.verifiesECDSA(changed, der: der))
    }

    @Test(arguments: Curve.allCases) func sharedSecretIsThatOfAPreparedKey(_ curve: Curve) throws {
        let (key, scalar) = try pair(curve)
        let (peer, _) = try pair(curve)
        let secret = try scalar.agree(peer.publicKey.externalRepresentation)
        #expect(try secret == key.agree(with: peer.publicKey))
    }

    @Test(arguments: Curve.allCases) func pointsOffTheCurveAreRejected(_ curve: Curve) throws {
        let (key, scalar) = try pair(curve)
        var moved = key.publicKey.externalRepresentation
        moved[moved.count - 1] ^= 1
        let compressed = [2] + key.publicKey.externalRepresentation[1...curve.byteCount]
        for point in [moved, compressed, [0], [], moved + [0]] { #expect(try scalar.agree(Array(point)) == nil) }
    }

    @Test(arguments: Curve.allCases) func scalarsOutOfRangeAreRejected(_ curve: Curve) throws {
        let (key, _) = try pair(curve)
        for byte in [0, 255] as [UInt8] {
            let scalar = try #require(
                PrivateScalar(SecretBytes([UInt8](repeating: byte, count: curve.byteCount)), curve: curve))
            #expect(throws: Failure(.internalFailure)) { try scalar.sign([UInt8](repeating: 1, count: 32)) }
            #expect(throws: Failure(.internalFailure)) { try scalar.agree(key.publicKey.externalRepresentation) }
        }
        #expect(PrivateScalar(SecretBytes([1]), curve: curve) == nil)
    }
}
