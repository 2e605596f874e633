// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import LatchkeyModel

/// The private scalar of a curve key that libcrypto holds for the duration of one operation only.
///
/// A key module without hardware reads its key from a sealed blob for each use. `PrivateKey` would check and prepare it for
/// many uses each time, which costs more than the signature itself.
package struct PrivateScalar: Sendable {
    package let curve: Curve
    /// Big-endian, as wide as a coordinate of the curve.
    package let bytes: SecretBytes

    /// Adopts a scalar; nil when its width differs from that of a coordinate. An operation checks its range.
    package init?(_ bytes: SecretBytes, curve: Curve) {
        guard bytes.count == curve.byteCount else { return nil }
        self.curve = curve
        self.bytes = bytes
    }

    /// The public point, uncompressed: 04, X, Y; nil when the scalar is zero or not below the order of the curve.
    package var publicPoint: [UInt8]? { bytes.withBytes { KeyHandle.point(curve, scalar: $0) } }

    /// Signs a digest of any length with ECDSA (FIPS 186-4, section 6.4).
    ///
    /// - Returns: r ‖ s, each big-endian and as wide as a coordinate.
    /// - Throws: `internalFailure` when libcrypto rejects the scalar or fails.
    package func sign(_ digest: [UInt8]) throws(Failure) -> SecretBytes {
        // ECDSA uses only the leftmost bits of a digest. Cutting it here also keeps its length within libcrypto's `int`.
        let digest = Array(digest.prefix(curve.byteCount))
        let signature: SecretBytes? = withNumber { group, number in
            guard let made = latchkey_ecdsa_sign(group, number, digest, Int32(digest.count)) else { return nil }
            defer { ECDSA_SIG_free(made) }
            guard let r = ECDSA_SIG_get0_r(made), let s = ECDSA_SIG_get0_s(made) else { return nil }
            let width = Int32(curve.byteCount)
            var isWritten = false
            let raw = SecretBytes(count: 2 * curve.byteCount) { target in
                isWritten =
                    BN_bn2binpad(r, target.octets, width) == width
                    && BN_bn2binpad(s, target.octets.map { $0 + curve.byteCount }, width) == width
            }
            return isWritten ? raw : nil
        }
        guard let signature else { throw Failure(.internalFailure, "libcrypto could not sign") }
        return signature
    }

    /// Computes the ECDH shared secret: an X coordinate, big-endian (SP 800-56A, section 5.7.1.2).
    ///
    /// - Parameter point: the peer's public key, uncompressed: 04, X, Y.
    /// - Returns: nil when `point` is not an uncompressed point on the curve, or is infinity.
    /// - Throws: `internalFailure` when libcrypto rejects the scalar or fails.
    package func agree(_ point: [UInt8]) throws(Failure) -> SecretBytes? {
        // The encoding of infinity is a single byte.
        guard point.count == curve.pointBytes, let group = curve.group, let peer = EC_POINT_new(group) else {
            return nil
        }
        defer { EC_POINT_free(peer) }
        // Decoding checks that the point is on the curve.
        guard discardingErrors({ EC_POINT_oct2point(group, peer, point, point.count, nil) == 1 }) else { return nil }
        let secret: SecretBytes? = withNumber { group, number in
            var written: Int32 = 0
            let secret = SecretBytes(count: curve.byteCount) { target in
                written = latchkey_ecdh(group, number, peer, target.baseAddress, target.count)
            }
            return Int(written) == curve.byteCount ? secret : nil
        }
        guard let secret else { throw Failure(.internalFailure, "libcrypto could not agree on a secret") }
        return secret
    }

    /// Calls `body` with the curve and the scalar, which is wiped afterwards; nil when the scalar is out of range.
    private func withNumber(_ body: (OpaquePointer, OpaquePointer) -> SecretBytes?) -> SecretBytes? {
        guard let group = curve.group, let number = bytes.withBytes({ BigNumber.make($0) }) else { return nil }
        defer { BN_clear_free(number) }
        guard BN_is_zero(number) == 0, BN_cmp(number, EC_GROUP_get0_order(group)) < 0 else { return nil }
        return discardingErrors { body(group, number) }
    }
}
