// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An algorithm of a key operation: signature, encryption or key exchange, with its padding and digest.
///
/// `SecKeyIsAlgorithmSupported` says whether a key supports an algorithm. A value with an unknown name can be created;
/// no key supports it.
///
/// Apple: `SecKeyAlgorithm`.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    // `KeyAlgorithmTests` compares names and values with Tests/Vectors/security.tsv; `KeyScheme` implements them.

    /// The name as a Swift string, stored so that no call has to convert it.
    let name: String

    /// The algorithm's name, such as `algid:sign:ECDSA:digest-X962`. Apple: `SecKeyAlgorithm.rawValue`.
    public var rawValue: CFString { name as NSString }

    /// Creates an algorithm from its name.
    ///
    /// - Parameter rawValue: any string; no key supports an algorithm with an unknown name.
    ///
    /// Apple: `SecKeyAlgorithm.init(rawValue:)`.
    public init(rawValue: CFString) { name = rawValue as String }

    private init(name: String) { self.name = name }
}

// MARK: - ECDSA

extension SecKeyAlgorithm {
    /// ECDSA signature, encoded as r ‖ s, of a digest of any length.
    /// Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754`.
    public static let ecdsaSignatureDigestRFC4754 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754")
    /// ECDSA signature, encoded as r ‖ s, of a SHA-1 digest. Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA1`.
    public static let ecdsaSignatureDigestRFC4754SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754:SHA1")
    /// ECDSA signature, encoded as r ‖ s, of a SHA-224 digest.
    /// Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA224`.
    public static let ecdsaSignatureDigestRFC4754SHA224 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA224")
    /// ECDSA signature, encoded as r ‖ s, of a SHA-256 digest.
    /// Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA256`.
    public static let ecdsaSignatureDigestRFC4754SHA256 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA256")
    /// ECDSA signature, encoded as r ‖ s, of a SHA-384 digest.
    /// Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA384`.
    public static let ecdsaSignatureDigestRFC4754SHA384 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA384")
    /// ECDSA signature, encoded as r ‖ s, of a SHA-512 digest.
    /// Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA512`.
    public static let ecdsaSignatureDigestRFC4754SHA512 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA512")
    /// ECDSA signature, encoded in DER, of a digest of any length. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962`.
    public static let ecdsaSignatureDigestX962 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962")
    /// ECDSA signature, encoded in DER, of a SHA-1 digest. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962SHA1`.
    public static let ecdsaSignatureDigestX962SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA1")
    /// ECDSA signature, encoded in DER, of a SHA-224 digest. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962SHA224`.
    public static let ecdsaSignatureDigestX962SHA224 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA224")
    /// ECDSA signature, encoded in DER, of a SHA-256 digest. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962SHA256`.
    public static let ecdsaSignatureDigestX962SHA256 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA256")
    /// ECDSA signature, encoded in DER, of a SHA-384 digest. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962SHA384`.
    public static let ecdsaSignatureDigestX962SHA384 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA384")
    /// ECDSA signature, encoded in DER, of a SHA-512 digest. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962SHA512`.
    public static let ecdsaSignatureDigestX962SHA512 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA512")
    /// ECDSA signature, encoded as r ‖ s, of a message hashed with SHA-1.
    /// Apple: `kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA1`.
    public static let ecdsaSignatureMessageRFC4754SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-RFC4754:SHA1")
    /// ECDSA signature, encoded as r ‖ s, of a message hashed with SHA-224.
    /// Apple: `kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA224`.
    public static let ecdsaSignatureMessageRFC4754SHA224 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA224")
    /// ECDSA signature, encoded as r ‖ s, of a message hashed with SHA-256.
    /// Apple: `kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA256`.
    public static let ecdsaSignatureMessageRFC4754SHA256 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA256")
    /// ECDSA signature, encoded as r ‖ s, of a message hashed with SHA-384.
    /// Apple: `kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA384`.
    public static let ecdsaSignatureMessageRFC4754SHA384 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA384")
    /// ECDSA signature, encoded as r ‖ s, of a message hashed with SHA-512.
    /// Apple: `kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA512`.
    public static let ecdsaSignatureMessageRFC4754SHA512 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA512")
    /// ECDSA signature, encoded in DER, of a message hashed with SHA-1.
    /// Apple: `kSecKeyAlgorithmECDSASignatureMessageX962SHA1`.
    public static let ecdsaSignatureMessageX962SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA1")
    /// ECDSA signature, encoded in DER, of a message hashed with SHA-224.
    /// Apple: `kSecKeyAlgorithmECDSASignatureMessageX962SHA224`.
    public static let ecdsaSignatureMessageX962SHA224 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA224")
    /// ECDSA signature, encoded in DER, of a message hashed with SHA-256.
    /// Apple: `kSecKeyAlgorithmECDSASignatureMessageX962SHA256`.
    public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA256")
    /// ECDSA signature, encoded in DER, of a message hashed with SHA-384.
    /// Apple: `kSecKeyAlgorithmECDSASignatureMessageX962SHA384`.
    public static let ecdsaSignatureMessageX962SHA384 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA384")
    /// ECDSA signature, encoded in DER, of a message hashed with SHA-512.
    /// Apple: `kSecKeyAlgorithmECDSASignatureMessageX962SHA512`.
    public static let ecdsaSignatureMessageX962SHA512 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA512")
    /// Former name of `ecdsaSignatureDigestRFC4754`. Apple: `kSecKeyAlgorithmECDSASignatureRFC4754`.
    @available(*, deprecated, renamed: "ecdsaSignatureDigestRFC4754")
    public static let ecdsaSignatureRFC4754 = SecKeyAlgorithm(name: "algid:sign:ECDSA:RFC4754")
}

