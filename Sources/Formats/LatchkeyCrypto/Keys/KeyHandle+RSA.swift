// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
import LatchkeyModel

/// The numbers of an RSA private key, in the order of PKCS#1 (RFC 8017, appendix A.1.2); big-endian magnitudes.
///
/// Borrows its bytes from the encoded key.
struct RSAPrivateNumbers {
    let modulus: UnsafeRawBufferPointer
    let publicExponent: UnsafeRawBufferPointer
    let privateExponent: UnsafeRawBufferPointer
    let factors: [UnsafeRawBufferPointer]
    /// d mod (p - 1) and d mod (q - 1).
    let exponents: [UnsafeRawBufferPointer]
    /// The inverse of q modulo p.
    let coefficient: UnsafeRawBufferPointer

    /// Whether the numbers form one key: n = pq, ed = 1 modulo p - 1 and q - 1, and the CRT exponents and coefficient
    /// match.
    ///
    /// Does not test p and q for primality: that takes as long as generating a key, and a key with composite factors
    /// is weak only for the party that constructed it.
    var areConsistent: Bool {
        guard factors.count == 2, exponents.count == 2, let context = BN_CTX_secure_new() else { return false }
        defer { BN_CTX_free(context) }
        var made: [OpaquePointer] = []
        defer { for number in made { BN_clear_free(number) } }
        func number(_ bytes: UnsafeRawBufferPointer) -> OpaquePointer? {
            guard let number = BigNumber.make(bytes) else { return nil }
            made.append(number)
            return number
        }
        func modulo(_ left: OpaquePointer, _ modulus: OpaquePointer) -> OpaquePointer? {
            guard let result = BN_secure_new() else { return nil }
            made.append(result)
            return BN_nnmod(result, left, modulus, context) == 1 ? result : nil
        }
        func isOne(_ left: OpaquePointer, times right: OpaquePointer, modulo modulus: OpaquePointer) -> Bool {
            guard let result = BN_secure_new() else { return false }
            made.append(result)
            return BN_mod_mul(result, left, right, modulus, context) == 1 && BN_is_one(result) == 1
        }
        let one = BN_value_one()
        guard let n = number(modulus), let e = number(publicExponent), let d = number(privateExponent),
            let inverse = number(coefficient), let product = BN_secure_new()
        else { return false }
        made.append(product)
        var primes: [OpaquePointer] = []
        for (factor, exponent) in zip(factors, exponents) {
            guard let prime = number(factor), let part = number(exponent), BN_is_odd(prime) == 1,
                BN_is_one(prime) == 0, let before = number(factor), BN_sub(before, prime, one) == 1,
                isOne(d, times: e, modulo: before), let expected = modulo(d, before), BN_cmp(expected, part) == 0
            else { return false }
            primes.append(prime)
        }
        return BN_mul(product, primes[0], primes[1], context) == 1 && BN_cmp(product, n) == 0
            && BN_cmp(d, n) < 0 && BN_cmp(inverse, primes[0]) < 0
            && isOne(inverse, times: primes[1], modulo: primes[0])
    }
}

extension KeyHandle {
    /// Creates a public key from its modulus and exponent, big-endian.
    static func rsa(modulus: UnsafeRawBufferPointer, exponent: UnsafeRawBufferPointer) -> KeyHandle? {
        let numbers = ParameterList()
        numbers.add(.modulus, number: modulus)
        numbers.add(.publicExponent, number: exponent)
        return KeyHandle(kind: "RSA", selection: latchkey_pkey_public_key(), numbers)
    }

    /// Creates a key pair; the caller must have checked `areConsistent`.
    static func rsa(_ parts: RSAPrivateNumbers) -> KeyHandle? {
        let numbers = ParameterList()
        numbers.add(.modulus, number: parts.modulus)
        numbers.add(.publicExponent, number: parts.publicExponent)
        numbers.add(.privateExponent, number: parts.privateExponent)
        for index in 0..<2 {
            numbers.add(ParameterName.factors[index], number: parts.factors[index])
            numbers.add(ParameterName.exponents[index], number: parts.exponents[index])
        }
        numbers.add(.coefficient, number: parts.coefficient)
        return KeyHandle(kind: "RSA", selection: latchkey_pkey_keypair(), numbers)
    }

