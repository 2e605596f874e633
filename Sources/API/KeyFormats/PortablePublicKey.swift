// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto

/// A public key that can be read from and written to DER, PEM, OpenSSH and JSON Web Key.
///
/// It also reads and writes the format of `SecKeyCopyExternalRepresentation`, so that keys of the keychain can be
/// exported and imported:
///
/// ```swift
/// guard let bytes = SecKeyCopyExternalRepresentation(publicKey, nil) as Data? else { return }
/// print(try PortablePublicKey(externalRepresentation: bytes).openSSH(comment: "build machine"))
/// ```
///
/// Every format is read strictly: apart from the line breaks, comments and ignored members that the functions document,
/// each key has one accepted encoding in each format. Accepted keys are points on P-256, P-384 and P-521, and RSA keys
/// whose modulus is odd and has 1,024 to 8,192 bits and whose exponent is odd, at least 3 and at most 64 bits long.
///
/// The type is immutable. It computes in the calling process, never contacts the daemon and never prompts.
public struct PortablePublicKey: Hashable, Sendable {
    /// The algorithm of a key and, for elliptic curves, its curve.
    public enum Kind: Hashable, Sendable {
        /// The RSA algorithm (RFC 8017).
        case rsa
        /// The curve P-256 (FIPS 186-4, appendix D.1.2.3).
        case p256
        /// The curve P-384 (FIPS 186-4, appendix D.1.2.4).
        case p384
        /// The curve P-521 (FIPS 186-4, appendix D.1.2.5).
        case p521
    }

    let key: PublicKey

    init(_ key: PublicKey) { self.key = key }

    /// The algorithm and curve of this key.
    public var kind: Kind {
        switch key.type {
        case .rsa: .rsa
        case .ellipticCurve(.p256): .p256
        case .ellipticCurve(.p384): .p384
        case .ellipticCurve(.p521): .p521
        }
    }

    /// The size of the key in bits: of the modulus of an RSA key, or of a coordinate of an elliptic curve key.
    public var bitCount: Int { key.bitCount }

    // MARK: - External representation of SecKey

    /// Reads the external representation of a public key, from which it detects the key type.
    ///
    /// Computes in this process; does not block or prompt. The corresponding Apple function is
    /// `SecKeyCopyExternalRepresentation`.
    ///
    /// - Parameter bytes: RSA: a PKCS#1 `RSAPublicKey` in DER (RFC 8017, appendix A.1.1). Elliptic curves: the
    ///   uncompressed point 04, X, Y with 65 (P-256), 97 (P-384) or 133 bytes (P-521) (SEC 1, section 2.3.3). No
    ///   trailing bytes.
    /// - Throws: `malformed` when the bytes are neither, have the wrong length or are an RSA key that is not accepted;
    ///   `invalidKey` when the point is not on its curve.
    public init(externalRepresentation bytes: some Collection<UInt8>) throws(KeyFormatError) {
        let bytes = Array(bytes)
        switch bytes.first {
        case 0x04:
            guard Curve.allCases.contains(where: { $0.pointBytes == bytes.count }) else {
                throw KeyFormatError(.malformed, "A point has 65, 97 or 133 bytes, not \(bytes.count).")
            }
            guard let key = PublicKey(point: bytes) else {
                throw KeyFormatError(.invalidKey, "The point is not on its curve.")
            }
            self.key = key
        case 0x30:
            guard let key = PublicKey(bytes, type: .rsa) else {
                throw KeyFormatError(.malformed, "The bytes are not an accepted RSA public key.")
            }
            self.key = key
        default: throw KeyFormatError(.malformed, "The bytes are neither a point nor an RSA public key.")
        }
    }

    /// The external representation, as `SecKeyCreateWithData` reads it.
    ///
    /// RSA: a PKCS#1 `RSAPublicKey` in DER (RFC 8017, appendix A.1.1). Elliptic curves: the uncompressed point 04, X,
    /// Y with 65 (P-256), 97 (P-384) or 133 bytes (P-521) (SEC 1, section 2.3.3).
    public var externalRepresentation: [UInt8] { key.externalRepresentation }

    // MARK: - DER

    /// Reads a DER `SubjectPublicKeyInfo`.
    ///
    /// Computes in this process; does not block or prompt. Source: RFC 5280, section 4.1.2.7; RFC 3279, section 2.3.1
    /// (RSA); RFC 5480, section 2.1.1 (elliptic curves).
    ///
    /// - Parameter bytes: the DER without trailing bytes. The algorithm parameters are NULL for RSA and a named curve
    ///   (P-256, P-384 or P-521) otherwise; points are uncompressed.
    /// - Throws: `malformed` when the bytes are not DER of an accepted key, also when the point is not on its curve.
    public init(der bytes: some Collection<UInt8>) throws(KeyFormatError) {
        guard let key = PublicKey(subjectPublicKeyInfo: Array(bytes)) else {
            throw KeyFormatError(.malformed, "The bytes are not an accepted public key in DER.")
        }
        self.key = key
    }

    /// The key as a DER `SubjectPublicKeyInfo`, as it appears in certificates.
    ///
    /// Source: RFC 5280, section 4.1.2.7.
    public var der: [UInt8] { key.subjectPublicKeyInfo }
}
