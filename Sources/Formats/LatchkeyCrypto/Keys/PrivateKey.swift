// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A private RSA or NIST curve key in the memory of this process.
///
/// Immutable and usable from any thread. Its bytes and libcrypto's numbers are overwritten when the object is released.
package final class PrivateKey: Sendable {
    package let publicKey: PublicKey
    /// RSA: PKCS#1 `RSAPrivateKey` in DER (RFC 8017, appendix A.1.2). Curve: 04, X, Y, K, each number as wide as a
    /// coordinate.
    package let externalRepresentation: SecretBytes

    private let handle: KeyHandle

    private init(publicKey: PublicKey, externalRepresentation: SecretBytes, handle: KeyHandle) {
        self.publicKey = publicKey
        self.externalRepresentation = externalRepresentation
        self.handle = handle
    }

    package var type: KeyType { publicKey.type }

    // MARK: - Reading

    /// Reads an external representation; nil when it is malformed, has trailing bytes, or its numbers are inconsistent.
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

    /// Computes the key pair of a scalar.
    ///
    /// - Parameters:
    ///   - scalar: big-endian, exactly as wide as a coordinate of the curve.
    ///   - curve: the curve.
    ///   - expected: an uncompressed point that must equal the computed public key; nil: no comparison.
    /// - Returns: nil when the scalar is out of range or the point does not match.
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
        // Version 0 is a key with two primes.
        guard let version = reader.unsignedInteger(), version.isEmpty, let n = reader.unsignedInteger(),
            let e = reader.unsignedInteger(), let d = reader.unsignedInteger(), let p = reader.unsignedInteger(),
            let q = reader.unsignedInteger(), let dp = reader.unsignedInteger(), let dq = reader.unsignedInteger(),
            let inverse = reader.unsignedInteger(),
            // A sender could otherwise occupy the app with computations on oversized numbers.
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

    // MARK: - Generation

    /// Generates a random key of a curve; throws `internalFailure` when libcrypto fails.
    package static func generate(_ curve: Curve) throws(Failure) -> PrivateKey {
        guard let handle = KeyHandle.generateEllipticCurve(curve), let point = handle.point(curve),
            let scalar = handle.scalar(curve), let publicKey = PublicKey(point, type: .ellipticCurve(curve))
        else { throw PrivateKey.notMade }
        return PrivateKey(publicKey: publicKey, externalRepresentation: DERWriter.secret(point, scalar), handle: handle)
    }

    /// Generates a random RSA key with the public exponent 65537. Blocks while it searches primes, up to seconds.
    ///
    /// - Parameters:
    ///   - bitCount: 1024 to 4096, a multiple of 8.
    ///   - progress: called repeatedly on this thread during the search; returning false cancels it.
    /// - Throws: `invalidParameter` for another size; `internalFailure` when libcrypto fails or the search is
    ///   cancelled.
    package static func generateRSA(bitCount: Int, progress: (() -> Bool)? = nil) throws(Failure) -> PrivateKey {
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

    // MARK: - Operations

    /// Signs a digest of any length with ECDSA and returns r ‖ s, each as wide as a coordinate.
    package func signECDSA(_ digest: [UInt8]) throws(Failure) -> [UInt8] {
        // ECDSA uses only the leftmost bits of a digest. Cutting it here also keeps its length within libcrypto's
        // `int`.
        guard case .ellipticCurve(let curve) = type,
            let der = handle.signECDSA(Array(digest.prefix(curve.byteCount))),
            let raw = ECDSASignature.raw(der: der, curve: curve)
        else { throw Failure(.internalFailure, "libcrypto could not sign") }
        return raw
    }

    /// Computes the ECDH shared secret: an X coordinate, big-endian, as wide as the curve (SP 800-56A, section
    /// 5.7.1.2).
    ///
    /// The cofactor of these curves is 1, so the result is the same for cofactor Diffie-Hellman.
    ///
    /// - Throws: `invalidParameter` when the keys are not of the same curve; `internalFailure` when libcrypto fails.
    package func agree(with peer: PublicKey) throws(Failure) -> SecretBytes {
        guard case .ellipticCurve(let curve) = type, peer.type == type else {
            throw Failure(.invalidParameter, "The keys are not of the same elliptic curve.")
        }
        guard let secret = handle.agree(curve, with: peer.handle) else {
            throw Failure(.internalFailure, "libcrypto could not agree on a secret")
        }
        return secret
    }

    /// Signs with RSA; the signature is as long as the modulus.
    ///
    /// - Throws: `invalidParameter` when the input does not fit the key and the padding, or the key is not RSA.
    package func signRSA(_ input: [UInt8], _ padding: RSASignaturePadding) throws(Failure) -> [UInt8] {
        guard type == .rsa, input.count <= publicKey.blockBytes, let signature = handle.signRSA(input, padding) else {
            throw Failure(.invalidParameter, "The data does not fit the key and the padding.")
        }
        return signature
    }

    /// Decrypts an RSA ciphertext, which must be as long as the modulus.
    ///
    /// - Throws: `invalidParameter` when the ciphertext or its padding is invalid, or the key is not RSA.
    package func decryptRSA(_ ciphertext: [UInt8], _ padding: RSAEncryptionPadding) throws(Failure) -> SecretBytes {
        guard type == .rsa, ciphertext.count == publicKey.blockBytes,
            let plaintext = handle.decryptRSA(ciphertext, padding)
        else {
            throw Failure(.invalidParameter, "The data cannot be decrypted with this key.")
        }
        return plaintext
    }
}
