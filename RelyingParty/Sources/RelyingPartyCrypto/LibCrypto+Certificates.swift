// SPDX-License-Identifier: Apache-2.0

internal import CServerOpenSSL

extension LibCrypto {
    /// What ``X509Certificate`` has.
    struct CertificateFields {
        let version: Int
        let hasConstraints: Bool
        let isAuthority: Bool
        let publicKey: [UInt8]?
        let subject: [X509Certificate.Attribute: String]
    }

    /// Reads a certificate in DER; nil for anything else, and for trailing bytes.
    static func certificate(_ der: [UInt8]) -> CertificateFields? {
        withCertificate(der) { certificate in
            let flags = X509_get_extension_flags(certificate)
            // Extensions that cannot be read, or are there twice.
            guard flags & UInt32(EXFLAG_INVALID) == 0 else { return nil }
            var subject: [X509Certificate.Attribute: String] = [:]
            for attribute in X509Certificate.Attribute.allCases {
                subject[attribute] = text(X509_get_subject_name(certificate), attribute.number)
            }
            return CertificateFields(
                version: X509_get_version(certificate) + 1, hasConstraints: flags & UInt32(EXFLAG_BCONS) != 0,
                isAuthority: flags & UInt32(EXFLAG_CA) != 0, publicKey: publicKey(certificate), subject: subject)
        }
    }

    /// An extension of a certificate in DER.
    static func `extension`(_ identifier: String, of der: [UInt8]) -> X509Certificate.Extension {
        let found = withCertificate(der) { certificate -> X509Certificate.Extension? in
            guard let object = OBJ_txt2obj(identifier, 1) else { return nil }
            defer { ASN1_OBJECT_free(object) }
            let index = X509_get_ext_by_OBJ(certificate, object, -1)
            guard index >= 0 else { return .absent }
            guard X509_get_ext_by_OBJ(certificate, object, index) < 0 else { return .repeated }
            guard let found = X509_get_ext(certificate, index), let data = X509_EXTENSION_get_data(found) else {
                return nil
            }
            return .value(bytes(data), isCritical: X509_EXTENSION_get_critical(found) != 0)
        }
        // What cannot be read fulfils no demand.
        return found ?? .repeated
    }

    private static func withCertificate<Result>(_ der: [UInt8], _ body: (OpaquePointer) -> Result?) -> Result? {
        // What libcrypto refuses leaves errors in the queue of this thread.
        defer { ERR_clear_error() }
        return der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            guard let certificate = d2i_X509(nil, &position, bytes.count) else { return nil }
            defer { X509_free(certificate) }
            guard let start = bytes.baseAddress, let position, position - start == bytes.count else { return nil }
            return body(certificate)
        }
    }

    private static func publicKey(_ certificate: OpaquePointer) -> [UInt8]? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes)
        defer { CRYPTO_free(bytes, nil, 0) }
        guard count > 0, let bytes else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// The only attribute of this kind, as text.
    private static func text(_ name: OpaquePointer?, _ number: CInt) -> String? {
        let index = X509_NAME_get_index_by_NID(name, number, -1)
        guard index >= 0, X509_NAME_get_index_by_NID(name, number, index) < 0,
            let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)),
            // The specification demands these two.
            [V_ASN1_UTF8STRING, V_ASN1_PRINTABLESTRING].contains(ASN1_STRING_type(value))
        else { return nil }
        return String(validating: bytes(value), as: UTF8.self)
    }

    private static func bytes(_ string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
    }
}

extension X509Certificate.Attribute {
    fileprivate var number: CInt {
        switch self {
        case .country: NID_countryName
        case .organization: NID_organizationName
        case .unit: NID_organizationalUnitName
        case .commonName: NID_commonName
        }
    }
}
