// SPDX-License-Identifier: Apache-2.0

internal import CServerHTTP

/// Why a certificate cannot be used.
package enum TLSCertificateError: Error {
    /// The text has no certificate in PEM, more than 10, or something else.
    case notCertificates
    /// The text is no private key in PEM, or one with a password.
    case notPrivateKey
    /// The private key belongs to another certificate than the first one.
    case otherKey
}

/// A certificate with the certificates that lead to its root, and its private key.
package final class TLSCertificate: @unchecked Sendable {
    // Neither changes between `init` and `deinit`; GnuTLS only reads them.
    let chain: UnsafeMutablePointer<gnutls_pcert_st>
    let count: UInt32
    let privateKey: gnutls_privkey_t
    /// When the certificate expires, in seconds since 1970.
    package let expiry: Int64

    private static let most: UInt32 = 10

    /// Reads PEM.
    ///
    /// - Parameters:
    ///   - certificates: the certificate of the server first, then those of its issuers.
    ///   - privateKey: its private key, without a password. The caller overwrites these bytes.
    package init(certificates: [UInt8], privateKey text: [UInt8]) throws(TLSCertificateError) {
        let chain = UnsafeMutablePointer<gnutls_pcert_st>.allocate(capacity: Int(Self.most))
        chain.initialize(repeating: gnutls_pcert_st(), count: Int(Self.most))
        var count = Self.most
        let isChain = Self.withDatum(certificates) { datum in
            gnutls_pcert_list_import_x509_raw(
                chain, &count, datum, GNUTLS_X509_FMT_PEM, GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED.rawValue) == 0
        }
        guard isChain, count > 0 else {
            chain.deallocate()
            throw .notCertificates
        }
        var key: gnutls_privkey_t?
        let isKey =
            gnutls_privkey_init(&key) == 0
            && Self.withDatum(text) { datum in
                gnutls_privkey_import_x509_raw(key, datum, GNUTLS_X509_FMT_PEM, nil, 0) == 0
            }
        guard let key, isKey, let expiry = Self.expiry(chain.pointee.cert), Self.belongs(key, chain.pointee.pubkey)
        else {
            if let key { gnutls_privkey_deinit(key) }
            Self.release(chain, count)
            throw isKey ? .otherKey : .notPrivateKey
        }
        (self.chain, self.count, privateKey, self.expiry) = (chain, count, key, expiry)
    }

    deinit {
        gnutls_privkey_deinit(privateKey)
        Self.release(chain, count)
    }

    private static func release(_ chain: UnsafeMutablePointer<gnutls_pcert_st>, _ count: UInt32) {
        for index in 0..<Int(count) { gnutls_pcert_deinit(chain + index) }
        chain.deallocate()
    }

    private static func withDatum(_ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Bool) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            // GnuTLS only reads the bytes; a copy would be one of a private key.
            var datum = gnutls_datum_t(
                data: UnsafeMutablePointer(mutating: buffer.baseAddress), size: UInt32(clamping: buffer.count))
            return body(&datum)
        }
    }

    private static func expiry(_ certificate: gnutls_datum_t) -> Int64? {
        var (read, datum): (gnutls_x509_crt_t?, gnutls_datum_t) = (nil, certificate)
        guard gnutls_x509_crt_init(&read) == 0 else { return nil }
        defer { gnutls_x509_crt_deinit(read) }
        guard gnutls_x509_crt_import(read, &datum, GNUTLS_X509_FMT_DER) == 0 else { return nil }
        let time = gnutls_x509_crt_get_expiration_time(read)
        return time < 0 ? nil : Int64(time)
    }

    /// Whether the private key is that of a public key.
    private static func belongs(_ privateKey: gnutls_privkey_t, _ certified: gnutls_pubkey_t?) -> Bool {
        var own: gnutls_pubkey_t?
        guard gnutls_pubkey_init(&own) == 0 else { return false }
        defer { gnutls_pubkey_deinit(own) }
        guard gnutls_pubkey_import_privkey(own, privateKey, 0, 0) == 0, let left = identifier(own),
            let right = identifier(certified)
        else { return false }
        return left == right
    }

    private static func identifier(_ key: gnutls_pubkey_t?) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        let flags = GNUTLS_KEYID_USE_SHA256.rawValue
        return gnutls_pubkey_get_key_id(key, flags, &bytes, &count) == 0 ? Array(bytes.prefix(count)) : nil
    }
}
