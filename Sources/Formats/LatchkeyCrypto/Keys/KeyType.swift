// SPDX-License-Identifier: Apache-2.0

/// A NIST curve of prime order (FIPS 186-4, appendix D.1.2).
package enum Curve: CaseIterable, Sendable {
    case p256
    case p384
    case p521

    package var bitCount: Int {
        switch self {
        case .p256: 256
        case .p384: 384
        case .p521: 521
        }
    }

    /// Bytes of a coordinate or a scalar.
    package var byteCount: Int { (bitCount + 7) / 8 }

    /// Bytes of an uncompressed point: 04, X, Y.
    package var pointBytes: Int { 1 + 2 * byteCount }

    /// The curve whose coordinates have `bitCount` bits, or nil.
    package init?(bitCount: Int) {
        guard let curve = Curve.allCases.first(where: { $0.bitCount == bitCount }) else { return nil }
        self = curve
    }
}

/// The algorithm of a key and, for elliptic curves, its curve.
package enum KeyType: Hashable, Sendable {
    case rsa
    case ellipticCurve(Curve)

    /// Sizes of generated RSA keys in bits, as in Apple's `SecKeySizes`; the size must also be a multiple of 8.
    package static let generatedRSABits = 1024...4096
    /// Accepted sizes of imported RSA keys in bits. The upper bound stops a sender from occupying a verifier with huge
    /// keys.
    package static let acceptedRSABits = 1024...8192
}

/// A hash function (FIPS 180-4).
package enum DigestAlgorithm: CaseIterable, Sendable {
    case sha1
    case sha224
    case sha256
    case sha384
    case sha512

    /// Bytes of a digest.
    package var byteCount: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }
}

/// The padding of an RSA signature (RFC 8017, sections 8.1 and 8.2).
package enum RSASignaturePadding: Sendable {
    /// No padding: the input must be as long as the modulus.
    case none
    /// PKCS#1 v1.5 applied to the input as it is.
    case pkcs1
    /// PKCS#1 v1.5 applied to a `DigestInfo`: the input is a digest of this algorithm.
    case pkcs1Digest(DigestAlgorithm)
    /// PSS; MGF1 uses the same digest, and the salt is as long as the digest.
    case pss(DigestAlgorithm)
}

/// The padding of an RSA encryption (RFC 8017, sections 7.1 and 7.2).
package enum RSAEncryptionPadding: Sendable {
    /// No padding: the input must be as long as the modulus.
    case none
    /// PKCS#1 v1.5.
    case pkcs1
    /// OAEP; MGF1 uses the same digest. The label is empty in most protocols.
    case oaep(DigestAlgorithm, label: [UInt8] = [])
}
