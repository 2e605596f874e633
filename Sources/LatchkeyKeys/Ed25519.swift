// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Verifies signatures of Ed25519 (RFC 8032), with which other programs sign. Latchkey has no such keys of its own.
package enum Ed25519 {
    /// Bytes of a public key.
    package static let publicKeyBytes = 32
    /// Bytes of a signature.
    package static let signatureBytes = 64

    /// Whether `signature` is a valid signature of the message; false for a key or a signature of another length.
    package static func verifies(_ message: [UInt8], signature: [UInt8], publicKey: [UInt8]) -> Bool {
        guard publicKey.count == publicKeyBytes, signature.count == signatureBytes else { return false }
        return discardingErrors {
            guard let key = EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, publicKey, publicKey.count) else {
                return false
            }
            defer { EVP_PKEY_free(key) }
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            return EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key, nil) == 1
                && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        }
    }
}
