// SPDX-License-Identifier: Apache-2.0

// The extensions of a certificate that this module reads.

internal import COpenSSL

extension X509 {
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

        var value: Value? { if case .present(let value) = self { value } else { nil } }
    }

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

    /// The attributes of all directory names in the subjectAltName extension, in their order: the type in dotted form,
    /// and the value. Values that cannot be decoded as text are left out. Empty without a readable extension.
    package var alternativeNameAttributes: [(type: String, text: String)] {
        let attributes = value(
            of: NID_subject_alt_name, free: { GENERAL_NAMES_free(OpaquePointer($0)) },
            read: { Self.attributes(of: OpaquePointer($0)) })
        return attributes?.value ?? []
    }

    private static func attributes(of names: OpaquePointer) -> [(type: String, text: String)] {
        var found: [(type: String, text: String)] = []
        for index in 0..<max(0, latchkey_general_name_count(names)) {
            var type: Int32 = 0
            guard let value = GENERAL_NAME_get0_value(latchkey_general_name_at(names, index), &type),
                type == GEN_DIRNAME
            else { continue }
            let name = OpaquePointer(value)
            for entry in 0..<max(0, X509_NAME_entry_count(name)) {
                guard let entry = X509_NAME_get_entry(name, entry),
                    let text = OpenSSLBytes.text(X509_NAME_ENTRY_get_data(entry))
                else { continue }
                found.append((OpenSSLBytes.identifier(X509_NAME_ENTRY_get_object(entry)), text))
            }
        }
        return found
    }

    /// The purposes in the extended key usage extension, in dotted form; empty without a readable extension.
    package var extendedKeyUsages: [String] {
        let usages = value(
            of: NID_ext_key_usage, free: { EXTENDED_KEY_USAGE_free(OpaquePointer($0)) },
            read: { usages in
                let usages = OpaquePointer(usages)
                return (0..<max(0, OPENSSL_sk_num(usages))).compactMap { index in
                    OPENSSL_sk_value(usages, index).map { OpenSSLBytes.identifier(OpaquePointer($0)) }
                }
            })
        return usages?.value ?? []
    }

    /// What the basic constraints and the key usage permit the key of a certificate to do.
    package struct Permissions: Equatable, Sendable {
        /// Whether the basic constraints permit to issue certificates; nil without basic constraints.
        package let isAuthority: Bool?
        /// The usages in the key usage extension; nil without it.
        package let usages: KeyUsages?

        /// Whether both permit to issue certificates, and neither is missing (RFC 5280, sections 4.2.1.3 and 4.2.1.9).
        package var permitsIssuing: Bool { isAuthority == true && usages?.contains(.certificateSigning) == true }
    }

    /// The usages of a key that a certificate permits (RFC 5280, section 4.2.1.3). The values are those of libcrypto.
    package struct KeyUsages: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let keyEncipherment = KeyUsages(rawValue: UInt32(KU_KEY_ENCIPHERMENT))
        package static let keyAgreement = KeyUsages(rawValue: UInt32(KU_KEY_AGREEMENT))
        package static let certificateSigning = KeyUsages(rawValue: UInt32(KU_KEY_CERT_SIGN))
        package static let listSigning = KeyUsages(rawValue: UInt32(KU_CRL_SIGN))
    }

    /// What the key may do; nil if an extension occurs twice or cannot be decoded.
    package var permissions: Permissions? { Self.permissions(certificate) }

    static func permissions(_ certificate: OpaquePointer) -> Permissions? {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        let flags = X509_get_extension_flags(certificate)
        guard flags & UInt32(EXFLAG_INVALID) == 0 else { return nil }
        return Permissions(
            isAuthority: flags & UInt32(EXFLAG_BCONS) == 0 ? nil : flags & UInt32(EXFLAG_CA) != 0,
            usages: flags & UInt32(EXFLAG_KUSAGE) == 0
                ? nil : KeyUsages(rawValue: X509_get_key_usage(certificate)))
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
