// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import Security
import Testing

/// Exports public keys to other formats and imports them again.
@Suite struct PortableKeyTests {
    @Test(arguments: [
        (kSecAttrKeyTypeRSA as String, 2048), (kSecAttrKeyTypeECSECPrimeRandom as String, 256),
        (kSecAttrKeyTypeECSECPrimeRandom as String, 384), (kSecAttrKeyTypeECSECPrimeRandom as String, 521),
    ]) func keyRoundTripsThroughAnOpenSSHLine(type: String, bitCount: Int) throws {
        let parameters: [String: Any] = [kSecAttrKeyType as String: type, kSecAttrKeySizeInBits as String: bitCount]
        let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let bytes = try #require(SecKeyCopyExternalRepresentation(publicKey, nil) as Data?)
        let line = try PortablePublicKey(externalRepresentation: bytes).openSSH(comment: "round trip")

        let portable = try PortablePublicKey(openSSH: line)
        let back = SecKeyCreateWithData(
            Data(portable.externalRepresentation) as CFData,
            [kSecAttrKeyType as String: type, kSecAttrKeyClass as String: kSecAttrKeyClassPublic] as CFDictionary, nil)
        #expect(back == publicKey)
    }
}
