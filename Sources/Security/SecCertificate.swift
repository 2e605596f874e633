// SPDX-License-Identifier: Apache-2.0

public import Foundation
package import LatchkeyCertificates

/// An X.509 certificate. Apple: `SecCertificate`.
///
/// Immutable; made by `SecCertificateCreateWithData`, `SecPKCS12Import` and the keychain. Holding one says nothing about
/// whether it can be trusted.
public final class SecCertificate: NSObject, @unchecked Sendable {
    // The one stored property is a constant of a Sendable type; NSObject is what keeps the compiler from seeing it.
    package let certificate: Certificate

    package init(_ certificate: Certificate) { self.certificate = certificate }

    /// Whether both certificates have the same bytes.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? SecCertificate)?.certificate == certificate
    }

    /// Equal for equal certificates.
    public override var hash: Int { certificate.hashValue }

    /// What to call it, for people.
    public override var description: String { "<SecCertificate \(certificate.subjectSummary ?? "without a name")>" }
}

/// The type of `SecCertificate`, for `CFGetTypeID`.
@discardableResult
public func SecCertificateGetTypeID() -> CFTypeID { 0x4c4b_0003 }

/// Reads a certificate. Apple: `SecCertificateCreateWithData`.
///
/// - Parameters:
///   - allocator: ignored.
///   - data: exactly one certificate in DER, of at most 1 MiB; PEM text is none.
/// - Returns: the certificate; nil for anything else, also for a certificate with further bytes behind it. Does not block
///   and does not prompt.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    data.withUnsafeBytes { Certificate(der: Array($0)) }.map { SecCertificate($0) }
}

/// The bytes of a certificate in DER. Apple: `SecCertificateCopyData`.
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    Data(certificate.certificate.der) as NSData
}

/// What people would call a certificate. Apple: `SecCertificateCopySubjectSummary`.
///
/// - Returns: the common names of the subject, else its organisational units, else its organisations, else all its values,
///   joined with commas, the last one first; else the first e-mail address or DNS name; nil for a certificate that has
///   none of these.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.certificate.subjectSummary.map { $0 as NSString }
}

/// The subject's common name, the last one of several. Apple: `SecCertificateCopyCommonName`.
///
/// - Parameters:
///   - certificate: the certificate.
///   - commonName: set to the name; untouched without one.
/// - Returns: `errSecSuccess`, or -26276 for a certificate without a common name, as on Apple's systems.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    guard let name = certificate.certificate.commonName else { return errSecInternal }
    commonName.pointee = name as NSString
    return errSecSuccess
}

/// The e-mail addresses of a certificate. Apple: `SecCertificateCopyEmailAddresses`.
///
/// - Parameters:
///   - certificate: the certificate.
///   - emailAddresses: set to an array of strings, empty without any: those of the subject's alternative names, then those
///     of the subject.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    emailAddresses.pointee = certificate.certificate.emailAddresses as NSArray
    return errSecSuccess
}

/// The serial number of a certificate. Apple: `SecCertificateCopySerialNumberData`.
///
/// - Parameters:
///   - certificate: the certificate.
///   - error: never set: every certificate has a serial number.
/// - Returns: the contents of its INTEGER, big-endian; a zero byte stands in front of a first byte above 0x7f.
@discardableResult
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(certificate.certificate.serialNumber) as NSData
}

/// The serial number of a certificate. Apple: `SecCertificateCopySerialNumber`.
@available(*, deprecated, renamed: "SecCertificateCopySerialNumberData(_:_:)")
@discardableResult
public func SecCertificateCopySerialNumber(_ certificate: SecCertificate) -> CFData? {
    SecCertificateCopySerialNumberData(certificate, nil)
}

/// When a certificate becomes valid. Apple: `SecCertificateCopyNotValidBeforeDate`.
@discardableResult
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    NSDate(timeIntervalSince1970: Double(certificate.certificate.notBefore) / 1_000_000)
}

/// When a certificate ends to be valid; that moment is part of its validity. Apple: `SecCertificateCopyNotValidAfterDate`.
@discardableResult
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    NSDate(timeIntervalSince1970: Double(certificate.certificate.notAfter) / 1_000_000)
}

/// "errSecInternal" of Apple's sources, which no public header has (behaviour OT-03).
let errSecInternal: OSStatus = -26276
