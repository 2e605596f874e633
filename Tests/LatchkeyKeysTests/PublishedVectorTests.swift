// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TestSupport
import Testing

/// Compares results with published test vectors.
@Suite struct PublishedVectorTests {
    @Test func publicPointsMatchThePublishedVectors() throws {
        let rows = try vectors("ecdsa")
        #expect(rows.count == 5)
        for row in rows {
            let key = try #require(PrivateKey(scalar: SecretBytes(hex(row[3])), curve: curve(row[1])), "\(row[0])")
            #expect(try key.publicKey.externalRepresentation == hex(row[4]), "\(row[0])")
            #expect(try key.externalRepresentation.copyBytes() == hex(row[4]) + hex(row[3]))
        }
    }

    @Test func publishedSignaturesVerify() throws {
        for row in try vectors("ecdsa") {
            let key = try #require(PublicKey(point: hex(row[4])), "\(row[0])")
            let hash = try digest(row[2]).hash(hex(row[5]))
            let der = try #require(ECDSASignature.der(raw: hex(row[6]), curve: curve(row[1])))
            #expect(key.verifiesECDSA(hash, der: der), "\(row[0])")
            var other = hash
            other[0] ^= 1
            #expect(!key.verifiesECDSA(other, der: der), "\(row[0])")
        }
    }

    @Test func sharedSecretsMatchThePublishedVectors() throws {
        let rows = try vectors("ecdh")
        #expect(rows.count == 3)
        for row in rows {
            let key = try #require(PrivateKey(scalar: SecretBytes(hex(row[2])), curve: curve(row[1])), "\(row[1])")
            let peer = try #require(PublicKey(point: hex(row[3])), "\(row[1])")
            #expect(try key.agree(with: peer).copyBytes() == hex(row[4]), "\(row[1])")
        }
    }

    @Test func derivedKeysMatchThePublishedVectors() throws {
        let rows = try vectors("kdf")
        #expect(rows.count == 2)
        for row in rows {
            let expected = try hex(row[4])
            let derived = try digest(row[1]).derive(
                SecretBytes(hex(row[2])), sharedInfo: hex(row[3]), byteCount: expected.count)
            #expect(derived.copyBytes() == expected)
        }
    }

    @Test func digestsMatchTheExamplesOfFIPS180() throws {
        // The one-block example of FIPS 180-4: "abc".
        #expect(try DigestAlgorithm.sha1.hash(Array("abc".utf8)) == hex("a9993e364706816aba3e25717850c26c9cd0d89d"))
        #expect(
            try DigestAlgorithm.sha256.hash(Array("abc".utf8))
                == hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        for digest in DigestAlgorithm.allCases { #expect(try digest.hash([]).count == digest.byteCount) }
    }
}
