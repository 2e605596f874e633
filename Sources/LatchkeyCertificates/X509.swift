// SPDX-License-Identifier: Apache-2.0

// Only the files X509*.swift, OpenSSLBytes.swift, CertificateChains.swift and PKCS12File.swift of this module call
// libcrypto; no C type is visible outside it.

internal import COpenSSL
import LatchkeyKeys

/// The attribute types of a name that this module distinguishes.
enum NameAttribute: Sendable {
    case commonName, organizationalUnit, organization, descriptionText, emailAddress, other
}

/// A certificate parsed by libcrypto.
///
/// A `Certificate` is initialised from one, and is what the keychain uses. Chains are verified with these.
package final class X509: @unchecked Sendable {
    // libcrypto's certificates are reference-counted, and functions that only read them may be called on all threads.
    let certificate: OpaquePointer

    /// Parses exactly one certificate. A caller that must have DER checks that first, since libcrypto also accepts BER.
    package init?(der: [UInt8]) {
        // libcrypto's error queue belongs to the thread, and the app's own calls would report errors left there.
        // Returning to the mark removes the errors of this call; other functions of this module do the same.
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        let made = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            guard let made = d2i_X509(nil, &position, bytes.count) else { return nil }
            guard let start = bytes.baseAddress, position == start + bytes.count else {
                X509_free(made)
                return nil
            }
            return made
        }
        guard let made else { return nil }
        certificate = made
    }

    deinit { X509_free(certificate) }

    /// X.509 version: 1, 2 or 3 (encoded as 0, 1 or 2).
    var version: Int { X509_get_version(certificate) + 1 }

    /// The contents of the serial number's INTEGER.
    var serialNumber: [UInt8]? {
        let number = X509_get0_serialNumber(certificate)
        guard let encoded = OpenSSLBytes.encode({ i2d_ASN1_INTEGER(number, $0) }) else { return nil }
        var rest = encoded[...]
        return DERElement(readingFrom: &rest).map { Array($0.contents) }
    }

    /// The subject, in DER.
    var subject: [UInt8]? {
        let name = X509_get_subject_name(certificate)
        return OpenSSLBytes.encode { i2d_X509_NAME(name, $0) }
    }

    /// The issuer, in DER.
    var issuer: [UInt8]? {
        let name = X509_get_issuer_name(certificate)
        return OpenSSLBytes.encode { i2d_X509_NAME(name, $0) }
    }

    /// The attributes of the subject in their order; `text` is nil for a value that cannot be decoded as text.
    var subjectValues: [(attribute: NameAttribute, text: String?)] {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        let name = X509_get_subject_name(certificate)
        return (0..<max(0, X509_NAME_entry_count(name))).compactMap { index in
            guard let entry = X509_NAME_get_entry(name, index) else { return nil }
            let attribute: NameAttribute =
                switch OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry)) {
                case NID_commonName: .commonName
                case NID_organizationalUnitName: .organizationalUnit
                case NID_organizationName: .organization
                case NID_description: .descriptionText
                case NID_pkcs9_emailAddress: .emailAddress
                default: .other
                }
            return (attribute, OpenSSLBytes.text(X509_NAME_ENTRY_get_data(entry)))
        }
    }

    /// The `SubjectPublicKeyInfo`, in DER.
    var subjectPublicKeyInfo: [UInt8]? {
        let key = X509_get_X509_PUBKEY(certificate)
        return OpenSSLBytes.encode { i2d_X509_PUBKEY(key, $0) }
    }

    /// The contents of the public key's BIT STRING: PKCS#1 for RSA, the uncompressed point for elliptic curves.
    package var publicKeyBits: [UInt8] {
        guard let bits = X509_get0_pubkey_bitstr(certificate) else { return [] }
        return OpenSSLBytes.contents(bits)
    }

    /// SHA-1 of the contents of the public key's BIT STRING.
    var publicKeyHash: [UInt8]? {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        let key = publicKeyBits
        guard !key.isEmpty else { return nil }
        return try? DigestAlgorithm.sha1.hash(key)
    }

    /// Start of the validity period, in microseconds since 1970.
    var notBefore: Int64? { Self.microseconds(X509_get0_notBefore(certificate)) }

    /// End of the validity period, in microseconds since 1970.
    var notAfter: Int64? { Self.microseconds(X509_get0_notAfter(certificate)) }

    private static func microseconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let time else { return nil }
        switch ASN1_STRING_type(time) {
        case V_ASN1_UTCTIME: return CertificateTime.utcTime.microseconds(OpenSSLBytes.contents(time))
        case V_ASN1_GENERALIZEDTIME: return CertificateTime.generalizedTime.microseconds(OpenSSLBytes.contents(time))
        default: return nil
        }
    }
}
