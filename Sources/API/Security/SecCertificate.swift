// SPDX-License-Identifier: Apache-2.0

public import Foundation
package import LatchkeyCertificates

/// An X.509 certificate (RFC 5280).
///
/// Immutable, and safe to use from any thread. Created by `SecCertificateCreateWithData`, `SecPKCS12Import` and
/// `SecItemCopyMatching`. An instance is not evidence that the certificate can be trusted: nothing was verified.
///
/// Apple: `SecCertificate`.
public final class SecCertificate: NSObject, @unchecked Sendable {
    // Unchecked only because of NSObject: the one stored property is a constant of a Sendable type.
    package let certificate: Certificate

    package init(_ certificate: Certificate) { self.certificate = certificate }

    /// Returns whether another object is a certificate with the same DER encoding.
    ///
    /// - Parameter object: the object to compare with.
    /// - Returns: true for an equal `SecCertificate`; false for any other object and for nil.
    ///
    /// Apple: `CFEqual(_:_:)`.
    public override func isEqual(_ object: Any?) -> Bool { (object as? SecCertificate)?.certificate == certificate }

    /// Hash value, equal for equal certificates. Apple: `CFHash(_:)`.
    public override var hash: Int { certificate.hashValue }

    /// Text for logs: the type's name and the subject summary. Apple: `CFCopyDescription(_:)`.
    public override var description: String { "<SecCertificate \(certificate.subjectSummary ?? "without a name")>" }
}

/// Returns the type identifier of `SecCertificate`, as `CFGetTypeID` returns it. Apple: `SecCertificateGetTypeID()`.
@discardableResult
public func SecCertificateGetTypeID() -> CFTypeID { 0x4c4b_0003 }

/// Creates a certificate from its DER encoding.
///
/// - Parameters:
///   - allocator: ignored; pass nil.
///   - data: exactly one X.509 certificate in DER (RFC 5280, section 4.1), at most 1 MiB. PEM text is not accepted.
/// - Returns: the certificate; nil when the data is not strict DER, is not a certificate, has further bytes after it,
///   or has a serial number of more than 37 bytes.
///
/// Does not block and does not prompt. Verifies neither the signature nor the validity period.
///
/// Apple: `SecCertificateCreateWithData(_:_:)`.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    data.withUnsafeBytes { Certificate(der: Array($0)) }.map { SecCertificate($0) }
}

/// Returns the DER encoding of a certificate.
///
/// - Parameter certificate: the certificate.
/// - Returns: the bytes that the certificate was created from.
///
/// Does not block and does not prompt.
///
/// Apple: `SecCertificateCopyData(_:)`.
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    Data(certificate.certificate.der) as NSData
}

/// Returns a name of a certificate's subject for the user.
///
/// - Parameter certificate: the certificate.
/// - Returns: the first of these that the certificate has: the subject's common names (with its description in
///   brackets), its organisational units, its organisations, all values of the subject, the first e-mail address, the
///   first DNS name; nil when it has none. Several values are joined with commas, the last one first.
///
/// Does not block and does not prompt.
///
/// Apple: `SecCertificateCopySubjectSummary(_:)`.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.certificate.subjectSummary.map { $0 as NSString }
}

/// Returns the common name of a certificate's subject; the last one if there are several.
///
/// - Parameters:
///   - certificate: the certificate.
///   - commonName: set to the name; unchanged on failure.
/// - Returns: `errSecSuccess`, or -26276 when the subject has no common name, as on Apple systems.
///
/// Does not block and does not prompt.
///
/// Apple: `SecCertificateCopyCommonName(_:_:)`.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    guard let name = certificate.certificate.commonName else { return errSecInternal }
    commonName.pointee = name as NSString
    return errSecSuccess
}

/// Returns the e-mail addresses of a certificate.
///
/// - Parameters:
///   - certificate: the certificate.
///   - emailAddresses: set to an array of strings: the addresses among the subject alternative names, then those in the
///     subject; empty when there are none.
/// - Returns: always `errSecSuccess`.
///
/// Does not block and does not prompt.
///
/// Apple: `SecCertificateCopyEmailAddresses(_:_:)`.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    emailAddresses.pointee = certificate.certificate.emailAddresses as NSArray
    return errSecSuccess
}

/// Returns the serial number of a certificate.
///
/// - Parameters:
///   - certificate: the certificate.
///   - error: never set, since every certificate has a serial number. May be nil.
/// - Returns: the contents of the DER INTEGER: big-endian, with a leading zero byte when the first byte would exceed
///   0x7f.
///
/// Does not block and does not prompt.
///
/// Apple: `SecCertificateCopySerialNumberData(_:_:)`.
@discardableResult
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(certificate.certificate.serialNumber) as NSData
}

/// Returns the serial number of a certificate; former form of `SecCertificateCopySerialNumberData`.
///
/// - Parameter certificate: the certificate.
/// - Returns: the bytes that `SecCertificateCopySerialNumberData` returns.
///
/// Apple: `SecCertificateCopySerialNumber(_:)`.
@available(*, deprecated, renamed: "SecCertificateCopySerialNumberData(_:_:)")
@discardableResult
public func SecCertificateCopySerialNumber(_ certificate: SecCertificate) -> CFData? {
    SecCertificateCopySerialNumberData(certificate, nil)
}

/// Returns the start of a certificate's validity period.
///
/// - Parameter certificate: the certificate.
/// - Returns: the first moment at which the certificate is valid, never nil.
///
/// Does not block and does not prompt.
///
/// Apple: `SecCertificateCopyNotValidBeforeDate(_:)`.
@discardableResult
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    NSDate(timeIntervalSince1970: Double(certificate.certificate.notBefore) / 1_000_000)
}

/// Returns the end of a certificate's validity period.
///
/// - Parameter certificate: the certificate.
/// - Returns: the last moment at which the certificate is valid, never nil.
///
/// Does not block and does not prompt.
///
/// Apple: `SecCertificateCopyNotValidAfterDate(_:)`.
@discardableResult
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    NSDate(timeIntervalSince1970: Double(certificate.certificate.notAfter) / 1_000_000)
}

/// The code `errSecInternal` of Apple's sources, which no public header declares (behaviour OT-03).
let errSecInternal: OSStatus = -26276
