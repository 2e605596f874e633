// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import LatchkeyCrypto

/// Returns the public key of a certificate.
///
/// - Parameter certificate: the certificate.
/// - Returns: the key; nil when it is neither an RSA key nor on P-256, P-384 or P-521, or is malformed.
///
/// Does not block and does not prompt. The key is not evidence that the certificate can be trusted.
///
/// Apple: `SecCertificateCopyKey(_:)`.
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    PublicKey(subjectPublicKeyInfo: certificate.certificate.subjectPublicKeyInfo).map { SecKey($0) }
}

/// Returns the public key of a certificate; former name of `SecCertificateCopyKey`.
///
/// - Parameter certificate: the certificate.
/// - Returns: the key, or nil as `SecCertificateCopyKey` describes.
///
/// Apple: `SecCertificateCopyPublicKey(_:)`.
@available(*, deprecated, renamed: "SecCertificateCopyKey(_:)")
@discardableResult
public func SecCertificateCopyPublicKey(_ certificate: SecCertificate) -> SecKey? { SecCertificateCopyKey(certificate) }
