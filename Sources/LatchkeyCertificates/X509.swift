// SPDX-License-Identifier: Apache-2.0

// Only this file and PKCS12File.swift of this module call libcrypto; no C type is visible outside it.

internal import COpenSSL
import LatchkeyKeys

/// The attribute types of a name that this module distinguishes.
enum NameAttribute: Sendable {
    case commonName, organizationalUnit, organization, descriptionText, emailAddress, other
}

/// A certificate parsed by libcrypto; exists only while a `Certificate` is initialised from it.
final class X509 {
    private let certificate: OpaquePointer

    /// Parses exactly one certificate. The caller has checked that the bytes are DER, since libcrypto also accepts BER.
    init?(der: [UInt8]) {
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

    /// SHA-1 of the contents of the public key's BIT STRING.
    var publicKeyHash: [UInt8]? {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let bits = X509_get0_pubkey_bitstr(certificate) else { return nil }
        let key = OpenSSLBytes.contents(bits)
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

    // MARK: - Extensions

    /// Decodes an extension.
    ///
    /// An extension that occurs twice, which RFC 5280 forbids, and a non-critical one that cannot be decoded count as
    /// absent.
    ///
    /// - Returns: nil when the extension is critical and cannot be decoded; the certificate must then be rejected.
    private func value<Value>(
        of extension: Int32, free: (UnsafeMutableRawPointer) -> Void, read: (UnsafeMutableRawPointer) -> Value?
    ) -> ExtensionValue<Value>? {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        var isCritical: Int32 = 0
        guard let decoded = X509_get_ext_d2i(certificate, `extension`, &isCritical, nil) else {
            return isCritical == 1 ? nil : .absent
        }
        defer { free(decoded) }
        guard let value = read(decoded) else { return isCritical == 1 ? nil : .absent }
        return .present(value)
    }

    enum ExtensionValue<Value> {
        case absent
        case present(Value)

        var value: Value? {
            if case .present(let value) = self { value } else { nil }
        }
    }

    /// The subject key identifier extension.
    var subjectKeyIdentifier: ExtensionValue<[UInt8]>? {
        value(
            of: NID_subject_key_identifier,
            free: { ASN1_OCTET_STRING_free($0.assumingMemoryBound(to: asn1_string_st.self)) },
            read: { OpenSSLBytes.contents($0.assumingMemoryBound(to: asn1_string_st.self)) })
    }

    /// The key identifier in the authority key identifier extension; empty when the extension has none.
    var authorityKeyIdentifier: ExtensionValue<[UInt8]>? {
        value(
            of: NID_authority_key_identifier,
            free: { AUTHORITY_KEYID_free($0.assumingMemoryBound(to: AUTHORITY_KEYID_st.self)) },
            read: { identifier in
                let key = identifier.assumingMemoryBound(to: AUTHORITY_KEYID_st.self).pointee.keyid
                return key.map { OpenSSLBytes.contents($0) } ?? []
            })
    }

    /// The e-mail addresses and DNS names of the subjectAltName extension.
    var alternativeNames: ExtensionValue<(emailAddresses: [String], hosts: [String])>? {
        value(
            of: NID_subject_alt_name, free: { GENERAL_NAMES_free(OpaquePointer($0)) },
            read: { Self.texts(of: OpaquePointer($0)) })
    }

    /// The e-mail addresses and DNS names; nil when any of them is not ASCII.
    private static func texts(of names: OpaquePointer) -> (emailAddresses: [String], hosts: [String])? {
        var emailAddresses: [String] = []
        var hosts: [String] = []
        for index in 0..<max(0, latchkey_general_name_count(names)) {
            var type: Int32 = 0
            guard let value = GENERAL_NAME_get0_value(latchkey_general_name_at(names, index), &type),
                type == GEN_EMAIL || type == GEN_DNS
            else { continue }
            let bytes = OpenSSLBytes.contents(value.assumingMemoryBound(to: asn1_string_st.self))
            // An IA5String is ASCII; any other byte makes the whole extension unreadable, as on Apple's systems.
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
            let text = String(decoding: bytes, as: UTF8.self)
            if type == GEN_EMAIL { emailAddresses.append(text) } else { hosts.append(text) }
        }
        return (emailAddresses, hosts)
    }
}

/// Copies data out of libcrypto's objects.
enum OpenSSLBytes {
    /// The output of one of libcrypto's `i2d` functions (DER); nil when it fails.
    static func encode(_ function: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
        let count = Int(function(nil))
        guard count > 0 else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var position = buffer.baseAddress
            written = Int(function(&position)) == count ? count : 0
        }
        return bytes.count == count ? bytes : nil
    }

    /// The contents of an ASN.1 string.
    static func contents(_ string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(max(0, ASN1_STRING_length(string)))))
    }

    /// An ASN.1 string of any type converted to text; nil when it cannot be decoded.
    static func text(_ string: UnsafePointer<ASN1_STRING>?) -> String? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&bytes, string)
        guard count >= 0, let bytes else { return nil }
        defer { latchkey_openssl_free(bytes) }
        return String(validating: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }
}
