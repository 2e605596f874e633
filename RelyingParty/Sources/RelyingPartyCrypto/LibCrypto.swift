// SPDX-License-Identifier: Apache-2.0

internal import CServerOpenSSL

// Only this file calls libcrypto; no C type is visible outside it.

/// A computation of libcrypto failed, for example because memory is exhausted.
package struct CryptoFailure: Error {
    package init() {}
}

/// The functions of libcrypto that the relying party uses. All compute in the calling thread and do not block.
package enum LibCrypto {
    /// The SHA-256 digest: 32 bytes.
    package static func sha256(_ bytes: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        guard SHA256(bytes, bytes.count, &digest) != nil else { throw CryptoFailure() }
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

    /// Whether libcrypto reads the bytes, a SubjectPublicKeyInfo in DER, to the end as a public key; it checks that a
    /// point is on its curve.
    static func isPublicKey(_ information: [UInt8]) -> Bool { withKey(information) { _ in true } ?? false }

    /// Whether an ECDSA signature in DER is valid for the SHA-256 digest of a message.
    ///
    /// libcrypto encodes the numbers again and compares, so trailing bytes and other encodings are refused. High values
    /// of s are accepted.
    static func verify(_ signature: [UInt8], _ message: [UInt8], _ information: [UInt8]) -> Bool {
        withKey(information) { key in
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            let valid =
                EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
                && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
            // A refused signature leaves errors in the queue of this thread.
            if !valid { ERR_clear_error() }
            return valid
        } ?? false
    }

    private static func withKey(_ information: [UInt8], _ body: (OpaquePointer) -> Bool) -> Bool? {
        information.withUnsafeBufferPointer { bytes -> Bool? in
            var position = bytes.baseAddress
            guard let key = d2i_PUBKEY(nil, &position, bytes.count) else {
                ERR_clear_error()
                return nil
            }
            defer { EVP_PKEY_free(key) }
            guard let start = bytes.baseAddress, position == start + bytes.count else { return nil }
            return body(key)
        }
    }
}
