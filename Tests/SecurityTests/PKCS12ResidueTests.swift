// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import LatchkeyCrypto
import LatchkeyModel
import Security
import TestSupport
import Testing

/// Searches the process's memory for copies of a private key after a PKCS#12 file was read.
@Suite struct PKCS12ResidueTests {
    @Test(arguments: [[], ["-legacy"], ["-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES"]])
    func keyLeavesNoCopyInMemoryAfterTheIdentityIsReleased(options: [String]) throws {
        // Generates a new key, because a shared one could be in the memory of another test.
        let openssl = try OpenSSLCommand()
        try openssl.succeed("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "own.key")
        try openssl.succeed(
            "req", "-x509", "-new", "-key", "own.key", "-subj", "/CN=own", "-days", "9", "-out", "own.pem")
        let file = try openssl.output(
            ["pkcs12", "-export", "-inkey", "own.key", "-in", "own.pem", "-passout", "pass:secret"] + options)
        let passphrase = SecretBytes(Array("secret".utf8))
        guard
            case .success(var identities) = PKCS12.open(
                Array(file), passphrase: passphrase, publicKeyHash: publicKeyHash(ofPKCS8:))
        else {
            try #require(options == ["-legacy"], "only legacy algorithms may be unsupported")
            return
        }
        let trace = try {
            let identity = try #require(identities.first)
            let key = try #require(PrivateKey(pkcs8: identity.privateKey))
            return SecretTrace(of: key.externalRepresentation)
        }()
        #expect(trace.copiesInMemory() == 1)
        identities = []
        #expect(trace.copiesInMemory() == 0)
    }
}
