// SPDX-License-Identifier: Apache-2.0

// Only X509.swift, X509+Extensions.swift and PKCS12File.swift of this module call libcrypto; no C type is visible outside it.

internal import COpenSSL
import LatchkeyCrypto

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

    /// An object identifier in dotted form; empty when it is longer than 79 characters.
    static func identifier(_ object: OpaquePointer?) -> String {
        var text = [CChar](repeating: 0, count: 80)
        let count = Int(OBJ_obj2txt(&text, Int32(text.count), object, 1))
        guard count > 0, count < text.count else { return "" }
        return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// Pinned certificates, and others that may be links of a chain to one of them.
///
/// This establishes no trust for the keychain, which verifies no chains: a relying party decides which certificates it
/// pins.
package struct CertificateChains: Sendable {
    private let roots: [X509]
    private let intermediates: [X509]

    package init(roots: [X509], intermediates: [X509]) { (self.roots, self.intermediates) = (roots, intermediates) }

    /// Returns nil if a chain of valid certificates leads to this one, and otherwise the reason.
    ///
    /// - Parameters:
    ///   - sent: further certificates of issuers, which need not be trustworthy.
    ///   - seconds: the time at which all certificates must be valid, since 1970.
    package func complaint(about certificate: X509, _ sent: [X509], at seconds: Int64) -> String? {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let store = X509_STORE_new() else { return Self.failed }
        defer { X509_STORE_free(store) }
        guard let others = OPENSSL_sk_new_null() else { return Self.failed }
        defer { OPENSSL_sk_free(others) }
        guard let context = X509_STORE_CTX_new() else { return Self.failed }
        defer { X509_STORE_CTX_free(context) }
        for root in roots where X509_STORE_add_cert(store, root.certificate) != 1 { return Self.failed }
        for other in intermediates + sent {
            guard OPENSSL_sk_push(others, UnsafeRawPointer(other.certificate)) > 0 else { return Self.failed }
        }
        guard X509_STORE_CTX_init(context, store, certificate.certificate, others) == 1,
            let parameters = X509_STORE_CTX_get0_param(context),
            // A chain may end at any pinned certificate, also at one of an issuer below the maker's root.
            X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1
        else { return Self.failed }
        X509_VERIFY_PARAM_set_time(parameters, time_t(seconds))
        // At least 112 bits of security in each signature and key of the chain, which excludes SHA-1.
        X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        let isValid = X509_verify_cert(context) == 1
        // The objects that the context refers to are alive until here.
        return withExtendedLifetime((self, certificate, sent)) {
            if isValid {
                return Self.issuers(context)?.allSatisfy(\.permitsIssuing) == true
                    ? nil : "an issuer below the pinned certificate may not issue certificates"
            }
            let error = X509_STORE_CTX_get_error(context)
            return String(cString: X509_verify_cert_error_string(Int(error)))
        }
    }

    /// What the issuers between a certificate and the pinned one may do; nil if libcrypto has no chain. libcrypto accepts
    /// issuers that have one of basic constraints and key usage only.
    private static func issuers(_ context: OpaquePointer) -> [X509.Permissions]? {
        guard let chain = X509_STORE_CTX_get0_chain(context), OPENSSL_sk_num(chain) > 0 else { return nil }
        let issuers = (0..<OPENSSL_sk_num(chain)).dropFirst().dropLast().map { index in
            OPENSSL_sk_value(chain, index).flatMap { X509.permissions(OpaquePointer($0)) }
        }
        let known = issuers.compactMap(\.self)
        return known.count == issuers.count ? known : nil
    }

    private static let failed = "libcrypto could not verify the chain"
}
