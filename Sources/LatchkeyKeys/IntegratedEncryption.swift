// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// ECIES as Apple writes it (behaviour SK-07): ephemeral point, ciphertext and a tag of 16 bytes.
///
/// The key of AES-GCM is derived from the agreed secret with ANSI X9.63 and the bytes of the ephemeral point: 16 bytes
/// for curves up to 256 bits, else 32. The nonce is zero, or the 16 bytes that are derived behind the key.
package struct IntegratedEncryption: Sendable {
    package let digest: DigestAlgorithm
    package let derivesNonce: Bool

    package init(_ digest: DigestAlgorithm, derivesNonce: Bool) {
        self.digest = digest
        self.derivesNonce = derivesNonce
    }

    /// Encrypts for the owner of the private half, who alone can read it.
    package func seal(_ plaintext: SecretBytes, for recipient: PublicKey) throws(Failure) -> [UInt8] {
        guard case .ellipticCurve(let curve) = recipient.type else { throw IntegratedEncryption.wrongKey }
        let ephemeral = try PrivateKey.generate(curve)
        let point = ephemeral.publicKey.externalRepresentation
        let (key, nonce) = try derive(try ephemeral.agree(with: recipient), point, curve)
        return point + (try OneTimeCipher.seal(plaintext, key: key, nonce: nonce))
    }

    /// Decrypts; `agree` is the private key's part. Refused unless it is what `seal` made for this key.
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

    private static let wrongKey = Failure(.invalidParameter, "The key is not one of an elliptic curve.")

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
