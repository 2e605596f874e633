// SPDX-License-Identifier: Apache-2.0

internal import CServerOpenSSL

// Only this file and those named `LibCrypto+...` call libcrypto; no C type is visible outside them.

/// A computation of libcrypto failed, for example because memory is exhausted.
package struct CryptoFailure: Error {
    package init() {}
}

/// The functions of libcrypto that the relying party uses. All compute in the calling thread and do not block.
package enum LibCrypto {
    /// SHA-256, looked up once: `SHA256` looks it up each time, which takes longer than the digest of a challenge. Nil if
    /// libcrypto does not have it; then nothing is accepted.
    // Only ever read.
    nonisolated(unsafe) private static let algorithm: OpaquePointer? = EVP_MD_fetch(nil, "SHA256", nil)

    /// The SHA-256 digest: 32 bytes.
    package static func sha256(_ bytes: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        guard let algorithm, EVP_Digest(bytes, bytes.count, &digest, nil, algorithm, nil) == 1 else {
            throw CryptoFailure()
        }
        return digest
    }

    /// HMAC-SHA-256 (RFC 2104): 32 bytes.
    package static func hmac(_ key: SecretBytes, _ bytes: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let done = key.withBytes { key in
            HMAC(EVP_sha256(), key.baseAddress, CInt(clamping: key.count), bytes, bytes.count, &code, &count) != nil
        }
        guard done, count == 32 else { throw CryptoFailure() }
        return code
    }

    /// HKDF-SHA-256 (RFC 5869) without salt: 32 bytes.
    package static func derive(_ secret: SecretBytes, _ information: [UInt8]) throws(CryptoFailure) -> SecretBytes {
        var zeros = [UInt8](repeating: 0, count: 32)
        var input = secret.withBytes { Array($0) }
        defer { overwrite(&input) }
        var extracted = try hmac(SecretBytes(taking: &zeros), input)
        var expanded = try hmac(SecretBytes(taking: &extracted), information + [1])
        return SecretBytes(taking: &expanded)
    }

    /// Random bytes of libcrypto's generator.
    package static func random(_ count: Int) throws(CryptoFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, count))
        guard RAND_bytes(&bytes, CInt(clamping: bytes.count)) == 1 else { throw CryptoFailure() }
        return bytes
    }

    /// Encrypts and authenticates with AES-256-GCM (NIST SP 800-38D).
    ///
    /// - Parameters:
    ///   - secret: what is encrypted.
    ///   - key: the key, 32 bytes.
    ///   - nonce: the nonce, 12 bytes, unique for this key.
    ///   - context: what is authenticated and not part of the result.
    /// - Returns: nonce, ciphertext and tag of 16 bytes.
    package static func seal(
        _ secret: UnsafeRawBufferPointer, under key: SecretBytes, nonce: [UInt8], authenticating context: [UInt8]
    ) throws(CryptoFailure) -> [UInt8] {
        guard key.count == 32, nonce.count == 12, let cipher = EVP_CIPHER_CTX_new() else { throw CryptoFailure() }
        defer { EVP_CIPHER_CTX_free(cipher) }
        var sealed = [UInt8](repeating: 0, count: secret.count)
        var tag = [UInt8](repeating: 0, count: 16)
        var count: CInt = 0
        let isBegun = key.withBytes { key in
            EVP_EncryptInit_ex(
                cipher, EVP_aes_256_gcm(), nil, key.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce) == 1
        }
        guard isBegun, EVP_EncryptUpdate(cipher, nil, &count, context, CInt(clamping: context.count)) == 1,
            EVP_EncryptUpdate(
                cipher, &sealed, &count, secret.baseAddress?.assumingMemoryBound(to: UInt8.self),
                CInt(clamping: secret.count)) == 1,
            Int(count) == secret.count, EVP_EncryptFinal_ex(cipher, &tag, &count) == 1, count == 0,
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1
        else { throw CryptoFailure() }
        return nonce + sealed + tag
    }

    /// Decrypts what ``seal(_:under:nonce:authenticating:)`` made; nil for other bytes, another key or another context.
    package static func open(
        _ sealed: [UInt8], under key: SecretBytes, authenticating context: [UInt8]
    ) throws(CryptoFailure) -> SecretBytes? {
        guard sealed.count > 28 else { return nil }
        guard key.count == 32, let cipher = EVP_CIPHER_CTX_new() else { throw CryptoFailure() }
        defer { EVP_CIPHER_CTX_free(cipher) }
        let (nonce, body) = (Array(sealed[..<12]), Array(sealed[12..<(sealed.count - 16)]))
        var tag = Array(sealed[(sealed.count - 16)...])
        var plain = [UInt8](repeating: 0, count: body.count)
        defer { overwrite(&plain) }
        var (count, rest): (CInt, CInt) = (0, 0)
        let isBegun = key.withBytes { key in
            EVP_DecryptInit_ex(
                cipher, EVP_aes_256_gcm(), nil, key.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce) == 1
        }
        guard isBegun, EVP_DecryptUpdate(cipher, nil, &count, context, CInt(clamping: context.count)) == 1,
            EVP_DecryptUpdate(cipher, &plain, &count, body, CInt(clamping: body.count)) == 1,
            Int(count) == body.count, EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1
        else { throw CryptoFailure() }
        var end = [UInt8](repeating: 0, count: 16)
        // Nothing was given out before the tag is verified.
        guard EVP_DecryptFinal_ex(cipher, &end, &rest) == 1 else { return nil }
        return SecretBytes(taking: &plain)
    }

    /// Compares two sequences in a time that depends on their lengths only.
    package static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// Overwrites an array with zeros. Copies that share its memory until now keep the bytes.
    static func overwrite(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { overwrite($0) }
    }

    static func overwrite(_ memory: UnsafeMutableRawBufferPointer) {
        if let start = memory.baseAddress { OPENSSL_cleanse(start, memory.count) }
    }

    /// Whether 65 bytes `04 ‖ x ‖ y` are a point on P-256.
    package static func isPoint(_ point: [UInt8]) -> Bool { withKey(point) { _ in true } }

    /// Whether an ECDSA signature in DER is valid for the SHA-256 digest of a message.
    ///
    /// libcrypto encodes the numbers again and compares, so trailing bytes and other encodings are refused. High values
    /// of s are accepted.
    static func verify(_ signature: [UInt8], _ message: [UInt8], _ point: [UInt8]) -> Bool {
        withKey(point) { key in
            let digest: [UInt8]
            do throws(CryptoFailure) {
                digest = try sha256(message)
            } catch {
                return false
            }
            guard let context = EVP_PKEY_CTX_new(key, nil) else { return false }
            defer { EVP_PKEY_CTX_free(context) }
            return EVP_PKEY_verify_init(context) == 1
                && EVP_PKEY_verify(context, signature, signature.count, digest, digest.count) == 1
        }
    }

    /// A key on P-256 from which the others are copied: libcrypto takes ten microseconds for a copy with another point,
    /// and 250 to decode a SubjectPublicKeyInfo. Nil if libcrypto has no P-256; then no point is accepted.
    // Only ever read: `EVP_PKEY_dup` does not change it.
    nonisolated(unsafe) private static let template: OpaquePointer? = {
        let information = P256PublicKey.prefix + P256PublicKey.basePoint
        return information.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_PUBKEY(nil, &position, bytes.count)
        }
    }()

    /// Calls a function with the key that has a point; false for a point that is not on the curve.
    private static func withKey(_ point: [UInt8], _ body: (OpaquePointer) -> Bool) -> Bool {
        // What libcrypto refuses leaves errors in the queue of this thread.
        defer { ERR_clear_error() }
        guard point.count == 65, point[0] == 4, let template, let key = EVP_PKEY_dup(template) else { return false }
        defer { EVP_PKEY_free(key) }
        // Checks that the point is on the curve. The order of P-256 is prime, so every such point is a key.
        guard EVP_PKEY_set1_encoded_public_key(key, point, point.count) == 1 else { return false }
        return body(key)
    }
}