    /// Generates a random key pair with the public exponent 65537; nil on failure, or when `progress` returned false.
    static func generateRSA(bitCount: Int, progress: (() -> Bool)?) -> KeyHandle? {
        generate(kind: "RSA", progress: progress) {
            EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(clamping: bitCount)) == 1
        }
    }

    /// The key pair as a PKCS#1 `RSAPrivateKey` in DER.
    func rsaPrivateKey() -> SecretBytes? {
        let count = Int(latchkey_rsa_private_key(key, nil))
        guard count > 0 else { return nil }
        var written = 0
        let encoded = SecretBytes(count: count) { written = Int(latchkey_rsa_private_key(key, $0.octets)) }
        return written == count ? encoded : nil
    }

    /// Signs; the signature is as long as the modulus. nil when the input does not fit the padding or the key.
    func signRSA(_ input: [UInt8], _ padding: RSASignaturePadding) -> [UInt8]? {
        run { context in
            guard EVP_PKEY_sign_init(context) == 1, configure(context, padding) else { return nil }
            return output { EVP_PKEY_sign(context, $0, $1, input, input.count) }
        }
    }

    /// Whether `signature` is a valid signature of the input.
    func verifyRSA(_ input: [UInt8], _ padding: RSASignaturePadding, signature: [UInt8]) -> Bool {
        run { context in
            EVP_PKEY_verify_init(context) == 1 && configure(context, padding)
                && EVP_PKEY_verify(context, signature, signature.count, input, input.count) == 1 ? true : nil
        } ?? false
    }

    /// Encrypts; the ciphertext is as long as the modulus. nil when the input does not fit the padding.
    func encryptRSA(_ plaintext: SecretBytes, _ padding: RSAEncryptionPadding) -> [UInt8]? {
        run { context in
            guard EVP_PKEY_encrypt_init(context) == 1, configure(context, padding) else { return nil }
            return plaintext.withBytes { plain in
                output { EVP_PKEY_encrypt(context, $0, $1, plain.octets, plain.count) }
            }
        }
    }

    /// Decrypts; nil when the ciphertext or its padding is invalid.
    func decryptRSA(_ ciphertext: [UInt8], _ padding: RSAEncryptionPadding) -> SecretBytes? {
        run { context in
            guard EVP_PKEY_decrypt_init(context) == 1, configure(context, padding) else { return nil }
            var count = Int(EVP_PKEY_get_size(key))
            var isMade = false
            let room = SecretBytes(count: count) { target in
                isMade = EVP_PKEY_decrypt(context, target.octets, &count, ciphertext, ciphertext.count) == 1
            }
            guard isMade, count <= room.count else { return nil }
            return room.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }

    private func output(_ body: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>) -> Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
        var count = bytes.count
        guard body(&bytes, &count) == 1, count == bytes.count else { return nil }
        return bytes
    }

    private func configure(_ context: OpaquePointer, _ padding: RSASignaturePadding) -> Bool {
        switch padding {
        case .none: EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1
        case .pkcs1: EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        case .pkcs1Digest(let digest):
            EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
                && EVP_PKEY_CTX_set_signature_md(context, digest.method) == 1
        case .pss(let digest):
            EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_signature_md(context, digest.method) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest.method) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, Int32(digest.byteCount)) == 1
        }
    }

    private func configure(_ context: OpaquePointer, _ padding: RSAEncryptionPadding) -> Bool {
        switch padding {
        case .none: EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1
        case .pkcs1: EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        case .oaep(let digest, let label):
            EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_oaep_md(context, digest.method) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest.method) == 1
                && (label.isEmpty || configure(context, label: label))
        }
    }

    private func configure(_ context: OpaquePointer, label: [UInt8]) -> Bool {
        // libcrypto copies the label from the parameter, and does not write to it.
        var label = label
        return label.withUnsafeMutableBytes { label in
            // The parameter keeps the address of its name, so that must not be a string of this call alone.
            let parameters = [
                OSSL_PARAM_construct_octet_string(ParameterName.oaepLabel.pointer, label.baseAddress, label.count),
                OSSL_PARAM_construct_end(),
            ]
            return EVP_PKEY_CTX_set_params(context, parameters) == 1
        }
    }
}
