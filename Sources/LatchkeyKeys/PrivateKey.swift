// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A private key of RSA or of a NIST curve in the memory of this process, ready for use.
///
/// Immutable; any number of threads may use it at once. Its bytes and libcrypto's numbers are overwritten when the last
/// reference goes away.
package final class PrivateKey: Sendable {
    /// The other half.
    package let publicKey: PublicKey
    /// PKCS#1 (RFC 8017, appendix A.1.2), or 04, X, Y, K with each number as wide as the curve.
    package let externalRepresentation: SecretBytes

    private let handle: KeyHandle

    private init(publicKey: PublicKey, externalRepresentation: SecretBytes, handle: KeyHandle) {
        self.publicKey = publicKey
        self.externalRepresentation = externalRepresentation
        self.handle = handle
    }

    /// What it is computed with.
    package var type: KeyType { publicKey.type }

    // MARK: - Reading

    /// Reads PKCS#1 or 04, X, Y, K; nil unless it is exactly one and its numbers belong together.
    package convenience init?(_ external: SecretBytes, type: KeyType) {
        switch type {
        case .rsa: self.init(rsa: external)
        case .ellipticCurve(let curve):
            guard external.count == curve.pointBytes + curve.byteCount else { return nil }
            let (point, scalar) = external.withBytes { bytes in
                (
                    Array(bytes[..<curve.pointBytes]),
                    SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[curve.pointBytes...]))
                )
            }
            self.init(scalar: scalar, curve: curve, point: point)
        }
    }

    /// Makes the pair of a scalar as wide as the curve; nil when the scalar is out of range, or when the point is not
    /// its own.
    package convenience init?(scalar: SecretBytes, curve: Curve, point expected: [UInt8]? = nil) {
        let made = scalar.withBytes { bytes -> (PublicKey, KeyHandle)? in
            guard bytes.count == curve.byteCount, let point = KeyHandle.point(curve, scalar: bytes),
                expected ?? point == point, let publicKey = PublicKey(point, type: .ellipticCurve(curve)),
                let handle = KeyHandle.ellipticCurve(curve, point: point, scalar: bytes)
            else { return nil }
            return (publicKey, handle)
        }
        guard let (publicKey, handle) = made else { return nil }
        let external = DERWriter.secret(publicKey.externalRepresentation, scalar)
        self.init(publicKey: publicKey, externalRepresentation: external, handle: handle)
    }

    private convenience init?(rsa external: SecretBytes) {
        let made = external.withBytes { bytes -> (PublicKey, KeyHandle)? in
            var reader = DERReader(bytes)
            guard let numbers = reader.sequence(PrivateKey.rsaNumbers), reader.isAtEnd,
                let publicKey = PublicKey(PrivateKey.rsaPublicForm(numbers), type: .rsa), numbers.areConsistent,
                let handle = KeyHandle.rsa(numbers)
            else { return nil }
            return (publicKey, handle)
        }
        guard let (publicKey, handle) = made else { return nil }
        self.init(publicKey: publicKey, externalRepresentation: external, handle: handle)
    }

    private static func rsaNumbers(_ reader: inout DERReader) -> RSAPrivateNumbers? {
        // Version 0: two primes.
        guard let version = reader.unsignedInteger(), version.isEmpty, let n = reader.unsignedInteger(),
            let e = reader.unsignedInteger(), let d = reader.unsignedInteger(), let p = reader.unsignedInteger(),
            let q = reader.unsignedInteger(), let dp = reader.unsignedInteger(), let dq = reader.unsignedInteger(),
            let inverse = reader.unsignedInteger(),
            // Computing with a longer one would keep the app busy for whoever sends the key.
            [e, d, p, q, dp, dq, inverse].allSatisfy({ $0.count <= n.count })
        else { return nil }
        return RSAPrivateNumbers(
            modulus: n, publicExponent: e, privateExponent: d, factors: [p, q], exponents: [dp, dq],
            coefficient: inverse)
    }

    private static func rsaPublicForm(_ numbers: RSAPrivateNumbers) -> [UInt8] {
        DERWriter.element(
            DERTag.sequence, DERWriter.integer(numbers.modulus), DERWriter.integer(numbers.publicExponent))
    }

    // MARK: - Making

    /// Makes a random key of a curve.
    package static func generate(_ curve: Curve) throws(Failure) -> PrivateKey {
        guard let handle = KeyHandle.generateEllipticCurve(curve), let point = handle.point(curve),
            let scalar = handle.scalar(curve), let publicKey = PublicKey(point, type: .ellipticCurve(curve))
        else { throw PrivateKey.notMade }
        return PrivateKey(
            publicKey: publicKey, externalRepresentation: DERWriter.secret(point, scalar), handle: handle)
    }

    /// Makes a random RSA key with the public exponent 65537.
    ///
    /// - Parameters:
    ///   - bitCount: 1024 to 4096, a multiple of 8.
    ///   - progress: called now and then while primes are searched, on this thread; false ends the search.
    package static func generateRSA(
        bitCount: Int, progress: (() -> Bool)? = nil
    ) throws(Failure) -> PrivateKey {
        guard KeyType.generatedRSABits.contains(bitCount), bitCount.isMultiple(of: 8) else {
            throw Failure(.invalidParameter, "RSA keys have 1024 to 4096 bits, a multiple of 8.")
        }
        guard let handle = KeyHandle.generateRSA(bitCount: bitCount, progress: progress),
            let external = handle.rsaPrivateKey()
        else { throw PrivateKey.notMade }
        let form = external.withBytes { bytes -> [UInt8]? in
            var reader = DERReader(bytes)
            return reader.sequence(PrivateKey.rsaNumbers).map(PrivateKey.rsaPublicForm)
        }
        guard let form, let publicKey = PublicKey(form, type: .rsa) else { throw PrivateKey.notMade }
        return PrivateKey(publicKey: publicKey, externalRepresentation: external, handle: handle)
    }

    private static let notMade = Failure(.internalFailure, "libcrypto could not make a key")

    // MARK: - What a private key does

    /// ECDSA of a digest of any length, of which the curve takes what it has room for: r ‖ s.
    package func signECDSA(_ digest: [UInt8]) throws(Failure) -> [UInt8] {
        // The leftmost bits are all that is used, and the library counts with 32 bits.
        guard case .ellipticCurve(let curve) = type,
            let der = handle.signECDSA(Array(digest.prefix(curve.byteCount))),
            let raw = ECDSASignature.raw(der: der, curve: curve)
        else { throw Failure(.internalFailure, "libcrypto could not sign") }
        return raw
    }

    /// The X coordinate that both keys have in common, as wide as the curve (SP 800-56A, section 5.7.1.2). The cofactor
    /// of these curves is 1, so this is also the cofactor form.
    package func agree(with peer: PublicKey) throws(Failure) -> SecretBytes {
        guard case .ellipticCurve(let curve) = type, peer.type == type else {
            throw Failure(.invalidParameter, "Keys of different curves have nothing in common.")
        }
        guard let secret = handle.agree(curve, with: peer.handle) else {
            throw Failure(.internalFailure, "libcrypto could not agree on a secret")
        }
        return secret
    }

    /// A signature as long as the key; refused when the input does not fit the padding.
    package func signRSA(_ input: [UInt8], _ padding: RSASignaturePadding) throws(Failure) -> [UInt8] {
        guard type == .rsa, input.count <= publicKey.blockBytes, let signature = handle.signRSA(input, padding) else {
            throw Failure(.invalidParameter, "The data does not fit the key and the padding.")
        }
        return signature
    }

    /// The plaintext of a ciphertext as long as the key; refused when there is none.
    package func decryptRSA(_ ciphertext: [UInt8], _ padding: RSAEncryptionPadding) throws(Failure) -> SecretBytes {
        guard type == .rsa, ciphertext.count == publicKey.blockBytes,
            let plaintext = handle.decryptRSA(ciphertext, padding)
        else {
            throw Failure(.invalidParameter, "The data cannot be decrypted with this key.")
        }
        return plaintext
    }
}
