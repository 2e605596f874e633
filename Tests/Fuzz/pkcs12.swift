// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the reader of PKCS#12 files. A mutation cannot match the MAC, so each input is also opened
// without verifying it. Iterations are limited, so that time is spent on parsing. `scripts/fuzz 60 pkcs12` runs it.

import LatchkeyCertificates
import LatchkeyCrypto
import LatchkeyModel

/// Reads one input and describes how it violates the property; nil when it does not.
func complaint(aboutPKCS12 bytes: [UInt8]) -> String? {
    let passphrase = SecretBytes(Array("secret".utf8))
    let opened = PKCS12.open(bytes, passphrase: passphrase, iterations: 64, publicKeyHash: hash)
    let unauthenticated = PKCS12.testOnlyOpenUnauthenticated(
        bytes, passphrase: passphrase, iterations: 64, publicKeyHash: hash)
    if case .success = opened, case .failure(let refusal) = unauthenticated, refusal != .tooMuchWork {
        return "an authentic file is rejected when its MAC is ignored"
    }
    for identity in (try? unauthenticated.get()) ?? [] where identity.chain.first != identity.certificate {
        return "a chain does not begin with its own certificate"
    }
    return nil
}

private func hash(of key: SecretBytes) -> [UInt8]? {
    guard let external = PrivateKey(pkcs8: key)?.publicKey.externalRepresentation else { return nil }
    return external.withUnsafeBytes { try? DigestAlgorithm.sha1.hash($0) }
}
