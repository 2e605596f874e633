// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the reader of PKCS#12 files. A mutation cannot match the MAC, so each input is also opened
// without verifying it. Iterations are limited, so that time is spent on parsing. `scripts/fuzz 60 pkcs12` runs it.
//

import LatchkeyCertificates
import LatchkeyCrypto
import LatchkeyModel

/// The entry point of libFuzzer, called with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let passphrase = SecretBytes(Array("secret".utf8))
    let opened = PKCS12.open(bytes, passphrase: passphrase, iterations: 64, publicKeyHash: hash)
    let unauthenticated = PKCS12.testOnlyOpenUnauthenticated(
        bytes, passphrase: passphrase, iterations: 64, publicKeyHash: hash)
    if case .success = opened, case .failure(let refusal) = unauthenticated, refusal != .tooMuchWork {
        fatalError("an authentic file is rejected when its MAC is ignored")
    }
    for identity in (try? unauthenticated.get()) ?? [] where identity.chain.first != identity.certificate {
        fatalError("a chain does not begin with its own certificate")
    }
    return 0
}

private func hash(of key: SecretBytes) -> [UInt8]? {
    guard let external = PrivateKey(pkcs8: key)?.publicKey.externalRepresentation else { return nil }
    return external.withUnsafeBytes { try? DigestAlgorithm.sha1.hash($0) }
}
