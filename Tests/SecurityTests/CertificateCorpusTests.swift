// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import LatchkeyModel
import Security
import Testing

/// The corpora of the fuzzers of certificates and PKCS#12 files.
@Suite struct CertificateCorpusTests {
    private func inputs(_ name: String) throws -> [(name: String, bytes: [UInt8])] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(components: "Fuzz", "corpus", name)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
    }

    @Test func certificatesOfTheCorpusAreReadOrRefused() throws {
        let inputs = try inputs("certificate")
        let read = inputs.filter { input in
            let certificate = Certificate(der: input.bytes)
            #expect(certificate?.der ?? input.bytes == input.bytes, "\(input.name)")
            return certificate != nil
        }
        #expect(Set(["addresses", "authority", "centuries", "units"]).isSubset(of: read.map(\.name)))
    }

    @Test func filesOfTheCorpusAreReadOrRefused() throws {
        let passphrase = SecretBytes(Array("secret".utf8))
        let read = try inputs("pkcs12").filter { input in
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
