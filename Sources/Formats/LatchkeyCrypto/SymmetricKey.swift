// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A key of 32 bytes for sealing, authentication and key derivation.
///
/// Failures of libcrypto itself (out of memory, no provider) are thrown as `internalFailure`; a failed authentication
/// is an expected result and returns nil.
package struct SymmetricKey: Sendable {
    /// Length of every key in bytes.
    package static let byteCount = 32
    /// Length of an AES-GCM nonce in bytes.
    package static let nonceBytes = 12
    /// Length of an AES-GCM authentication tag in bytes.
    package static let tagBytes = 16

    /// The key's bytes.
    package let secret: SecretBytes

    /// Makes a key; nil unless `secret` is 32 bytes.
    package init?(_ secret: SecretBytes) {
        guard secret.count == Self.byteCount else { return nil }
        self.secret = secret
    }

    private init(derived secret: SecretBytes) { self.secret = secret }

    /// Seals with AES-256-GCM (NIST SP 800-38D).
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes, never used twice with this key.
    ///   - associated: associated data, authenticated but not encrypted.
    /// - Returns: nonce, ciphertext and tag, in this order.
    package func seal(
        _ plaintext: SecretBytes, nonce: [UInt8], authenticating associated: [UInt8]
    ) throws(Failure) -> [UInt8] {
        guard nonce.count == Self.nonceBytes else { throw Failure(.internalFailure, "wrong nonce length") }
        var sealed = [UInt8](repeating: 0, count: nonce.count + plaintext.count + Self.tagBytes)
        sealed.replaceSubrange(0..<nonce.count, with: nonce)
        let isSealed = sealed.withUnsafeMutableBytes { output in
            let body = UnsafeMutableRawBufferPointer(rebasing: output[nonce.count...])
            return secret.withBytes { key in
                plaintext.withBytes { plain in
                    nonce.withUnsafeBytes { nonce in
                        associated.withUnsafeBytes { associated in
                            OpenSSL.seal(key: key, nonce: nonce, plaintext: plain, associated: associated, output: body)
                        }
                    }
                }
            }
        }
        guard isSealed else { throw Failure(.internalFailure, "libcrypto could not encrypt") }
        return sealed
    }

    /// Opens the result of `seal`; nil when authentication fails.
    package func open(_ sealed: [UInt8], authenticating associated: [UInt8]) throws(Failure) -> SecretBytes? {
        try open(sealed[...], authenticating: associated)
    }

    /// Opens the result of `seal` in a part of an array.
    package func open(_ sealed: ArraySlice<UInt8>, authenticating associated: [UInt8]) throws(Failure) -> SecretBytes? {
        let count = sealed.count - Self.nonceBytes - Self.tagBytes
        guard count >= 0 else { return nil }
        var isGenuine: Bool?
        let plaintext = SecretBytes(count: count) { output in
            sealed.withUnsafeBytes { bytes in
                let nonce = UnsafeRawBufferPointer(rebasing: bytes[..<Self.nonceBytes])
                let body = UnsafeRawBufferPointer(rebasing: bytes[Self.nonceBytes...])
                secret.withBytes { key in
                    associated.withUnsafeBytes { associated in
                        isGenuine = OpenSSL.open(
                            key: key, nonce: nonce, sealed: body, associated: associated, output: output)
                    }
                }
            }
        }
        guard let isGenuine else { throw Failure(.internalFailure, "libcrypto could not decrypt") }
        // Plaintext that failed authentication is never returned.
        return isGenuine ? plaintext : nil
    }

    /// Returns the HMAC-SHA-256 (RFC 2104) of `message`, 32 bytes.
    package func authenticationCode(_ message: [UInt8]) throws(Failure) -> [UInt8] {
        try HMACSHA256.code(key: secret, message: message)
    }

    /// Returns the HMAC-SHA-256 of a secret message, 32 secret bytes.
    private func secretCode(_ message: SecretBytes) throws(Failure) -> SecretBytes {
        var isMade = false
        let code = SecretBytes(count: Self.byteCount) { output in
            isMade = secret.withBytes { key in
                message.withBytes { OpenSSL.hmac(key: key, $0, output: output) }
            }
        }
        guard isMade else { throw Failure(.internalFailure, "libcrypto could not authenticate") }
        return code
    }

    /// Derives a key by HKDF-Expand (RFC 5869, section 2.3) for one block. The extract step is omitted, because this
    /// key is uniformly random.
    package func derive(_ label: String, context: [UInt8] = []) throws(Failure) -> SymmetricKey {
        var info = Array(label.utf8)
        info.append(0)
        info += context
        info.append(1)
        return SymmetricKey(derived: try secretCode(SecretBytes(info)))
    }

    /// Derives a key under one of the labels of the formats.
    package func derive(_ label: CryptographicLabel, context: [UInt8] = []) throws(Failure) -> SymmetricKey {
        try derive(label.rawValue, context: context)
    }

    package static func combining(_ parts: [SecretBytes], label: CryptographicLabel) throws(Failure) -> SymmetricKey {
        try combining(parts, label: label.rawValue)
    }

    /// Combines secrets by HKDF (RFC 5869): computing the result requires all of them. Each is at most 65,535 bytes.
    package static func combining(_ parts: [SecretBytes], label: String) throws(Failure) -> SymmetricKey {
        guard parts.allSatisfy({ $0.count <= 0xffff }) else { throw Failure(.internalFailure, "a part is too long") }
        let joined = SecretBytes(count: parts.reduce(0) { $0 + 2 + $1.count }) { target in
            var offset = 0
            for part in parts {
                // A length precedes each part, so that different lists never give the same bytes.
                target[offset] = UInt8(truncatingIfNeeded: part.count >> 8)
                target[offset + 1] = UInt8(truncatingIfNeeded: part.count)
                offset += 2
                part.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: $0) }
                offset += part.count
            }
        }
        let salt = SymmetricKey(derived: SecretBytes([UInt8](repeating: 0, count: byteCount)))
        return try SymmetricKey(derived: salt.secretCode(joined)).derive(label)
    }

    /// HKDF-Extract (RFC 5869, section 2.2) without salt.
    static func extracting(_ secret: SecretBytes) throws(Failure) -> SymmetricKey {
        let salt = SymmetricKey(derived: SecretBytes([UInt8](repeating: 0, count: byteCount)))
        return SymmetricKey(derived: try salt.secretCode(secret))
    }

    /// The first bytes, at most 32, of HKDF-Expand (RFC 5869, section 2.3) without further information.
    func expanded(_ count: Int) throws(Failure) -> SecretBytes {
        let block = try secretCode(SecretBytes([1]))
        return block.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
    }

    /// Stretches a password with scrypt (RFC 7914): N = 2^`cost`, r = 8, p = 1. Blocks for about 100 ms at cost 15.
    ///
    /// - Parameters:
    ///   - salt: any number of bytes.
    ///   - cost: base-2 logarithm of N, 1 to 17; other costs throw `internalFailure`. The upper bound follows from the
    ///     256 MiB that libcrypto may use here.
    package static func stretching(_ password: SecretBytes, salt: [UInt8], cost: UInt8) throws(Failure) -> SymmetricKey
    {
        var isMade = false
        let key = SecretBytes(count: byteCount) { output in
            password.withBytes { password in
                salt.withUnsafeBytes { salt in
                    isMade = OpenSSL.scrypt(password: password, salt: salt, rounds: 1 << UInt64(cost), output: output)
                }
            }
        }
        guard isMade else { throw Failure(.internalFailure, "libcrypto could not stretch a passcode") }
        return SymmetricKey(derived: key)
    }
}

/// Random bytes for public values, such as nonces and salts.
package func randomBytes(_ count: Int) throws(Failure) -> [UInt8] { try randomSecret(count).copyBytes() }

/// Random bytes for keys and other secrets.
package func randomSecret(_ count: Int) throws(Failure) -> SecretBytes {
    var isMade = false
    let secret = SecretBytes(count: count) { isMade = OpenSSL.random($0) }
    guard isMade else { throw Failure(.internalFailure, "the system gave no random bytes") }
    return secret
}
