// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// RSA-OAEP with AES-GCM: a random key, wrapped with OAEP, then ciphertext and a tag of 16 bytes.
///
/// The key of AES-GCM has 16 bytes for RSA keys below 4096 bits, else 32; the nonce is 16 bytes of zero; PKCS#1 of the
/// public key is bound as associated data.
package struct WrappedKeyEncryption: Sendable {
    package let digest: DigestAlgorithm

    package init(_ digest: DigestAlgorithm) { self.digest = digest }

    /// Bytes of the random key for that public key.
    package static func sessionKeyBytes(for recipient: PublicKey) -> Int { recipient.bitCount < 4096 ? 16 : 32 }

    /// Encrypts for the owner of the private half; `sessionKey` is random and used for this call only.
    package func seal(
        _ plaintext: SecretBytes, sessionKey: SecretBytes, for recipient: PublicKey
    ) throws(Failure) -> [UInt8] {
        let wrapped = try recipient.encryptRSA(sessionKey, .oaep(digest))
        return wrapped
            + (try OneTimeCipher.seal(
                plaintext, key: sessionKey, nonce: zeroNonce, authenticating: recipient.externalRepresentation))
    }

    /// Decrypts; `unwrap` is the private key's part. Refused unless it is what `seal` made for this key.
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
            // One answer to all that was changed: which part it was is nobody's business.
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
