// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the readers of certificates, names and times in DER. `scripts/fuzz 60 certificate` runs it.
//

import LatchkeyCertificates

/// The entry point of libFuzzer, called with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let normal = DistinguishedName.normalized(bytes), DistinguishedName.normalized(normal) != normal {
        fatalError("normalising a name twice changes it")
    }
    _ = CertificateTime.utcTime.microseconds(bytes)
    _ = CertificateTime.generalizedTime.microseconds(bytes)
    guard let certificate = Certificate(der: bytes) else { return 0 }
    if certificate.der != bytes { fatalError("a certificate differs from its input") }
    if Certificate(der: bytes + [0]) != nil { fatalError("accepts a trailing byte") }
    if certificate.publicKeyHash.count != 20 { fatalError("the public key hash does not have 20 bytes") }
    _ = certificate.namesAsIssuer(certificate)
    return 0
}
