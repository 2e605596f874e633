// SPDX-License-Identifier: Apache-2.0

internal import CServerOpenSSL

extension LibCrypto {
    /// Writes the public key into an elliptic curve key.
    ///
    /// GnuTLS reads such a key only with its public key, uncompressed. Other programs compress it, or leave it out, as
    /// Java does.
    ///
    /// - Parameter pem: a private key in PEM, without a password.
    /// - Returns: the key in PKCS#8 and PEM; nil for anything else, and if the public key in it is not that of the
    ///   private key.
    package static func statingPublicKey(pem: [UInt8]) -> SecretBytes? {
        // What libcrypto refuses leaves errors in the queue of this thread.
        defer { ERR_clear_error() }
        let key = pem.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            guard let input = BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count)) else { return nil }
            defer { BIO_free(input) }
            // Without this function libcrypto would ask for a password at the terminal.
            return PEM_read_bio_PrivateKey(input, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key else { return nil }
        defer { EVP_PKEY_free(key) }
        guard EVP_PKEY_is_a(key, "EC") == 1, let context = EVP_PKEY_CTX_new(key, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_check(context) == 1, EVP_PKEY_set_int_param(key, OSSL_PKEY_PARAM_EC_INCLUDE_PUBLIC, 1) == 1,
            EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed") == 1,
            let output = BIO_new(BIO_s_secmem())
        else { return nil }
        // Overwrites the memory.
        defer { BIO_free(output) }
        guard PEM_write_bio_PKCS8PrivateKey(output, key, nil, nil, 0, nil, nil) == 1 else { return nil }
        var text = [UInt8](repeating: 0, count: BIO_ctrl_pending(output))
        guard !text.isEmpty, BIO_read(output, &text, CInt(clamping: text.count)) == CInt(clamping: text.count) else {
            return nil
        }
        return SecretBytes(taking: &text)
    }
}
