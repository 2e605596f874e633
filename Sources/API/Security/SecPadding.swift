// SPDX-License-Identifier: Apache-2.0

/// A padding of the older functions, such as `SecKeyRawSign` and `SecKeyEncrypt`. The empty set means no padding.
///
/// Apple: `SecPadding`.
public struct SecPadding: OptionSet, Hashable, Sendable {
    /// The number that identifies the padding, with Apple's values. Apple: `SecPadding.rawValue`.
    public let rawValue: UInt32

    /// Creates a padding from its number.
    ///
    /// - Parameter rawValue: any number; the functions return `errSecParam` for one that names no padding.
    ///
    /// Apple: `SecPadding.init(rawValue:)`.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// PKCS#1 v1.5 padding (RFC 8017, sections 7.2 and 9.2). Apple: `kSecPaddingPKCS1`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1: SecPadding { SecPadding(rawValue: 1) }
    /// OAEP padding with SHA-1 (RFC 8017, section 7.1). Apple: `kSecPaddingOAEP`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var OAEP: SecPadding { SecPadding(rawValue: 2) }
    /// ECDSA signature encoded as r ‖ s instead of DER. Apple: `kSecPaddingSigRaw`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var sigRaw: SecPadding { SecPadding(rawValue: 0x4000) }
    /// PKCS#1 v1.5 padding of an MD2 digest; the functions return `errSecParam`. Apple: `kSecPaddingPKCS1MD2`.
    @available(*, deprecated, message: "MD2 is broken")
    public static var PKCS1MD2: SecPadding { SecPadding(rawValue: 0x8000) }
    /// PKCS#1 v1.5 padding of an MD5 digest; the functions return `errSecParam`. Apple: `kSecPaddingPKCS1MD5`.
    @available(*, deprecated, message: "MD5 is broken")
    public static var PKCS1MD5: SecPadding { SecPadding(rawValue: 0x8001) }
    /// PKCS#1 v1.5 padding of a SHA-1 digest. Apple: `kSecPaddingPKCS1SHA1`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1SHA1: SecPadding { SecPadding(rawValue: 0x8002) }
    /// PKCS#1 v1.5 padding of a SHA-224 digest. Apple: `kSecPaddingPKCS1SHA224`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1SHA224: SecPadding { SecPadding(rawValue: 0x8003) }
    /// PKCS#1 v1.5 padding of a SHA-256 digest. Apple: `kSecPaddingPKCS1SHA256`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1SHA256: SecPadding { SecPadding(rawValue: 0x8004) }
    /// PKCS#1 v1.5 padding of a SHA-384 digest. Apple: `kSecPaddingPKCS1SHA384`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1SHA384: SecPadding { SecPadding(rawValue: 0x8005) }
    /// PKCS#1 v1.5 padding of a SHA-512 digest. Apple: `kSecPaddingPKCS1SHA512`.
    @available(*, deprecated, message: "Use SecKeyAlgorithm")
    public static var PKCS1SHA512: SecPadding { SecPadding(rawValue: 0x8006) }

    /// The signature algorithm of an RSA key with this padding; nil for an unsupported padding.
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

    /// The signature algorithm of an elliptic curve key with this padding: r ‖ s for `sigRaw`, else DER; nil for an
    /// unsupported padding.
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

    /// The RSA encryption algorithm with this padding; nil for an unsupported padding.
    var encryption: SecKeyAlgorithm? {
        switch rawValue {
        case 0: .rsaEncryptionRaw
        case 1: .rsaEncryptionPKCS1
        case 2: .rsaEncryptionOAEPSHA1
        default: nil
        }
    }
}
