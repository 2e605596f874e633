// SPDX-License-Identifier: Apache-2.0

/// A curve of prime order (FIPS 186-4, appendix D.1.2).
package enum Curve: CaseIterable, Sendable {
    case p256
    case p384
    case p521

    /// Bits of a coordinate.
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

    /// The curve with coordinates of that many bits.
    package init?(bitCount: Int) {
        guard let curve = Curve.allCases.first(where: { $0.bitCount == bitCount }) else { return nil }
        self = curve
    }
}

/// What a key is computed with.
package enum KeyType: Hashable, Sendable {
    case rsa
    case ellipticCurve(Curve)

    /// Sizes of RSA keys that are made, in bits, in whole bytes: what Apple's `SecKeySizes` allows.
    package static let generatedRSABits = 1024...4096
    /// Sizes of RSA keys that are read. A longer one would keep a verifier busy for whoever sends it.
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

/// How a digest is made as long as an RSA key before it is signed (RFC 8017, sections 8.1 and 8.2).
package enum RSASignaturePadding: Sendable {
    /// None: the input is as long as the key.
    case none
    /// PKCS#1 v1.5 around the bare input.
    case pkcs1
    /// PKCS#1 v1.5 around a digest and the name of its algorithm.
    case pkcs1Digest(DigestAlgorithm)
    /// PSS, its mask made with the same algorithm and its salt as long as the digest.
    case pss(DigestAlgorithm)
}

/// How a message is made as long as an RSA key before it is encrypted (RFC 8017, sections 7.1 and 7.2).
package enum RSAEncryptionPadding: Sendable {
    /// None: the input is as long as the key.
    case none
    /// PKCS#1 v1.5.
    case pkcs1
    /// OAEP without a label, its mask made with the same algorithm.
    case oaep(DigestAlgorithm)
}
