// SPDX-License-Identifier: Apache-2.0

internal import CBenchOpenSSL

/// Floor: one key operation of libcrypto. The key is created once, and a context for each operation, as the manual of
/// libcrypto shows.
final class KeyFloor {
    private let isRSA: Bool
    private let key: OpaquePointer
    private let peer: OpaquePointer
    private let sha256 = EVP_MD_fetch(nil, "SHA256", nil)
    private let digest = [UInt8](repeating: 7, count: 32)
    private var signature = [UInt8](repeating: 0, count: 512)
    private var signatureCount = 0

    /// Generates two P-256 or two RSA keys of 2,048 bits.
    init(isRSA: Bool) throws(BenchFailure) {
        func make() -> OpaquePointer? {
            guard let context = EVP_PKEY_CTX_new_from_name(nil, isRSA ? "RSA" : "EC", nil) else { return nil }
            defer { EVP_PKEY_CTX_free(context) }
            var made: OpaquePointer?
            guard EVP_PKEY_keygen_init(context) == 1,
                isRSA
                    ? EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1
                    : EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1,
                EVP_PKEY_generate(context, &made) == 1
            else { return nil }
            return made
        }
        guard let key = make(), let peer = make() else { throw BenchFailure("libcrypto could not make a key.") }
        self.key = key
        self.peer = peer
        self.isRSA = isRSA
    }

    deinit {
        EVP_PKEY_free(key)
        EVP_PKEY_free(peer)
    }

    /// Signs a digest once.
    func sign(_ samples: inout Samples) throws(BenchFailure) {
        let isSigned = samples.time { () -> Bool in
            signatureCount = signature.count
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
            defer { EVP_PKEY_CTX_free(context) }
            return EVP_PKEY_sign_init(context) == 1 && prepare(context)
                && EVP_PKEY_sign(context, &signature, &signatureCount, digest, digest.count) == 1
        }
        guard isSigned else { throw BenchFailure("libcrypto could not sign.") }
    }

    /// Verifies the last signature once.
    func verify(_ samples: inout Samples) throws(BenchFailure) {
        let isGenuine = samples.time { () -> Bool in
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
            defer { EVP_PKEY_CTX_free(context) }
            return EVP_PKEY_verify_init(context) == 1 && prepare(context)
                && EVP_PKEY_verify(context, signature, signatureCount, digest, digest.count) == 1
        }
        guard isGenuine else { throw BenchFailure("libcrypto could not verify.") }
    }

    /// Computes an ECDH shared secret once, without validating the peer's point: an import validates it only once.
    func agree(_ samples: inout Samples) throws(BenchFailure) {
        var secret = [UInt8](repeating: 0, count: 32)
        let isAgreed = samples.time { () -> Bool in
            var count = secret.count
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
            defer { EVP_PKEY_CTX_free(context) }
            return EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer_ex(context, peer, 0) == 1
                && EVP_PKEY_derive(context, &secret, &count) == 1
        }
        guard isAgreed else { throw BenchFailure("libcrypto could not agree on a secret.") }
    }

    private func prepare(_ context: OpaquePointer) -> Bool {
        !isRSA
            || EVP_PKEY_CTX_set_rsa_padding(context, 1) == 1 && EVP_PKEY_CTX_set_signature_md(context, sha256) == 1
    }
}
