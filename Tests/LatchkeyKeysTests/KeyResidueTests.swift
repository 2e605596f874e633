// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TestSupport
import Testing

/// Searches the process's memory for copies of private keys after their use.
///
/// The trace is the last 16 bytes of a key; for an elliptic curve key they belong to its scalar. libcrypto stores
/// numbers in another byte order, so the search does not find its copies.
@Suite struct KeyResidueTests {
    @Test(arguments: Curve.allCases) func releasedEllipticCurveKeyLeavesNoCopyInMemory(curve: Curve) throws {
        var key: PrivateKey? = try PrivateKey.generate(curve)
        let trace = SecretTrace(of: try #require(key).externalRepresentation)
        _ = try key?.signECDSA([1])
        #expect(trace.copiesInMemory() == 1)
        key = nil
        #expect(trace.copiesInMemory() == 0)
    }

    @Test func releasedRSAKeyLeavesNoCopyInMemory() throws {
        var key: PrivateKey? = try PrivateKey.generateRSA(bitCount: 1024)
        let trace = SecretTrace(of: try #require(key).externalRepresentation)
        _ = try key?.signRSA([1], .pkcs1)
        var read = PrivateKey(try #require(key).externalRepresentation, type: .rsa)
        #expect(read != nil)
        #expect(trace.copiesInMemory() == 1)
        key = nil
        read = nil
        #expect(trace.copiesInMemory() == 0)
    }

    @Test func generatingRSAKeysLeavesNoCopyInMemory() throws {
        // Several keys, because later work overwrites freed memory sooner or later.
        for _ in 0..<8 {
            let key = try PrivateKey.generateRSA(bitCount: 1024)
            #expect(SecretTrace(of: key.externalRepresentation).copiesInMemory() == 1)
        }
    }

    @Test func readingAndWritingPKCS8LeaveNoCopyInMemory() throws {
        let key = try PrivateKey.generate(.p256)
        let trace = SecretTrace(of: key.externalRepresentation)
        var form: SecretBytes? = key.pkcs8
        // The PKCS#8 form contains the scalar once, although not at its end.
        #expect(trace.copiesInMemory() == 2)
        var read = PrivateKey(pkcs8: try #require(form))
        #expect(trace.copiesInMemory() == 3)
        read = nil
        form = nil
        #expect(read == nil)
        #expect(trace.copiesInMemory() == 1)
    }

    @Test func sharedSecretHasOneCopyInMemory() throws {
        let (one, two) = (try PrivateKey.generate(.p384), try PrivateKey.generate(.p384))
        var secret: SecretBytes? = try one.agree(with: two.publicKey)
        let trace = SecretTrace(of: try #require(secret))
        #expect(trace.copiesInMemory() == 1)
        secret = nil
        #expect(trace.copiesInMemory() == 0)
    }
}
