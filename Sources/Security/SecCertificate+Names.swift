// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCertificates

/// The issuer's name, so that equal names have equal bytes. Apple: `SecCertificateCopyNormalizedIssuerSequence`.
///
/// - Returns: a DER SEQUENCE in which printable strings are in upper case, without blanks at their ends and with one space
///   for each row of blanks inside; all other values are as they were.
@discardableResult
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    Data(certificate.certificate.normalizedIssuer) as NSData
}

/// The subject's name, so that equal names have equal bytes. Apple: `SecCertificateCopyNormalizedSubjectSequence`.
///
/// - Returns: a DER SEQUENCE, made as `SecCertificateCopyNormalizedIssuerSequence` says.
@discardableResult
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    Data(certificate.certificate.normalizedSubject) as NSData
}

/// The contents of the normalised issuer, without the SEQUENCE around. Apple: `SecCertificateCopyNormalizedIssuerContent`.
///
/// - Parameters:
///   - certificate: the certificate.
///   - error: never set.
@available(*, deprecated, renamed: "SecCertificateCopyNormalizedIssuerSequence(_:)")
@discardableResult
public func SecCertificateCopyNormalizedIssuerContent(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(certificate.certificate.normalizedIssuerContent) as NSData
}

/// The contents of the normalised subject, without the SEQUENCE around. Apple:
/// `SecCertificateCopyNormalizedSubjectContent`.
///
/// - Parameters:
///   - certificate: the certificate.
///   - error: never set.
@available(*, deprecated, renamed: "SecCertificateCopyNormalizedSubjectSequence(_:)")
@discardableResult
public func SecCertificateCopyNormalizedSubjectContent(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(certificate.certificate.normalizedSubjectContent) as NSData
}
