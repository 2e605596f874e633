// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// RSA-OAEP with AES-GCM in Apple's format: OAEP-wrapped random session key, ciphertext, tag of 16 bytes.
///
/// The session key has 16 bytes for RSA keys below 4096 bits, otherwise 32. The nonce is 16 zero bytes. The associated
/// data is the public key in PKCS#1.
package struct WrappedKeyEncryption: Sendable {
    /// The digest of OAEP and MGF1.
    package let digest: DigestAlgorithm

    package init(_ digest: DigestAlgorithm) { self.digest = digest }

    package static func sessionKeyBytes(for recipient: PublicKey) -> Int { recipient.bitCount < 4096 ? 16 : 32 }

    /// Encrypts to a public RSA key.
    ///
    /// - Parameters:
    ///   - plaintext: any length.
    ///   - sessionKey: `sessionKeyBytes(for:)` random bytes, which must not be used for any other call.
    ///   - recipient: the public RSA key.
    /// - Throws: `invalidParameter` when the key is not RSA or too short for OAEP; `internalFailure` when libcrypto
    ///   fails.
    package func seal(
        _ plaintext: SecretBytes, sessionKey: SecretBytes, for recipient: PublicKey
    ) throws(Failure) -> [UInt8] {
        let wrapped = try recipient.encryptRSA(sessionKey, .oaep(digest))
        return wrapped
            + (try OneTimeCipher.seal(
                plaintext, key: sessionKey, nonce: zeroNonce, authenticating: recipient.externalRepresentation))
    }

    /// Decrypts the output of `seal`.
    ///
    /// - Parameters:
    ///   - sealed: wrapped key, ciphertext and tag.
    ///   - recipient: the public key of the private key.
    ///   - unwrap: decrypts the session key with the private key.
    /// - Throws: `invalidParameter` when the data was not encrypted to this key or has been changed; other errors of
    ///   `unwrap`.
    package func open(
        _ sealed: [UInt8], for recipient: PublicKey,
        unwrap: ([UInt8], RSAEncryptionPadding) throws(Failure) -> SecretBytes
    ) throws(Failure) -> SecretBytes {
        let unreadable = Failure(.invalidParameter, "The data was not encrypted for this key, or has been changed.")
        let wrappedBytes = recipient.blockBytes
        guard sealed.count >= wrappedBytes + OneTimeCipher.tagBytes else { throw unreadable }
        let sessionKey: SecretBytes
        do throws(Failure) {
            sessionKey = try unwrap(Array(sealed[..<wrappedBytes]), .oaep(digest))
        } catch {
            // Reports every manipulation with the same error: telling the parts apart would give an attacker an oracle.
            throw error.status == .invalidParameter ? unreadable : error
        }
        guard sessionKey.count == WrappedKeyEncryption.sessionKeyBytes(for: recipient),
            let plaintext = OneTimeCipher.open(
                sealed[wrappedBytes...], key: sessionKey, nonce: zeroNonce,
                authenticating: recipient.externalRepresentation)
        else { throw unreadable }
        return plaintext
    }

    private var zeroNonce: SecretBytes { SecretBytes(count: OneTimeCipher.nonceBytes) { _ in } }
}