// MARK: - Key agreement

extension SecKeyAlgorithm {
    /// Cofactor ECDH; the result is the X coordinate of the shared point, without key derivation.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactor`.
    public static let ecdhKeyExchangeCofactor = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC")
    /// Cofactor ECDH; the result is derived with X9.63 and SHA-1.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA1`.
    public static let ecdhKeyExchangeCofactorX963SHA1 = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC:KDFX963:SHA1")
    /// Cofactor ECDH; the result is derived with X9.63 and SHA-224.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA224`.
    public static let ecdhKeyExchangeCofactorX963SHA224 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA224")
    /// Cofactor ECDH; the result is derived with X9.63 and SHA-256.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA256`.
    public static let ecdhKeyExchangeCofactorX963SHA256 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA256")
    /// Cofactor ECDH; the result is derived with X9.63 and SHA-384.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA384`.
    public static let ecdhKeyExchangeCofactorX963SHA384 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA384")
    /// Cofactor ECDH; the result is derived with X9.63 and SHA-512.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA512`.
    public static let ecdhKeyExchangeCofactorX963SHA512 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA512")
    /// Standard ECDH; the result is the X coordinate of the shared point, without key derivation.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeStandard`.
    public static let ecdhKeyExchangeStandard = SecKeyAlgorithm(name: "algid:keyexchange:ECDH")
    /// Standard ECDH; the result is derived with X9.63 and SHA-1.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA1`.
    public static let ecdhKeyExchangeStandardX963SHA1 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA1")
    /// Standard ECDH; the result is derived with X9.63 and SHA-224.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA224`.
    public static let ecdhKeyExchangeStandardX963SHA224 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA224")
    /// Standard ECDH; the result is derived with X9.63 and SHA-256.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA256`.
    public static let ecdhKeyExchangeStandardX963SHA256 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA256")
    /// Standard ECDH; the result is derived with X9.63 and SHA-384.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA384`.
    public static let ecdhKeyExchangeStandardX963SHA384 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA384")
    /// Standard ECDH; the result is derived with X9.63 and SHA-512.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA512`.
    public static let ecdhKeyExchangeStandardX963SHA512 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA512")
}

// MARK: - ECIES

