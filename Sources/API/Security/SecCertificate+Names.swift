// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCertificates
import LatchkeyCrypto

/// Returns the normalised issuer of a certificate, for comparing names byte by byte.
///
/// - Parameter certificate: the certificate.
/// - Returns: a DER SEQUENCE. In printable strings, a to z are replaced by A to Z, spaces at both ends are removed and
///   every run of spaces becomes one space; values of other string types are unchanged.
///
/// Does not block and does not prompt.
///
/// Apple: `SecCertificateCopyNormalizedIssuerSequence(_:)`.
@discardableResult
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    Data(certificate.certificate.normalizedIssuer) as NSData
}

/// Returns the normalised subject of a certificate, for comparing names byte by byte.
///
/// - Parameter certificate: the certificate.
/// - Returns: a DER SEQUENCE, normalised as `SecCertificateCopyNormalizedIssuerSequence` describes.
///
/// Does not block and does not prompt.
///
/// Apple: `SecCertificateCopyNormalizedSubjectSequence(_:)`.
@discardableResult
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    Data(certificate.certificate.normalizedSubject) as NSData
}

/// Returns the contents of the normalised issuer of a certificate, without the outer SEQUENCE header.
///
/// - Parameters:
///   - certificate: the certificate.
///   - error: never set. May be nil.
/// - Returns: the contents of the sequence that `SecCertificateCopyNormalizedIssuerSequence` returns.
///
/// Does not block and does not prompt.
///
/// Apple: `SecCertificateCopyNormalizedIssuerContent(_:_:)`.
@available(*, deprecated, renamed: "SecCertificateCopyNormalizedIssuerSequence(_:)")
@discardableResult
public func SecCertificateCopyNormalizedIssuerContent(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(certificate.certificate.normalizedIssuerContent) as NSData
}

/// Returns the contents of the normalised subject of a certificate, without the outer SEQUENCE header.
///
/// - Parameters:
///   - certificate: the certificate.
///   - error: never set. May be nil.
/// - Returns: the contents of the sequence that `SecCertificateCopyNormalizedSubjectSequence` returns.
///
/// Does not block and does not prompt.
///
/// Apple: `SecCertificateCopyNormalizedSubjectContent(_:_:)`.
@available(*, deprecated, renamed: "SecCertificateCopyNormalizedSubjectSequence(_:)")
@discardableResult
public func SecCertificateCopyNormalizedSubjectContent(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(certificate.certificate.normalizedSubjectContent) as NSData
}

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
