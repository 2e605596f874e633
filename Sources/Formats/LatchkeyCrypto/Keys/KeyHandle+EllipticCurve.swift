// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import LatchkeyModel

extension Curve {
    fileprivate var name: ParameterName {
        switch self {
        case .p256: .p256
        case .p384: .p384
        case .p521: .p521
        }
    }
}

/// libcrypto's curve parameters, looked up once.
private struct Groups: @unchecked Sendable {
    // Never changed after creation; concurrent reads are safe.
    let p256 = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)
    let p384 = EC_GROUP_new_by_curve_name(NID_secp384r1)
    let p521 = EC_GROUP_new_by_curve_name(NID_secp521r1)

    static let shared = Groups()
}

extension Curve {
    /// libcrypto's parameters of this curve, which live as long as the process.
    var group: OpaquePointer? {
        switch self {
        case .p256: Groups.shared.p256
        case .p384: Groups.shared.p384
        case .p521: Groups.shared.p521
        }
    }
}

extension KeyHandle {
    /// Creates a public key from its uncompressed point; nil when the point is not on the curve.
    static func ellipticCurve(_ curve: Curve, point: [UInt8]) -> KeyHandle? {
        let numbers = ParameterList()
        numbers.add(.group, text: curve.name)
        numbers.add(.publicKey, octets: point)
        guard let handle = KeyHandle(kind: "EC", selection: latchkey_pkey_public_key(), numbers) else { return nil }
        return handle.run { EVP_PKEY_public_check_quick($0) == 1 ? handle : nil }
    }

    /// Creates a key pair. `point` must be the result of `point(_:scalar:)` for the same scalar: it is not checked.
    static func ellipticCurve(_ curve: Curve, point: [UInt8], scalar: UnsafeRawBufferPointer) -> KeyHandle? {
        let numbers = ParameterList()
        numbers.add(.group, text: curve.name)
        numbers.add(.publicKey, octets: point)
        numbers.add(.privateKey, number: scalar)
        return KeyHandle(kind: "EC", selection: latchkey_pkey_keypair(), numbers)
    }

    /// Computes the uncompressed public point of a scalar (big-endian); nil when the scalar is zero or not below the
    /// order.
    static func point(_ curve: Curve, scalar: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let group = curve.group, let number = BigNumber.make(scalar) else { return nil }
        defer { BN_clear_free(number) }
        guard BN_is_zero(number) == 0, BN_cmp(number, EC_GROUP_get0_order(group)) < 0,
            let point = EC_POINT_new(group)
        else { return nil }
        defer { EC_POINT_free(point) }
        guard EC_POINT_mul(group, point, number, nil, nil, nil) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: curve.pointBytes)
        let written = EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
        return written == bytes.count ? bytes : nil
    }

    static func generateEllipticCurve(_ curve: Curve) -> KeyHandle? {
        generate(kind: "EC") { EVP_PKEY_CTX_set_group_name($0, curve.name.pointer) == 1 }
    }

    /// The private scalar, big-endian, as wide as a coordinate.
    func scalar(_ curve: Curve) -> SecretBytes? {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, ParameterName.privateKey.pointer, &number) == 1, let number else { return nil }
        defer { BN_clear_free(number) }
        var isWritten = false
        let scalar = SecretBytes(count: curve.byteCount) { target in
            isWritten = BN_bn2binpad(number, target.octets, Int32(target.count)) == Int32(target.count)
        }
        return isWritten ? scalar : nil
    }

    /// Signs a digest with ECDSA; the signature is in DER.
    func signECDSA(_ digest: [UInt8]) -> [UInt8]? {
        run { context in
            // More than the longest DER signature, which has 139 bytes (P-521).
            var signature = [UInt8](repeating: 0, count: 160)
            var count = signature.count
            guard EVP_PKEY_sign_init(context) == 1,
                EVP_PKEY_sign(context, &signature, &count, digest, digest.count) == 1
            else { return nil }
            signature.removeLast(signature.count - count)
            return signature
        }
    }

    /// Whether `der` is a valid ECDSA signature of the digest.
    func verifyECDSA(_ digest: [UInt8], der: [UInt8]) -> Bool {
        run { context in
            EVP_PKEY_verify_init(context) == 1
                && EVP_PKEY_verify(context, der, der.count, digest, digest.count) == 1 ? true : nil
        } ?? false
    }

    /// Computes the ECDH shared secret with a public key of the same curve: an X coordinate, big-endian, as wide as the
    /// curve (SP 800-56A, section 5.7.1.2).
    func agree(_ curve: Curve, with peer: KeyHandle) -> SecretBytes? {
        run { context in
            // 0: do not validate the peer. `ellipticCurve(_:point:)` checked its point already.
            guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer_ex(context, peer.key, 0) == 1 else {
                return nil
            }
            var isMade = false
            let secret = SecretBytes(count: curve.byteCount) { target in
                var count = target.count
                isMade = EVP_PKEY_derive(context, target.octets, &count) == 1 && count == target.count
            }
            return isMade ? secret : nil
        }
    }

    /// The uncompressed public point: 04, X, Y.
    func point(_ curve: Curve) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: curve.pointBytes)
        var count = 0
        let name = ParameterName.publicKey.pointer
        guard EVP_PKEY_get_octet_string_param(key, name, &bytes, bytes.count, &count) == 1, count == bytes.count else {
            return nil
        }
        return bytes
    }
}

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
