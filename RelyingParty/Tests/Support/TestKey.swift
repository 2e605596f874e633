// SPDX-License-Identifier: Apache-2.0

import CServerOpenSSL
package import RelyingPartyCrypto
import Testing

/// A key pair of libcrypto.
package final class TestKey: @unchecked Sendable {
    // Only the initialiser changes the key.
    private let key: OpaquePointer

    package init() throws {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        EVP_PKEY_keygen_init(context)
        EVP_PKEY_CTX_set_group_name(context, "P-256")
        EVP_PKEY_generate(context, &made)
        key = try #require(made)
    }

    deinit { EVP_PKEY_free(key) }

    package var der: [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(key, &bytes)
        defer { CRYPTO_free(bytes, nil, 0) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    package var publicKey: P256PublicKey { get throws { try #require(try P256PublicKey(der: der)) } }

    package func sign(_ message: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key)
        var signature = [UInt8](repeating: 0, count: 80)
        var count = signature.count
        EVP_DigestSign(context, &signature, &count, message, message.count)
        return Array(signature[..<count])
    }
}
