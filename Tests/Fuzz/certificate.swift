// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the readers of certificates, names and times in DER. `scripts/fuzz 60 certificate` runs it.

import LatchkeyCertificates

/// Reads one input and describes how it violates the property; nil when it does not.
func complaint(aboutCertificate bytes: [UInt8]) -> String? {
    if let normal = DistinguishedName.normalized(bytes), DistinguishedName.normalized(normal) != normal {
        return "normalising a name twice changes it"
    }
    _ = CertificateTime.utcTime.microseconds(bytes)
    _ = CertificateTime.generalizedTime.microseconds(bytes)
    guard let certificate = Certificate(der: bytes) else { return nil }
    if certificate.der != bytes { return "a certificate differs from its input" }
    if Certificate(der: bytes + [0]) != nil { return "accepts a trailing byte" }
    if certificate.publicKeyHash.count != 20 { return "the public key hash does not have 20 bytes" }
    _ = certificate.namesAsIssuer(certificate)
    return nil
}
