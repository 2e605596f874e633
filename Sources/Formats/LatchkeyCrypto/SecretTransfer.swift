// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import LatchkeyModel

/// The encryption of secrets between two programs on a message bus, `dh-ietf1024-sha256-aes128-cbc-pkcs7` of the Secret
/// Service API: a key agreement in the second Oakley group, HKDF-SHA-256 without salt, and AES-128-CBC with PKCS #7
/// padding.
///
/// It hides secrets from a program that records the messages of the bus. It does not authenticate the other side; the bus
/// does.
package struct SecretTransferKey: Sendable {
    /// Length of a public key and of the shared secret.
    package static let groupBytes = 128
    /// Length of the key, of the vector and of a block.
    package static let blockBytes = 16

    private let key: SecretBytes

    /// One side of the key agreement.
    package struct Agreement: Sendable {
        /// Big-endian, 128 bytes.
        package let publicKey: [UInt8]
        private let privateKey: SecretBytes

        /// Makes a pair of keys.
        package init() throws(Failure) {
            privateKey = try randomSecret(SecretTransferKey.groupBytes)
            guard let made = OakleyGroup.power(of: nil, privateKey) else { throw SecretTransferKey.failure }
            publicKey = made.copyBytes()
        }

        /// The key that both sides derive; nil for a public key of the other side that determines the shared secret: 0, 1,
        /// -1 and what is not smaller than the prime. The order of all other numbers is a prime or twice a prime.
        package func key(with publicKey: SecretBytes) throws(Failure) -> SecretTransferKey? {
            guard publicKey.count <= 2 * SecretTransferKey.groupBytes, OakleyGroup.isSafe(publicKey) else { return nil }
            guard let shared = OakleyGroup.power(of: publicKey, privateKey) else { throw SecretTransferKey.failure }
            let extracted = try SymmetricKey.extracting(shared)
            return SecretTransferKey(key: try extracted.expanded(SecretTransferKey.blockBytes))
        }
    }

    /// Encrypts a secret.
    ///
    /// - Returns: the vector, 16 random bytes, and the ciphertext.
    package func seal(_ secret: SecretBytes) throws(Failure) -> (vector: SecretBytes, ciphertext: SecretBytes) {
        let vector = try randomSecret(Self.blockBytes)
        let padding = Self.blockBytes - secret.count % Self.blockBytes
        let padded = SecretBytes(count: secret.count + padding) { target in
            secret.withBytes { target.copyMemory(from: $0) }
            for index in secret.count..<target.count { target[index] = UInt8(padding) }
        }
        guard let ciphertext = crypt(padded, vector, encrypts: true) else { throw Self.failure }
        return (vector, ciphertext)
    }

    /// Decrypts a secret; nil if the vector does not have 16 bytes, or if it was not encrypted with this key.
    package func open(_ ciphertext: SecretBytes, vector: SecretBytes) throws(Failure) -> SecretBytes? {
        guard vector.count == Self.blockBytes, ciphertext.count > 0, ciphertext.count.isMultiple(of: Self.blockBytes)
        else { return nil }
        guard let padded = crypt(ciphertext, vector, encrypts: false) else { throw Self.failure }
        return padded.withBytes { bytes in
            let padding = Int(bytes[bytes.count - 1])
            guard (1...Self.blockBytes).contains(padding) else { return nil }
            // In a time that does not depend on which byte is wrong.
            let difference = bytes.suffix(padding).reduce(0 as UInt8) { $0 | $1 ^ UInt8(padding) }
            guard difference == 0 else { return nil }
            return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.dropLast(padding)))
        }
    }

    private func crypt(_ input: SecretBytes, _ vector: SecretBytes, encrypts: Bool) -> SecretBytes? {
        var isDone = false
        let output = SecretBytes(count: input.count) { output in
            key.withBytes { key in
                vector.withBytes { vector in
                    input.withBytes { input in
                        isDone = OpenSSL.cbc(encrypts: encrypts, key: key, vector: vector, input, output: output)
                    }
                }
            }
        }
        return isDone ? output : nil
    }

    fileprivate static var failure: Failure { Failure(.internalFailure, "libcrypto could not encrypt for the bus") }
}

/// The second Oakley group (RFC 2409, section 6.2): a prime of 1024 bits of which half is a prime too, and the generator 2.
private enum OakleyGroup {
    /// `base` to the power of a secret, 128 bytes; of the generator if it is nil.
    static func power(of base: SecretBytes?, _ exponent: SecretBytes) -> SecretBytes? {
        guard let context = BN_CTX_new(), let prime = BN_get_rfc2409_prime_1024(nil),
            let power = number(exponent), let result = BN_new(),
            let base = base.map(number) ?? generator
        else { return nil }
        defer {
            BN_free(prime)
            BN_clear_free(power)
            BN_clear_free(result)
            BN_clear_free(base)
            BN_CTX_free(context)
        }
        guard BN_mod_exp_mont_consttime(result, base, power, prime, context, nil) == 1 else { return nil }
        var isWritten = false
        let bytes = SecretBytes(count: SecretTransferKey.groupBytes) { target in
            isWritten = BN_bn2binpad(result, target.octets, Int32(target.count)) == Int32(target.count)
        }
        return isWritten ? bytes : nil
    }

    /// Whether a public key is between 1 and the prime less 1, both excluded.
    static func isSafe(_ publicKey: SecretBytes) -> Bool {
        guard let value = number(publicKey), let limit = BN_get_rfc2409_prime_1024(nil) else { return false }
        defer {
            BN_free(value)
            BN_free(limit)
        }
        return BN_sub_word(limit, 1) == 1 && BN_cmp(value, BN_value_one()) > 0 && BN_cmp(value, limit) < 0
    }

    private static var generator: OpaquePointer? {
        guard let number = BN_new() else { return nil }
        guard BN_set_word(number, 2) == 1 else {
            BN_free(number)
            return nil
        }
        return number
    }

    private static func number(_ bytes: SecretBytes) -> OpaquePointer? {
        bytes.withBytes { BN_bin2bn($0.octets, Int32($0.count), nil) }
    }
}
