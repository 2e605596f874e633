// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Pinned certificates, and others that may be links of a chain to one of them.
///
/// This establishes no trust for the keychain, which verifies no chains: a relying party decides which certificates it
/// pins.
package struct CertificateChains: Sendable {
    private let roots: [X509]
    private let intermediates: [X509]

    /// Creates a value from the pinned certificates and those that are not trusted by themselves.
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
            if isValid { return nil }
            let error = X509_STORE_CTX_get_error(context)
            return String(cString: X509_verify_cert_error_string(Int(error)))
        }
    }

    private static let failed = "libcrypto could not verify the chain"
}
