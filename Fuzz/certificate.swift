// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of certificates in DER, and of the names in them. `scripts/fuzz 60 certificate` runs it.
//

import LatchkeyCertificates

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let normal = DistinguishedName.normalized(bytes), DistinguishedName.normalized(normal) != normal {
        fatalError("normalising twice is not normalising once")
    }
    _ = CertificateTime.utcTime.microseconds(bytes)
    _ = CertificateTime.generalizedTime.microseconds(bytes)
    guard let certificate = Certificate(der: bytes) else { return 0 }
    if certificate.der != bytes { fatalError("a certificate is not its bytes") }
    if Certificate(der: bytes + [0]) != nil { fatalError("a byte behind a certificate is taken") }
    if certificate.publicKeyHash.count != 20 { fatalError("a hash is no SHA-1") }
    _ = certificate.namesAsIssuer(certificate)
    return 0
}
