// SPDX-License-Identifier: Apache-2.0

// Only this file calls libcrypto for symmetric operations; no C type is visible outside it.

internal import COpenSSL
internal import Synchronization

/// Algorithms that are fetched once: a fetch costs more than sealing a short message.
private struct Algorithms: @unchecked Sendable {
    // Reference-counted, immutable and documented as safe to share between threads.
    let aes256GCM: OpaquePointer?
    let aes128CFB: OpaquePointer?
    let aes128CBC: OpaquePointer?
    let sha256: OpaquePointer?
    let hmac: OpaquePointer?

    static let shared = Algorithms(
        aes256GCM: EVP_CIPHER_fetch(nil, "AES-256-GCM", nil),
        aes128CFB: EVP_CIPHER_fetch(nil, "AES-128-CFB", nil),
        aes128CBC: EVP_CIPHER_fetch(nil, "AES-128-CBC", nil),
        sha256: EVP_MD_fetch(nil, "SHA256", nil),
        hmac: EVP_MAC_fetch(nil, "HMAC", nil))
}

/// Calls to libcrypto. A result of false or nil means that the library itself failed, for example out of memory; but
/// false from `open` means that authentication failed.
enum OpenSSL {
    static let tagBytes = 16

    /// AES-256-GCM. Writes ciphertext and tag to `output`, which must have room for both.
    static func seal(
        key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, plaintext: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard let context = EVP_CIPHER_CTX_new() else { return false }
        defer { EVP_CIPHER_CTX_free(context) }
        guard
            EVP_EncryptInit_ex2(context, Algorithms.shared.aes256GCM, key.octets, nonce.octets, nil) == 1
        else { return false }
        var written: Int32 = 0
        if !associated.isEmpty {
            guard EVP_EncryptUpdate(context, nil, &written, associated.octets, Int32(associated.count)) == 1 else {
                return false
            }
        }
        if !plaintext.isEmpty {
            guard
                EVP_EncryptUpdate(context, output.octets, &written, plaintext.octets, Int32(plaintext.count)) == 1,
                Int(written) == plaintext.count
            else { return false }
        }
        let tag = output.octets.map { $0 + plaintext.count }
        guard EVP_EncryptFinal_ex(context, tag, &written) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), tag) == 1
        else { return false }
        return true
    }

    /// AES-256-GCM. Returns false when authentication fails, nil when libcrypto fails.
    static func open(
        key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, sealed: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer
    ) -> Bool? {
        let count = sealed.count - tagBytes
        guard count >= 0 else { return false }
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        guard
            EVP_DecryptInit_ex2(context, Algorithms.shared.aes256GCM, key.octets, nonce.octets, nil) == 1
        else { return nil }
        var written: Int32 = 0
        if !associated.isEmpty {
            guard EVP_DecryptUpdate(context, nil, &written, associated.octets, Int32(associated.count)) == 1 else {
                return nil
            }
        }
        if count > 0 {
            guard EVP_DecryptUpdate(context, output.octets, &written, sealed.octets, Int32(count)) == 1 else {
                return nil
            }
        }
        let tag = UnsafeMutableRawPointer(mutating: sealed.baseAddress.map { $0 + count })
        guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), tag) == 1 else { return nil }
        var rest: UInt8 = 0
        return EVP_DecryptFinal_ex(context, &rest, &written) == 1
    }

    /// AES-128-CFB; `output` must be as long as `input`.
    static func cfb(
        encrypts: Bool, key: UnsafeRawBufferPointer, vector: UnsafeRawBufferPointer, _ input: UnsafeRawBufferPointer,
        output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard let context = EVP_CIPHER_CTX_new() else { return false }
        defer { EVP_CIPHER_CTX_free(context) }
        var written: Int32 = 0
        guard
            EVP_CipherInit_ex2(context, Algorithms.shared.aes128CFB, key.octets, vector.octets, encrypts ? 1 : 0, nil)
                == 1
        else { return false }
        return input.isEmpty
            || EVP_CipherUpdate(context, output.octets, &written, input.octets, Int32(input.count)) == 1
                && Int(written) == input.count
    }

    /// AES-128-CBC without padding: `input` is blocks of 16 bytes, and `output` as long.
    static func cbc(
        encrypts: Bool, key: UnsafeRawBufferPointer, vector: UnsafeRawBufferPointer, _ input: UnsafeRawBufferPointer,
        output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard let context = EVP_CIPHER_CTX_new() else { return false }
        defer { EVP_CIPHER_CTX_free(context) }
        var written: Int32 = 0
        return EVP_CipherInit_ex2(
            context, Algorithms.shared.aes128CBC, key.octets, vector.octets, encrypts ? 1 : 0, nil) == 1
            && EVP_CIPHER_CTX_set_padding(context, 0) == 1
            && EVP_CipherUpdate(context, output.octets, &written, input.octets, Int32(input.count)) == 1
            && Int(written) == input.count
    }

    /// SHA-256; `output` must be 32 bytes.
    static func hash(_ message: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer) -> Bool {
        var length: UInt32 = 0
        return EVP_Digest(
            message.baseAddress, message.count, output.octets, &length, Algorithms.shared.sha256, nil) == 1
            && length == 32
    }

    /// HMAC-SHA-256; `output` must be 32 bytes.
    static func hmac(
        key: UnsafeRawBufferPointer, _ message: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var length: UInt32 = 0
        return HMAC(
            Algorithms.shared.sha256, key.baseAddress, Int32(key.count), message.octets, message.count,
            output.octets, &length) != nil && length == 32
    }

    /// scrypt (RFC 7914) with r = 8 and p = 1; `rounds` is N.
    static func scrypt(
        password: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, rounds: UInt64,
        output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        EVP_PBE_scrypt(
            password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count, salt.octets, salt.count,
            rounds, 8, 1, 256 << 20, output.octets, output.count) == 1
    }

    /// Fills `output` from libcrypto's private random generator, which the kernel seeds.
    static func random(_ output: UnsafeMutableRawBufferPointer) -> Bool {
        output.isEmpty || RAND_priv_bytes(output.octets, Int32(output.count)) == 1
    }
}

