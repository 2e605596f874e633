// SPDX-License-Identifier: Apache-2.0

// Only this file of this module calls libcrypto; no C type is visible outside it.

internal import COpenSSL

/// A certificate that libcrypto parsed.
final class ParsedCertificate: @unchecked Sendable {
    // libcrypto's certificates are reference-counted and safe to share between threads.
    fileprivate let certificate: OpaquePointer

    /// Parses exactly one certificate in DER; nil for any other bytes.
    init?(_ der: [UInt8]) {
        // libcrypto's error queue belongs to the thread; errors of this call must not be left there.
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

    /// The contents of the public key's BIT STRING: PKCS#1 for RSA, the uncompressed point for elliptic curves.
    var publicKeyBits: [UInt8] {
        guard let bits = X509_get0_pubkey_bitstr(certificate) else { return [] }
        let count = Int(max(0, ASN1_STRING_length(bits)))
        return Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(bits), count: count))
    }

    /// Whether the extended key usage says that the certificate is one of an endorsement key (`tcg-kp-EKCertificate`,
    /// "TCG EK Credential Profile for TPM Family 2.0", section 3.2.16).
    var isForEndorsement: Bool {
        read(NID_ext_key_usage, free: EXTENDED_KEY_USAGE_free) { usages in
            (0..<max(0, OPENSSL_sk_num(usages))).contains { index in
                guard let usage = OPENSSL_sk_value(usages, index) else { return false }
                return Self.identifier(OpaquePointer(usage)) == "2.23.133.8.1"
            }
        } ?? false
    }

    /// The manufacturer and the model of the TPM in the subject alternative name (the same document, section 3.1.2); nil
    /// unless the certificate names both.
    var device: (manufacturer: String, model: String)? {
        read(NID_subject_alt_name, free: GENERAL_NAMES_free) { names in
            var found: [String: String] = [:]
            for index in 0..<max(0, latchkey_general_name_count(names)) {
                var type: Int32 = 0
                guard let value = GENERAL_NAME_get0_value(latchkey_general_name_at(names, index), &type),
                    type == GEN_DIRNAME
                else { continue }
                let name = OpaquePointer(value)
                for entry in 0..<max(0, X509_NAME_entry_count(name)) {
                    guard let entry = X509_NAME_get_entry(name, entry),
                        let text = Self.text(X509_NAME_ENTRY_get_data(entry))
                    else { continue }
                    found[Self.identifier(X509_NAME_ENTRY_get_object(entry)), default: ""] += text
                }
            }
            guard let manufacturer = found["2.23.133.2.1"], let model = found["2.23.133.2.2"] else { return nil }
            return (manufacturer, model)
        }
    }

    private func read<Value>(
        _ number: Int32, free: (OpaquePointer) -> Void, _ body: (OpaquePointer) -> Value?
    ) -> Value? {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let decoded = X509_get_ext_d2i(certificate, number, nil, nil) else { return nil }
        let value = OpaquePointer(decoded)
        defer { free(value) }
        return body(value)
    }

    /// An object identifier in dotted form.
    private static func identifier(_ object: OpaquePointer?) -> String {
        var text = [CChar](repeating: 0, count: 80)
        let count = Int(OBJ_obj2txt(&text, Int32(text.count), object, 1))
        guard count > 0, count < text.count else { return "" }
        return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func text(_ string: UnsafePointer<ASN1_STRING>?) -> String? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&bytes, string)
        guard count >= 0, let bytes else { return nil }
        defer { latchkey_openssl_free(bytes) }
        return String(validating: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }
}

/// The pinned certificates, from which every chain must begin.
struct TrustAnchors: Sendable {
    let roots: [ParsedCertificate]
    let intermediates: [ParsedCertificate]

    /// Returns nil if a chain of valid certificates leads to this one, and otherwise the reason.
    ///
    /// - Parameters:
    ///   - sent: further certificates of issuers, which need not be trustworthy.
    ///   - seconds: the time at which all certificates must be valid, since 1970.
    func complaint(about certificate: ParsedCertificate, _ sent: [ParsedCertificate], at seconds: Int64) -> String? {
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
            if isValid { return nil }
            let error = X509_STORE_CTX_get_error(context)
            return String(cString: X509_verify_cert_error_string(Int(error)))
        }
    }

    private static let failed = "libcrypto could not verify the chain"
}