extension SecKeyAlgorithm {
    /// ECIES with cofactor ECDH; X9.63 with SHA-224 derives the AES-GCM key and nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA224AESGCM`.
    public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH; X9.63 with SHA-256 derives the AES-GCM key and nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA256AESGCM`.
    public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH; X9.63 with SHA-384 derives the AES-GCM key and nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA384AESGCM`.
    public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH; X9.63 with SHA-512 derives the AES-GCM key and nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA512AESGCM`.
    public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH; X9.63 with SHA-1 derives the AES-GCM key, the nonce is zero.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorX963SHA1AESGCM`.
    public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM")
    /// ECIES with cofactor ECDH; X9.63 with SHA-224 derives the AES-GCM key, the nonce is zero.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorX963SHA224AESGCM`.
    public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM")
    /// ECIES with cofactor ECDH; X9.63 with SHA-256 derives the AES-GCM key, the nonce is zero.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorX963SHA256AESGCM`.
    public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM")
    /// ECIES with cofactor ECDH; X9.63 with SHA-384 derives the AES-GCM key, the nonce is zero.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorX963SHA384AESGCM`.
    public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM")
    /// ECIES with cofactor ECDH; X9.63 with SHA-512 derives the AES-GCM key, the nonce is zero.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorX963SHA512AESGCM`.
    public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM")
    /// ECIES with standard ECDH; X9.63 with SHA-224 derives the AES-GCM key and nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA224AESGCM`.
    public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV")
    /// ECIES with standard ECDH; X9.63 with SHA-256 derives the AES-GCM key and nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA256AESGCM`.
    public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV")
    /// ECIES with standard ECDH; X9.63 with SHA-384 derives the AES-GCM key and nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA384AESGCM`.
    public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV")
    /// ECIES with standard ECDH; X9.63 with SHA-512 derives the AES-GCM key and nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA512AESGCM`.
    public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV")
    /// ECIES with standard ECDH; X9.63 with SHA-1 derives the AES-GCM key, the nonce is zero.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardX963SHA1AESGCM`.
    public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM")
    /// ECIES with standard ECDH; X9.63 with SHA-224 derives the AES-GCM key, the nonce is zero.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardX963SHA224AESGCM`.
    public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM")
    /// ECIES with standard ECDH; X9.63 with SHA-256 derives the AES-GCM key, the nonce is zero.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardX963SHA256AESGCM`.
    public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM")
    /// ECIES with standard ECDH; X9.63 with SHA-384 derives the AES-GCM key, the nonce is zero.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardX963SHA384AESGCM`.
    public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM")
    /// ECIES with standard ECDH; X9.63 with SHA-512 derives the AES-GCM key, the nonce is zero.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardX963SHA512AESGCM`.
    public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM")
}

// MARK: - RSA signatures

extension SecKeyAlgorithm {
    /// RSA signature with PKCS#1 v1.5 padding of the data itself, without a DigestInfo structure.
    /// Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15Raw`.
    public static let rsaSignatureDigestPKCS1v15Raw = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15")
    /// RSA signature with PKCS#1 v1.5 padding of a SHA-1 digest.
    /// Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA1`.
    public static let rsaSignatureDigestPKCS1v15SHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA1")
    /// RSA signature with PKCS#1 v1.5 padding of a SHA-224 digest.
    /// Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA224`.
    public static let rsaSignatureDigestPKCS1v15SHA224 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA224")
    /// RSA signature with PKCS#1 v1.5 padding of a SHA-256 digest.
    /// Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA256`.
    public static let rsaSignatureDigestPKCS1v15SHA256 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA256")
    /// RSA signature with PKCS#1 v1.5 padding of a SHA-384 digest.
    /// Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA384`.
    public static let rsaSignatureDigestPKCS1v15SHA384 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA384")
    /// RSA signature with PKCS#1 v1.5 padding of a SHA-512 digest.
    /// Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA512`.
    public static let rsaSignatureDigestPKCS1v15SHA512 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA512")
    /// RSA-PSS signature of a SHA-1 digest. Apple: `kSecKeyAlgorithmRSASignatureDigestPSSSHA1`.
    public static let rsaSignatureDigestPSSSHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA1:SHA1:20")
    /// RSA-PSS signature of a SHA-224 digest. Apple: `kSecKeyAlgorithmRSASignatureDigestPSSSHA224`.
    public static let rsaSignatureDigestPSSSHA224 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA224:SHA224:24")
    /// RSA-PSS signature of a SHA-256 digest. Apple: `kSecKeyAlgorithmRSASignatureDigestPSSSHA256`.
    public static let rsaSignatureDigestPSSSHA256 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA256:SHA256:32")
    /// RSA-PSS signature of a SHA-384 digest. Apple: `kSecKeyAlgorithmRSASignatureDigestPSSSHA384`.
    public static let rsaSignatureDigestPSSSHA384 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA384:SHA384:48")
    /// RSA-PSS signature of a SHA-512 digest. Apple: `kSecKeyAlgorithmRSASignatureDigestPSSSHA512`.
    public static let rsaSignatureDigestPSSSHA512 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA512:SHA512:64")
    /// RSA signature with PKCS#1 v1.5 padding of a message hashed with SHA-1.
    /// Apple: `kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA1`.
    public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PKCS1v15:SHA1")
    /// RSA signature with PKCS#1 v1.5 padding of a message hashed with SHA-224.
    /// Apple: `kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA224`.
    public static let rsaSignatureMessagePKCS1v15SHA224 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA224")
    /// RSA signature with PKCS#1 v1.5 padding of a message hashed with SHA-256.
    /// Apple: `kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA256`.
    public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA256")
    /// RSA signature with PKCS#1 v1.5 padding of a message hashed with SHA-384.
    /// Apple: `kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA384`.
    public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA384")
    /// RSA signature with PKCS#1 v1.5 padding of a message hashed with SHA-512.
    /// Apple: `kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA512`.
    public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA512")
    /// RSA-PSS signature of a message hashed with SHA-1. Apple: `kSecKeyAlgorithmRSASignatureMessagePSSSHA1`.
    public static let rsaSignatureMessagePSSSHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PSS:SHA1:SHA1:20")
    /// RSA-PSS signature of a message hashed with SHA-224. Apple: `kSecKeyAlgorithmRSASignatureMessagePSSSHA224`.
    public static let rsaSignatureMessagePSSSHA224 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA224:SHA224:24")
    /// RSA-PSS signature of a message hashed with SHA-256. Apple: `kSecKeyAlgorithmRSASignatureMessagePSSSHA256`.
    public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA256:SHA256:32")
    /// RSA-PSS signature of a message hashed with SHA-384. Apple: `kSecKeyAlgorithmRSASignatureMessagePSSSHA384`.
    public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA384:SHA384:48")
    /// RSA-PSS signature of a message hashed with SHA-512. Apple: `kSecKeyAlgorithmRSASignatureMessagePSSSHA512`.
    public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA512:SHA512:64")
    /// RSA signature without padding; the data is as long as the modulus. Apple: `kSecKeyAlgorithmRSASignatureRaw`.
    public static let rsaSignatureRaw = SecKeyAlgorithm(name: "algid:sign:RSA:raw")
}

