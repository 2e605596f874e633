// SPDX-License-Identifier: Apache-2.0

/// How the older functions make data as long as a key. Apple: `SecPadding`; none is the empty set.
public struct SecPadding: OptionSet, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt32

    /// Takes any number; what names no padding is refused by the functions.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// PKCS#1 v1.5. Apple: `kSecPaddingPKCS1`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1: SecPadding { SecPadding(rawValue: 1) }
    /// OAEP with SHA-1. Apple: `kSecPaddingOAEP`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var OAEP: SecPadding { SecPadding(rawValue: 2) }
    /// An ECDSA signature as r ‖ s. Apple: `kSecPaddingSigRaw`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var sigRaw: SecPadding { SecPadding(rawValue: 0x4000) }
    /// PKCS#1 v1.5 of a digest of MD2; refused. Apple: `kSecPaddingPKCS1MD2`.
    @available(*, deprecated, message: "MD2 is broken")
    public static var PKCS1MD2: SecPadding { SecPadding(rawValue: 0x8000) }
    /// PKCS#1 v1.5 of a digest of MD5; refused. Apple: `kSecPaddingPKCS1MD5`.
    @available(*, deprecated, message: "MD5 is broken")
    public static var PKCS1MD5: SecPadding { SecPadding(rawValue: 0x8001) }
    /// PKCS#1 v1.5 of a digest of SHA-1. Apple: `kSecPaddingPKCS1SHA1`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1SHA1: SecPadding { SecPadding(rawValue: 0x8002) }
    /// PKCS#1 v1.5 of a digest of SHA-224. Apple: `kSecPaddingPKCS1SHA224`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1SHA224: SecPadding { SecPadding(rawValue: 0x8003) }
    /// PKCS#1 v1.5 of a digest of SHA-256. Apple: `kSecPaddingPKCS1SHA256`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1SHA256: SecPadding { SecPadding(rawValue: 0x8004) }
    /// PKCS#1 v1.5 of a digest of SHA-384. Apple: `kSecPaddingPKCS1SHA384`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1SHA384: SecPadding { SecPadding(rawValue: 0x8005) }
    /// PKCS#1 v1.5 of a digest of SHA-512. Apple: `kSecPaddingPKCS1SHA512`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1SHA512: SecPadding { SecPadding(rawValue: 0x8006) }

    /// The algorithm that signs so with an RSA key; nil for none.
    var rsaSignature: SecKeyAlgorithm? {
        switch rawValue {
        case 0: .rsaSignatureRaw
        case 1: .rsaSignatureDigestPKCS1v15Raw
        case 0x8002: .rsaSignatureDigestPKCS1v15SHA1
        case 0x8003: .rsaSignatureDigestPKCS1v15SHA224
        case 0x8004: .rsaSignatureDigestPKCS1v15SHA256
        case 0x8005: .rsaSignatureDigestPKCS1v15SHA384
        case 0x8006: .rsaSignatureDigestPKCS1v15SHA512
        default: nil
        }
    }

    /// The algorithm that signs so with a key of a curve: DER, unless r ‖ s is asked for.
    var curveSignature: SecKeyAlgorithm? {
        switch rawValue {
        case 0x4000: .ecdsaSignatureDigestRFC4754
        case 0, 1: .ecdsaSignatureDigestX962
        case 0x8002: .ecdsaSignatureDigestX962SHA1
        case 0x8003: .ecdsaSignatureDigestX962SHA224
        case 0x8004: .ecdsaSignatureDigestX962SHA256
        case 0x8005: .ecdsaSignatureDigestX962SHA384
        case 0x8006: .ecdsaSignatureDigestX962SHA512
        default: nil
        }
    }

    /// The algorithm that encrypts so; nil for none.
    var encryption: SecKeyAlgorithm? {
        switch rawValue {
        case 0: .rsaEncryptionRaw
        case 1: .rsaEncryptionPKCS1
        case 2: .rsaEncryptionOAEPSHA1
        default: nil
        }
    }
}
