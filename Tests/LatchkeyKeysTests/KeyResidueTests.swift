// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeys
import LatchkeyModel
import TestSupport
import Testing

/// What stays in the process's memory after a private key was used. The last 16 bytes of a key of a curve are those of
/// its scalar; libcrypto keeps numbers in another order, which the search does not find.
@Suite struct KeyResidueTests {
    @Test(arguments: Curve.allCases) func aKeyThatWasUsedIsGone(curve: Curve) throws {
        var key: PrivateKey? = try PrivateKey.generate(curve)
        let trace = SecretTrace(of: try #require(key).externalRepresentation)
        _ = try key?.signECDSA([1])
        #expect(trace.copiesInMemory() == 1)
        key = nil
        #expect(trace.copiesInMemory() == 0)
    }

    @Test func anRSAKeyThatWasUsedIsGone() throws {
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

    @Test func readingAndWritingLeaveNoCopy() throws {
        let key = try PrivateKey.generate(.p256)
        let trace = SecretTrace(of: key.externalRepresentation)
        var form: SecretBytes? = key.pkcs8
        // The scalar is not at the end of PKCS#8, but it stands there once.
        #expect(trace.copiesInMemory() == 2)
        var read = PrivateKey(pkcs8: try #require(form))
        #expect(trace.copiesInMemory() == 3)
        read = nil
        form = nil
        #expect(read == nil)
        #expect(trace.copiesInMemory() == 1)
    }

    @Test func anAgreedSecretExistsOnce() throws {
        let (one, two) = (try PrivateKey.generate(.p384), try PrivateKey.generate(.p384))
        var secret: SecretBytes? = try one.agree(with: two.publicKey)
        let trace = SecretTrace(of: try #require(secret))
        #expect(trace.copiesInMemory() == 1)
        secret = nil
        #expect(trace.copiesInMemory() == 0)
    }
}
