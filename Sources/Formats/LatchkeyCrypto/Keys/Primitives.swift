// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import LatchkeyModel

/// libcrypto's algorithms, fetched once: a fetch costs more than hashing a short message.
private struct Methods: @unchecked Sendable {
    // Fetched algorithms are reference-counted, immutable and documented as thread-safe.
    let sha1 = EVP_MD_fetch(nil, "SHA1", nil)
    let sha224 = EVP_MD_fetch(nil, "SHA224", nil)
    let sha256 = EVP_MD_fetch(nil, "SHA256", nil)
    let sha384 = EVP_MD_fetch(nil, "SHA384", nil)
    let sha512 = EVP_MD_fetch(nil, "SHA512", nil)
    let aes128GCM = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)
    let aes256GCM = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)

    static let shared = Methods()
}

extension DigestAlgorithm {
    var method: OpaquePointer? {
        switch self {
        case .sha1: Methods.shared.sha1
        case .sha224: Methods.shared.sha224
        case .sha256: Methods.shared.sha256
        case .sha384: Methods.shared.sha384
        case .sha512: Methods.shared.sha512
        }
    }

    /// Computes the digest of a message; throws `internalFailure` when libcrypto fails.
    package func hash(_ message: UnsafeRawBufferPointer) throws(Failure) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        guard EVP_Digest(message.baseAddress, message.count, &digest, nil, method, nil) == 1 else {
            throw Failure(.internalFailure, "libcrypto could not hash")
        }
        return digest
    }

    /// Derives `byteCount` bytes with the ANSI X9.63 key derivation (SEC 1, section 3.6.1) from a secret and shared
    /// info.
    package func derive(
        _ secret: SecretBytes, sharedInfo: [UInt8], byteCount wanted: Int
    ) throws(Failure) -> SecretBytes {
        guard let context = EVP_MD_CTX_new() else { throw DigestAlgorithm.notDerived }
        defer { EVP_MD_CTX_free(context) }
        var isMade = true
        let blocks = (wanted + byteCount - 1) / byteCount
        // Derives whole digests and cuts the result to length: the last digest may exceed the requested bytes.
        let derived = SecretBytes(count: blocks * byteCount) { target in
            for block in 0..<blocks {
                let output = UnsafeMutableRawBufferPointer(rebasing: target[(block * byteCount)...]).octets
                isMade =
                    isMade && digestBlock(context, secret, UInt32(truncatingIfNeeded: block + 1), sharedInfo, output)
            }
        }
        guard isMade else { throw DigestAlgorithm.notDerived }
        return derived.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<wanted])) }
    }

    private static let notDerived = Failure(.internalFailure, "libcrypto could not derive a key")

    private func digestBlock(
        _ context: OpaquePointer, _ secret: SecretBytes, _ counter: UInt32, _ sharedInfo: [UInt8],
        _ output: UnsafeMutablePointer<UInt8>?
    ) -> Bool {
        secret.withBytes { secret in
            withUnsafeBytes(of: counter.bigEndian) { counter in
                EVP_DigestInit_ex2(context, method, nil) == 1
                    && EVP_DigestUpdate(context, secret.baseAddress, secret.count) == 1
                    && EVP_DigestUpdate(context, counter.baseAddress, counter.count) == 1
                    && EVP_DigestUpdate(context, sharedInfo, sharedInfo.count) == 1
                    && EVP_DigestFinal_ex(context, output, nil) == 1
            }
        }
    }
}

