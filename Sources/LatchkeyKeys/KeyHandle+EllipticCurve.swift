// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
import LatchkeyModel

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

    /// Generates a random key pair.
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
