// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import Testing

@Suite struct GenerationTests {
    @Test(arguments: Curve.allCases) func generatedEllipticCurveKeyRoundTrips(curve: Curve) throws {
        let key = try PrivateKey.generate(curve)
        let read = try #require(PrivateKey(key.externalRepresentation, type: key.type))
        #expect(read.publicKey == key.publicKey)
        #expect(PrivateKey(pkcs8: key.pkcs8)?.publicKey == key.publicKey)
        #expect(PublicKey(subjectPublicKeyInfo: key.publicKey.subjectPublicKeyInfo) == key.publicKey)
    }
}
