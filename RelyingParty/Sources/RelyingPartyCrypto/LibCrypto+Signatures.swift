// SPDX-License-Identifier: Apache-2.0

internal import CServerOpenSSL

// The signatures of passkeys that are not ECDSA.

extension LibCrypto {
    /// Whether a signature of RSASSA-PKCS1-v1_5 is valid for the SHA-256 digest of a message (RFC 8017, section 8.2.2).
    ///
    /// - Parameter key: the SubjectPublicKeyInfo in DER, whose numbers the caller has checked.
    package static func verifyRSA(_ signature: [UInt8], _ message: [UInt8], _ key: [UInt8]) -> Bool {
        let made = key.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            return d2i_PUBKEY(nil, &position, bytes.count)
        }
        return verify(signature, message, made) { EVP_PKEY_is_a($0, "RSA") == 1 ? EVP_sha256() : nil }
    }

    /// Whether a signature of Ed25519 is valid for a message (RFC 8032, section 5.1.7).
    ///
    /// - Parameter key: the public key, 32 bytes.
    package static func verifyEd25519(_ signature: [UInt8], _ message: [UInt8], _ key: [UInt8]) -> Bool {
        guard key.count == 32 else { return false }
        // Ed25519 digests the message itself.
        return verify(signature, message, EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, key, key.count)) { _ in
            .some(nil)
        }
    }

    /// - Parameters:
    ///   - key: the key, which is freed; nil if it cannot be read.
    ///   - digest: the digest of the key's algorithm; nil for a key of another algorithm.
    private static func verify(
        _ signature: [UInt8], _ message: [UInt8], _ key: OpaquePointer?, _ digest: (OpaquePointer) -> OpaquePointer??
    ) -> Bool {
        // What libcrypto refuses leaves errors in the queue of this thread.
        defer { ERR_clear_error() }
        guard let key else { return false }
        defer { EVP_PKEY_free(key) }
        guard let digest = digest(key), let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
