// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import LatchkeyKeys

/// The public key of a certificate. Apple: `SecCertificateCopyKey`.
///
/// - Returns: the key; nil for one that is neither RSA nor on P-256, P-384 or P-521, and for one that is malformed.
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    PublicKey(subjectPublicKeyInfo: certificate.certificate.subjectPublicKeyInfo).map { SecKey($0) }
}

/// The public key of a certificate. Apple: `SecCertificateCopyPublicKey`.
@available(*, deprecated, renamed: "SecCertificateCopyKey(_:)")
@discardableResult
public func SecCertificateCopyPublicKey(_ certificate: SecCertificate) -> SecKey? {
    SecCertificateCopyKey(certificate)
}