/// AES-GCM (SP 800-38D) with a key of 16 or 32 bytes, a nonce of 16 bytes and a tag of 16 bytes.
///
/// Each key must be used for one message only; a fixed zero nonce is safe for that reason alone.
package enum OneTimeCipher {
    package static let tagBytes = 16
    package static let nonceBytes = 16

    /// Encrypts, and returns ciphertext ‖ tag.
    package static func seal(
        _ plaintext: SecretBytes, key: SecretBytes, nonce: SecretBytes, authenticating associated: [UInt8] = []
    ) throws(Failure) -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: plaintext.count + tagBytes)
        let isSealed = plaintext.withBytes { plain in
            sealed.withUnsafeMutableBytes { output in
                run(
                    key, nonce, associated, direction: 1, plain, output.octets,
                    tag: output.baseAddress.map { $0 + plain.count })
            }
        }
        guard isSealed else { throw Failure(.internalFailure, "libcrypto could not encrypt") }
        return sealed
    }

    /// Decrypts ciphertext ‖ tag; nil when authentication fails.
    package static func open(
        _ sealed: ArraySlice<UInt8>, key: SecretBytes, nonce: SecretBytes, authenticating associated: [UInt8] = []
    ) -> SecretBytes? {
        guard sealed.count >= tagBytes else { return nil }
        var isOpen = false
        let plaintext = SecretBytes(count: sealed.count - tagBytes) { output in
            isOpen = sealed.withUnsafeBytes { bytes in
                run(
                    key, nonce, associated, direction: 0, UnsafeRawBufferPointer(rebasing: bytes[..<output.count]),
                    output.octets, tag: UnsafeMutableRawPointer(mutating: bytes.baseAddress.map { $0 + output.count }))
            }
        }
        // Unauthenticated plaintext is discarded.
        return isOpen ? plaintext : nil
    }

    /// Encrypts and writes the tag (`direction` 1), or decrypts and verifies the tag (`direction` 0).
    private static func run(
        _ key: SecretBytes, _ nonce: SecretBytes, _ associated: [UInt8], direction: Int32,
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutablePointer<UInt8>?, tag: UnsafeMutableRawPointer?
    ) -> Bool {
        guard key.count == 16 || key.count == 32, nonce.count == nonceBytes, let context = EVP_CIPHER_CTX_new() else {
            return false
        }
        defer { EVP_CIPHER_CTX_free(context) }
        // As `discardingErrors` does.
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        let method = key.count == 16 ? Methods.shared.aes128GCM : Methods.shared.aes256GCM
        guard EVP_CipherInit_ex2(context, method, nil, nil, direction, nil) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonceBytes), nil) == 1,
            key.withBytes({ key in
                nonce.withBytes { EVP_CipherInit_ex2(context, nil, key.octets, $0.octets, direction, nil) == 1 }
            }),
            associated.withUnsafeBytes({ update(context, $0, nil) }), update(context, input, output),
            direction == 1 || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), tag) == 1
        else { return false }
        var written: Int32 = 0
        var rest: UInt8 = 0
        guard EVP_CipherFinal_ex(context, &rest, &written) == 1 else { return false }
        return direction == 0 || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), tag) == 1
    }

    /// Feeds the input in steps of at most 1 GiB: libcrypto takes lengths as 32-bit integers.
    private static func update(
        _ context: OpaquePointer, _ input: UnsafeRawBufferPointer, _ output: UnsafeMutablePointer<UInt8>?
    ) -> Bool {
        var offset = 0
        while offset < input.count {
            let step = min(input.count - offset, 1 << 30)
            var written: Int32 = 0
            let source = input.octets.map { $0 + offset }
            guard EVP_CipherUpdate(context, output.map { $0 + offset }, &written, source, Int32(step)) == 1 else {
                return false
            }
            offset += step
        }
        return true
    }
}

/// Computes the digest of a message in pieces, so that a file of any length needs little memory.
package final class RunningDigest {
    private let context: OpaquePointer
    private let algorithm: DigestAlgorithm

    /// Starts an empty message.
    package init(_ algorithm: DigestAlgorithm) throws(Failure) {
        guard let context = EVP_MD_CTX_new() else { throw RunningDigest.failure }
        self.context = context
        self.algorithm = algorithm
        guard EVP_DigestInit_ex2(context, algorithm.method, nil) == 1 else { throw RunningDigest.failure }
    }

    deinit { EVP_MD_CTX_free(context) }

    package func add(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else { throw RunningDigest.failure }
    }

    /// Returns the digest of all pieces and starts a new, empty message.
    package func finish() throws(Failure) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: algorithm.byteCount)
        guard EVP_DigestFinal_ex(context, &digest, nil) == 1,
            EVP_DigestInit_ex2(context, algorithm.method, nil) == 1
        else { throw RunningDigest.failure }
        return digest
    }

    private static let failure = Failure(.internalFailure, "libcrypto could not hash")
}

extension DigestAlgorithm {
    /// Computes the digest of a message; throws `internalFailure` when libcrypto fails.
    package func hash(_ message: [UInt8]) throws(Failure) -> [UInt8] {
        let digest = try RunningDigest(self)
        try SecretBytes(message).withBytes { (bytes) throws(Failure) in try digest.add(bytes) }
        return try digest.finish()
    }
}

/// Verifies signatures of Ed25519 (RFC 8032), with which other programs sign. Latchkey has no such keys of its own.
package enum Ed25519 {
    package static let publicKeyBytes = 32
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
