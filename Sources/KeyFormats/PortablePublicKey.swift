// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeys

/// A public key in the forms that other programs read: DER, PEM, OpenSSH and JSON Web Key.
///
/// Its own form is that of `SecKeyCopyExternalRepresentation`, so that keys go from the keychain to other programs and
/// back:
///
/// ```swift
/// guard let bytes = SecKeyCopyExternalRepresentation(publicKey, nil) as Data? else { return }
/// print(try PortablePublicKey(externalRepresentation: bytes).openSSH(comment: "build machine"))
/// ```
///
/// Every form is read strictly: each key has one text or one sequence of bytes, and anything else is refused, as is a
/// point that is not on its curve. An RSA key has 1,024 to 8,192 bits and an odd exponent of at most 64 bits.
/// Immutable; never prompts and asks no daemon.
public struct PortablePublicKey: Hashable, Sendable {
    /// What a key is computed with.
    public enum Kind: Hashable, Sendable {
        /// RSA (RFC 8017).
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

    /// What the key is computed with.
    public var kind: Kind {
        switch key.type {
        case .rsa: .rsa
        case .ellipticCurve(.p256): .p256
        case .ellipticCurve(.p384): .p384
        case .ellipticCurve(.p521): .p521
        }
    }

    /// Bits of the modulus of an RSA key, or of a coordinate.
    public var bitCount: Int { key.bitCount }

    // MARK: - The form of SecKey

    /// Reads what `SecKeyCopyExternalRepresentation` gives of a public key; the bytes tell the type.
    ///
    /// - Parameter bytes: a DER `RSAPublicKey` of PKCS#1 (RFC 8017, appendix A.1.1), or an uncompressed point 04, X, Y of
    ///   65, 97 or 133 bytes (SEC 1, section 2.3.3), and nothing after it.
    /// - Throws: `malformed` or `invalidKey`.
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
                throw KeyFormatError(.malformed, "The bytes are no RSA public key that is accepted.")
            }
            self.key = key
        default: throw KeyFormatError(.malformed, "The bytes are neither a point nor an RSA public key.")
        }
    }

    /// What `SecKeyCreateWithData` reads: PKCS#1 in DER, or the point 04, X, Y with coordinates as wide as the curve.
    public var externalRepresentation: [UInt8] { key.externalRepresentation }

    // MARK: - DER

    /// Reads a `SubjectPublicKeyInfo` (RFC 5280, section 4.1.2.7) and nothing after it.
    ///
    /// - Parameter bytes: DER; the parameters of RSA are NULL, those of a curve its name (RFC 3279, section 2.3.1;
    ///   RFC 5480, section 2.1.1), the point uncompressed.
    /// - Throws: `malformed` for everything that is no such key.
    public init(der bytes: some Collection<UInt8>) throws(KeyFormatError) {
        guard let key = PublicKey(subjectPublicKeyInfo: Array(bytes)) else {
            throw KeyFormatError(.malformed, "The bytes are no public key in DER that is accepted.")
        }
        self.key = key
    }

    /// The DER of its `SubjectPublicKeyInfo` (RFC 5280, section 4.1.2.7), as certificates hold it.
    public var der: [UInt8] { key.subjectPublicKeyInfo }
}
