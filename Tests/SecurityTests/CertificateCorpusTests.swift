// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import LatchkeyModel
import Security
import TestSupport
import Testing

/// Replays the fuzzing corpora of certificates and PKCS#12 files.
@Suite struct CertificateCorpusTests {
    @Test func certificatesOfTheCorpusAreReadOrRefused() throws {
        let inputs = try Repository.inputs("certificate")
        let read = inputs.filter { input in
            let certificate = Certificate(der: input.bytes)
            #expect(certificate?.der ?? input.bytes == input.bytes, "\(input.name)")
            return certificate != nil
        }
        #expect(Set(["addresses", "authority", "centuries", "units"]).isSubset(of: read.map(\.name)))
    }

    @Test func filesOfTheCorpusAreReadOrRefused() throws {
        let passphrase = SecretBytes(Array("secret".utf8))
        let read = try Repository.inputs("pkcs12").filter { input in
            let opened = PKCS12.open(
                input.bytes, passphrase: passphrase, iterations: 64, publicKeyHash: publicKeyHash(ofPKCS8:))
            let all = PKCS12.testOnlyOpenUnauthenticated(
                input.bytes, passphrase: passphrase, iterations: 64, publicKeyHash: publicKeyHash(ofPKCS8:))
            if case .success = opened, case .failure = all { Issue.record("\(input.name)") }
            return (try? opened.get().count) == 1
        }
        #expect(Set(["3des", "aes", "clear"]).isSubset(of: read.map(\.name)))
    }
}
