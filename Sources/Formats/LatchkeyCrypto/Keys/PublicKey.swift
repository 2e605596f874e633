// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A public RSA or NIST curve key.
///
/// Immutable and usable from any thread. Initialisers return nil for malformed and unsupported keys.
package final class PublicKey: Sendable {
    package let type: KeyType
    /// Bits of the modulus or of a coordinate.
    package let bitCount: Int
    /// PKCS#1 `RSAPublicKey` in DER (RFC 8017, appendix A.1.1), or the uncompressed point 04, X, Y (SEC 1, section
    /// 2.3.3).
    package let externalRepresentation: [UInt8]

    let handle: KeyHandle

    init(type: KeyType, bitCount: Int, externalRepresentation: [UInt8], handle: KeyHandle) {
        self.type = type
        self.bitCount = bitCount
        self.externalRepresentation = externalRepresentation
        self.handle = handle
    }

    /// Reads an external representation; nil when it is malformed, has trailing bytes, or its size is not accepted.
    package convenience init?(_ external: [UInt8], type: KeyType) {
        switch type {
        case .rsa: self.init(rsa: external)
        case .ellipticCurve(let curve): self.init(point: external, curve: curve)
        }
    }

    /// Reads an uncompressed point; its length selects the curve. nil when no curve fits or the point is not on it.
    package convenience init?(point: [UInt8]) {
        guard let curve = Curve.allCases.first(where: { $0.pointBytes == point.count }) else { return nil }
        self.init(point: point, curve: curve)
    }

    private convenience init?(point: [UInt8], curve: Curve) {
        guard point.count == curve.pointBytes, point.first == 4,
            let handle = KeyHandle.ellipticCurve(curve, point: point)
        else { return nil }
        self.init(type: .ellipticCurve(curve), bitCount: curve.bitCount, externalRepresentation: point, handle: handle)
    }

    private convenience init?(rsa external: [UInt8]) {
        let read = external.withUnsafeBytes { bytes -> (KeyHandle, Int)? in
            var reader = DERReader(bytes)
            let numbers = reader.sequence { reader -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer)? in
                guard let modulus = reader.unsignedInteger(), let exponent = reader.unsignedInteger() else {
                    return nil
                }
                return (modulus, exponent)
            }
            guard reader.isAtEnd, let (modulus, exponent) = numbers,
                let bitCount = PublicKey.acceptedBitCount(modulus: modulus, exponent: exponent),
                let handle = KeyHandle.rsa(modulus: modulus, exponent: exponent)
            else { return nil }
            return (handle, bitCount)
        }
        guard let (handle, bitCount) = read else { return nil }
        self.init(type: .rsa, bitCount: bitCount, externalRepresentation: external, handle: handle)
    }

    /// The size in bits of an RSA key with these numbers; nil when the key is not accepted.
    ///
    /// The modulus must be odd and its size in `KeyType.acceptedRSABits`. The exponent must be odd, at least 3 and at
    /// most 64 bits long: verification with a longer exponent takes as long as signing.
    static func acceptedBitCount(modulus: UnsafeRawBufferPointer, exponent: UnsafeRawBufferPointer) -> Int? {
        guard let highest = modulus.first, let lowest = modulus.last, lowest & 1 == 1 else { return nil }
        let bitCount = modulus.count * 8 - highest.leadingZeroBitCount
        guard KeyType.acceptedRSABits.contains(bitCount), exponent.count <= 8, let last = exponent.last, last & 1 == 1,
            exponent.count > 1 || last >= 3
        else { return nil }
        return bitCount
    }

    /// Bytes of the modulus or of a coordinate.
    package var blockBytes: Int { (bitCount + 7) / 8 }

    // MARK: - Operations

    /// Whether `der` is a valid ECDSA signature of the digest; false for an RSA key.
    package func verifiesECDSA(_ digest: [UInt8], der: [UInt8]) -> Bool {
        guard case .ellipticCurve(let curve) = type else { return false }
        return handle.verifyECDSA(Array(digest.prefix(curve.byteCount)), der: der)
    }

    /// Whether `signature` is a valid RSA signature of the input; false for an elliptic curve key.
    package func verifiesRSA(_ input: [UInt8], _ padding: RSASignaturePadding, signature: [UInt8]) -> Bool {
        guard type == .rsa, signature.count == blockBytes, input.count <= blockBytes else { return false }
        return handle.verifyRSA(input, padding, signature: signature)
    }

    /// Encrypts with RSA; the ciphertext is as long as the modulus.
    ///
    /// - Throws: `invalidParameter` when the input does not fit the key and the padding, or the key is not RSA.
    package func encryptRSA(_ plaintext: SecretBytes, _ padding: RSAEncryptionPadding) throws(Failure) -> [UInt8] {
        guard type == .rsa, plaintext.count <= blockBytes, let ciphertext = handle.encryptRSA(plaintext, padding) else {
            throw Failure(.invalidParameter, "The data does not fit the key and the padding.")
        }
        return ciphertext
    }
}

extension PublicKey: Hashable {
    /// Compares type and external representation.
    package static func == (left: PublicKey, right: PublicKey) -> Bool {
        left.type == right.type && left.externalRepresentation == right.externalRepresentation
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(externalRepresentation) }
}

extension PublicKey {
    /// Modulus and exponent of an RSA key, big-endian without leading zeros; nil for an elliptic curve key.
    package var rsaNumbers: (modulus: [UInt8], exponent: [UInt8])? {
        guard type == .rsa else { return nil }
        return externalRepresentation.withUnsafeBytes { bytes in
            var reader = DERReader(bytes)
            return reader.sequence { reader in
                guard let modulus = reader.unsignedInteger(), let exponent = reader.unsignedInteger() else {
                    return nil
                }
                return (Array(modulus), Array(exponent))
            }
        }
    }

    /// Creates an RSA key from its big-endian numbers; nil when `acceptedBitCount` rejects them.
    package convenience init?(modulus: some Collection<UInt8>, exponent: some Collection<UInt8>) {
        self.init(
            DERWriter.element(DERTag.sequence, DERWriter.integer(modulus), DERWriter.integer(exponent)), type: .rsa)
    }
}
