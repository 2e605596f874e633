// SPDX-License-Identifier: Apache-2.0

// Only this file calls libcrypto for P-256 and SHA-1; no C type is visible outside it.

internal import COpenSSL
import LatchkeyModel

/// The result of a key agreement.
enum Agreement {
    case secret(SecretBytes)
    case noPoint
    case failed
}

enum P256Operations {
    private static let scalarBytes = 32
    private static let group = "P-256"

    /// Generates a scalar and its point with libcrypto's private random generator.
    static func generate() -> (SecretBytes, [UInt8])? {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, group) == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { return nil }
        defer { EVP_PKEY_free(key) }
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1, let number else { return nil }
        defer { BN_clear_free(number) }
        var isWritten = false
        let scalar = SecretBytes(count: scalarBytes) { target in
            isWritten = BN_bn2binpad(number, target.octets, Int32(scalarBytes)) == scalarBytes
        }
        var point = [UInt8](repeating: 0, count: 65)
        var count = 0
        guard isWritten,
            EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &count) == 1,
            count == point.count
        else { return nil }
        return (scalar, point)
    }

    static func sign(_ key: P256Key, _ digest: [UInt8]) -> SecretBytes? {
        withKey(key) { key in
            guard let context = EVP_PKEY_CTX_new(key, nil) else { return nil }
            defer { EVP_PKEY_CTX_free(context) }
            var der = [UInt8](repeating: 0, count: 80)
            var count = der.count
            guard EVP_PKEY_sign_init(context) == 1,
                EVP_PKEY_sign(context, &der, &count, digest, digest.count) == 1
            else { return nil }
            return der.withUnsafeBufferPointer { numbers($0, count) }
        }
    }

    /// Returns r and s of a DER signature that libcrypto has just made.
    private static func numbers(_ der: UnsafeBufferPointer<UInt8>, _ count: Int) -> SecretBytes? {
        var next = der.baseAddress
        guard let signature = d2i_ECDSA_SIG(nil, &next, count) else { return nil }
        defer { ECDSA_SIG_free(signature) }
        guard let r = ECDSA_SIG_get0_r(signature), let s = ECDSA_SIG_get0_s(signature) else { return nil }
        var isWritten = false
        let numbers = SecretBytes(count: 2 * scalarBytes) { target in
            isWritten =
                BN_bn2binpad(r, target.octets, Int32(scalarBytes)) == scalarBytes
                && BN_bn2binpad(s, target.octets.map { $0 + scalarBytes }, Int32(scalarBytes)) == scalarBytes
        }
        return isWritten ? numbers : nil
    }

    static func agree(_ key: P256Key, _ point: [UInt8]) -> Agreement {
        // Decoding the point checks that it is on the curve. The encoding of infinity is a single byte.
        guard point.count == 65, let peer = publicKey(point) else { return .noPoint }
        defer { EVP_PKEY_free(peer) }
        let secret: SecretBytes? = withKey(key) { key in
            guard let context = EVP_PKEY_CTX_new(key, nil) else { return nil }
            defer { EVP_PKEY_CTX_free(context) }
            guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer) == 1 else { return nil }
            var isDerived = false
            let secret = SecretBytes(count: scalarBytes) { target in
                var count = scalarBytes
                isDerived = EVP_PKEY_derive(context, target.octets, &count) == 1 && count == scalarBytes
            }
            return isDerived ? secret : nil
        }
        return secret.map { .secret($0) } ?? .failed
    }

    static func sha1(_ message: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 20)
        var count: UInt32 = 0
        guard let algorithm = EVP_MD_fetch(nil, "SHA1", nil) else { return nil }
        defer { EVP_MD_free(algorithm) }
        return EVP_Digest(message, message.count, &digest, &count, algorithm, nil) == 1 && count == 20 ? digest : nil
    }

    // MARK: - Keys

    /// Calls `body` with the key as a libcrypto object, whose copy of the scalar is cleared when it is freed.
    private static func withKey(_ key: P256Key, _ body: (OpaquePointer) -> SecretBytes?) -> SecretBytes? {
        // libcrypto takes numbers in native byte order, and keeps no pointer to them after the call.
        let reversed = SecretBytes(count: scalarBytes) { target in
            key.scalar.withBytes { source in
                for index in 0..<scalarBytes { target[index] = source[scalarBytes - 1 - index] }
            }
        }
        let made = reversed.withBytes { scalar in
            // Neither signing nor agreement needs the public point, and decoding it costs a fifth of a signature.
            make(nil, latchkey_pkey_keypair()) { name in
                OSSL_PARAM_construct_BN(
                    name, UnsafeMutableRawPointer(mutating: scalar.baseAddress)?.assumingMemoryBound(to: UInt8.self),
                    scalar.count)
            }
        }
        guard let made else { return nil }
        defer { EVP_PKEY_free(made) }
        return body(made)
    }

    private static func publicKey(_ point: [UInt8]) -> OpaquePointer? {
        make(point, latchkey_pkey_public_key(), scalar: nil)
    }

    private static func make(
        _ point: [UInt8]?, _ selection: Int32, scalar: ((UnsafePointer<CChar>) -> OSSL_PARAM)?
    ) -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_fromdata_init(context) == 1 else { return nil }
        var name = Array(group.utf8CString)
        var octets = point ?? []
        var key: OpaquePointer?
        // A parameter points to its name and its value; all live until the call returns.
        let isMade = OSSL_PKEY_PARAM_GROUP_NAME.withCString { groupName in
            OSSL_PKEY_PARAM_PUB_KEY.withCString { pointName in
                OSSL_PKEY_PARAM_PRIV_KEY.withCString { scalarName in
                    name.withUnsafeMutableBufferPointer { name in
                        octets.withUnsafeMutableBytes { octets in
                            var parameters = [OSSL_PARAM_construct_utf8_string(groupName, name.baseAddress, 0)]
                            if point != nil {
                                parameters.append(
                                    OSSL_PARAM_construct_octet_string(pointName, octets.baseAddress, octets.count))
                            }
                            if let scalar { parameters.append(scalar(scalarName)) }
                            parameters.append(OSSL_PARAM_construct_end())
                            return EVP_PKEY_fromdata(context, &key, selection, &parameters) == 1
                        }
                    }
                }
            }
        }
        return isMade ? key : nil
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate var octets: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
