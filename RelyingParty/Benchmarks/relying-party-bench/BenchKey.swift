// SPDX-License-Identifier: Apache-2.0

internal import CServerOpenSSL

/// A key pair on P-256, and a verification with a context that is prepared once, as `openssl speed` measures it.
final class BenchKey {
    private let key: OpaquePointer
    private let context: OpaquePointer
    /// The point without compression, 65 bytes.
    let point: [UInt8]

    init() {
        var key: OpaquePointer?
        let generator = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(generator) }
        var encoded: UnsafeMutablePointer<UInt8>?
        guard EVP_PKEY_keygen_init(generator) == 1, EVP_PKEY_CTX_set_group_name(generator, "P-256") == 1,
            EVP_PKEY_keygen(generator, &key) == 1, let key, let context = EVP_PKEY_CTX_new(key, nil),
            EVP_PKEY_verify_init(context) == 1, case let count = EVP_PKEY_get1_encoded_public_key(key, &encoded),
            let encoded
        else { fail("libcrypto makes no key") }
        self.key = key
        self.context = context
        point = Array(UnsafeBufferPointer(start: encoded, count: count))
        CRYPTO_free(encoded, nil, 0)
    }

    deinit {
        EVP_PKEY_CTX_free(context)
        EVP_PKEY_free(key)
    }

    /// An ECDSA signature of the SHA-256 digest, in DER.
    func sign(_ message: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 72)
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { return [] }
        return Array(signature.prefix(count))
    }

    func isValid(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
        var digest = [UInt8](repeating: 0, count: 32)
        SHA256(message, message.count, &digest)
        return EVP_PKEY_verify(context, signature, signature.count, digest, digest.count) == 1
    }
}
