// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// ECIES in Apple's format (behaviour SK-07): ephemeral public point, ciphertext, tag of 16 bytes.
///
/// The AES-GCM key is derived from the ECDH shared secret with the ANSI X9.63 key derivation, whose shared info is the
/// ephemeral point. The key has 16 bytes for curves of up to 256 bits, otherwise 32. The nonce has 16 bytes: those that
/// follow the key in the output of the key derivation, or zeros.
package struct IntegratedEncryption: Sendable {
    package let digest: DigestAlgorithm
    /// Whether the nonce is derived together with the key; otherwise it is zero.
    package let derivesNonce: Bool

    package init(_ digest: DigestAlgorithm, derivesNonce: Bool) {
        (self.digest, self.derivesNonce) = (digest, derivesNonce)
    }

    /// Encrypts to a public key of an elliptic curve with a new ephemeral key.
    ///
    /// - Throws: `invalidParameter` for an RSA key; `internalFailure` when libcrypto fails.
    package func seal(_ plaintext: SecretBytes, for recipient: PublicKey) throws(Failure) -> [UInt8] {
        guard case .ellipticCurve(let curve) = recipient.type else { throw IntegratedEncryption.wrongKey }
        let ephemeral = try PrivateKey.generate(curve)
        let point = ephemeral.publicKey.externalRepresentation
        let (key, nonce) = try derive(try ephemeral.agree(with: recipient), point, curve)
        return point + (try OneTimeCipher.seal(plaintext, key: key, nonce: nonce))
    }

    /// Decrypts the output of `seal`.
    ///
    /// - Parameters:
    ///   - sealed: point, ciphertext and tag.
    ///   - curve: the curve of the private key.
    ///   - agree: computes the ECDH shared secret of the private key and the ephemeral public key.
    /// - Throws: `invalidParameter` when the data was not encrypted to this key or has been changed; the errors of
    ///   `agree`.
    package func open(
        _ sealed: [UInt8], curve: Curve, agree: (PublicKey) throws(Failure) -> SecretBytes
    ) throws(Failure) -> SecretBytes {
        let unreadable = Failure(.invalidParameter, "The data was not encrypted for this key, or has been changed.")
        guard sealed.count >= curve.pointBytes + OneTimeCipher.tagBytes,
            let ephemeral = PublicKey(Array(sealed[..<curve.pointBytes]), type: .ellipticCurve(curve))
        else { throw unreadable }
        let (key, nonce) = try derive(try agree(ephemeral), ephemeral.externalRepresentation, curve)
        guard let plaintext = OneTimeCipher.open(sealed[curve.pointBytes...], key: key, nonce: nonce) else {
            throw unreadable
        }
        return plaintext
    }

    private static let wrongKey = Failure(.invalidParameter, "The key is not an elliptic curve key.")

    private func derive(
        _ secret: SecretBytes, _ point: [UInt8], _ curve: Curve
    ) throws(Failure) -> (key: SecretBytes, nonce: SecretBytes) {
        let keyBytes = curve.bitCount <= 256 ? 16 : 32
        let wanted = keyBytes + (derivesNonce ? OneTimeCipher.nonceBytes : 0)
        let derived = try digest.derive(secret, sharedInfo: point, byteCount: wanted)
        return derived.withBytes { bytes in
            let key = SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<keyBytes]))
            let nonce =
                derivesNonce
                ? SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[keyBytes...]))
                : SecretBytes(count: OneTimeCipher.nonceBytes) { _ in }
            return (key, nonce)
        }
    }
}