/// HMAC-SHA-256 with a prepared key.
final class PreparedHMAC: Sendable {
    /// A context of libcrypto that holds its key. A message at a time is hashed in it: a copy of it for each message
    /// would cost as much as a short message.
    private struct Context: ~Copyable, @unchecked Sendable {
        let pointer: OpaquePointer

        deinit { EVP_MAC_CTX_free(pointer) }
    }

    private let context: Mutex<Context>

    init?(key: UnsafeRawBufferPointer) {
        guard let pointer = EVP_MAC_CTX_new(Algorithms.shared.hmac) else { return nil }
        context = Mutex(Context(pointer: pointer))
        var digest = Array("SHA256".utf8CString)
        // A parameter points to its name and its value; both live until the call returns.
        let isReady = OSSL_MAC_PARAM_DIGEST.withCString { name in
            digest.withUnsafeMutableBufferPointer { value in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(name, value.baseAddress, 0), OSSL_PARAM_construct_end(),
                ]
                return EVP_MAC_init(pointer, key.octets, key.count, parameters) == 1
            }
        }
        guard isReady else { return nil }
    }

    /// Writes the authentication code of `message` to `output`, which must be 32 bytes.
    func code(_ message: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer) -> Bool {
        context.withLock { context in
            var length = 0
            // Without a key it begins again with the one that it has (EVP_MAC(3)).
            return EVP_MAC_init(context.pointer, nil, 0, nil) == 1
                && EVP_MAC_update(context.pointer, message.octets, message.count) == 1
                && EVP_MAC_final(context.pointer, output.octets, &length, output.count) == 1 && length == output.count
        }
    }
}

extension UnsafeRawBufferPointer {
    var octets: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
    var octets: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