// MARK: - RSA encryption

extension SecKeyAlgorithm {
    /// RSA-OAEP encryption of one block with SHA-1. Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA1`.
    public static let rsaEncryptionOAEPSHA1 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA1")
    /// AES-GCM encryption of data of any length; RSA-OAEP with SHA-1 encrypts the AES key.
    /// Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA1AESGCM`.
    public static let rsaEncryptionOAEPSHA1AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA1:AESGCM")
    /// RSA-OAEP encryption of one block with SHA-224. Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA224`.
    public static let rsaEncryptionOAEPSHA224 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA224")
    /// AES-GCM encryption of data of any length; RSA-OAEP with SHA-224 encrypts the AES key.
    /// Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA224AESGCM`.
    public static let rsaEncryptionOAEPSHA224AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA224:AESGCM")
    /// RSA-OAEP encryption of one block with SHA-256. Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA256`.
    public static let rsaEncryptionOAEPSHA256 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA256")
    /// AES-GCM encryption of data of any length; RSA-OAEP with SHA-256 encrypts the AES key.
    /// Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA256AESGCM`.
    public static let rsaEncryptionOAEPSHA256AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA256:AESGCM")
    /// RSA-OAEP encryption of one block with SHA-384. Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA384`.
    public static let rsaEncryptionOAEPSHA384 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA384")
    /// AES-GCM encryption of data of any length; RSA-OAEP with SHA-384 encrypts the AES key.
    /// Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA384AESGCM`.
    public static let rsaEncryptionOAEPSHA384AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA384:AESGCM")
    /// RSA-OAEP encryption of one block with SHA-512. Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA512`.
    public static let rsaEncryptionOAEPSHA512 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA512")
    /// AES-GCM encryption of data of any length; RSA-OAEP with SHA-512 encrypts the AES key.
    /// Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA512AESGCM`.
    public static let rsaEncryptionOAEPSHA512AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA512:AESGCM")
    /// RSA encryption of one block with PKCS#1 v1.5 padding. Apple: `kSecKeyAlgorithmRSAEncryptionPKCS1`.
    public static let rsaEncryptionPKCS1 = SecKeyAlgorithm(name: "algid:encrypt:RSA:PKCS1")
    /// RSA encryption without padding; the data is as long as the modulus. Apple: `kSecKeyAlgorithmRSAEncryptionRaw`.
    public static let rsaEncryptionRaw = SecKeyAlgorithm(name: "algid:encrypt:RSA:raw")
}
