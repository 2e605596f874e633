// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What is done with a key, exactly. Apple: `SecKeyAlgorithm`.
///
/// Names and values are compared with Tests/Vectors/security.tsv by `KeyAlgorithmTests`; what each one means is in
/// `KeyScheme`. An unknown value is allowed here and supported by no key.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    /// The name, as a Swift string: making one of a string object anew for each call would take longer.
    let name: String

    /// The name. Apple: `SecKeyAlgorithm.rawValue`.
    public var rawValue: CFString { name as NSString }

    /// Takes any name.
    public init(rawValue: CFString) { name = rawValue as String }

    private init(name: String) { self.name = name }
}

// MARK: - ECDSA

extension SecKeyAlgorithm {
    /// ECDSA as r ‖ s of a digest of any length. Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754`.
    public static let ecdsaSignatureDigestRFC4754 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754")
    /// ECDSA as r ‖ s of a digest of SHA-1. Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA1`.
    public static let ecdsaSignatureDigestRFC4754SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754:SHA1")
    /// ECDSA as r ‖ s of a digest of SHA-224. Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA224`.
    public static let ecdsaSignatureDigestRFC4754SHA224 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA224")
    /// ECDSA as r ‖ s of a digest of SHA-256. Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA256`.
    public static let ecdsaSignatureDigestRFC4754SHA256 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA256")
    /// ECDSA as r ‖ s of a digest of SHA-384. Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA384`.
    public static let ecdsaSignatureDigestRFC4754SHA384 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA384")
    /// ECDSA as r ‖ s of a digest of SHA-512. Apple: `kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA512`.
    public static let ecdsaSignatureDigestRFC4754SHA512 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA512")
    /// ECDSA in DER of a digest of any length. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962`.
    public static let ecdsaSignatureDigestX962 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962")
    /// ECDSA in DER of a digest of SHA-1. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962SHA1`.
    public static let ecdsaSignatureDigestX962SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA1")
    /// ECDSA in DER of a digest of SHA-224. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962SHA224`.
    public static let ecdsaSignatureDigestX962SHA224 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA224")
    /// ECDSA in DER of a digest of SHA-256. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962SHA256`.
    public static let ecdsaSignatureDigestX962SHA256 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA256")
    /// ECDSA in DER of a digest of SHA-384. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962SHA384`.
    public static let ecdsaSignatureDigestX962SHA384 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA384")
    /// ECDSA in DER of a digest of SHA-512. Apple: `kSecKeyAlgorithmECDSASignatureDigestX962SHA512`.
    public static let ecdsaSignatureDigestX962SHA512 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA512")
    /// ECDSA as r ‖ s of a message, hashed with SHA-1. Apple: `kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA1`.
    public static let ecdsaSignatureMessageRFC4754SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-RFC4754:SHA1")
    /// ECDSA as r ‖ s of a message, hashed with SHA-224. Apple: `kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA224`.
    public static let ecdsaSignatureMessageRFC4754SHA224 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA224")
    /// ECDSA as r ‖ s of a message, hashed with SHA-256. Apple: `kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA256`.
    public static let ecdsaSignatureMessageRFC4754SHA256 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA256")
    /// ECDSA as r ‖ s of a message, hashed with SHA-384. Apple: `kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA384`.
    public static let ecdsaSignatureMessageRFC4754SHA384 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA384")
    /// ECDSA as r ‖ s of a message, hashed with SHA-512. Apple: `kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA512`.
    public static let ecdsaSignatureMessageRFC4754SHA512 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA512")
    /// ECDSA in DER of a message, hashed with SHA-1. Apple: `kSecKeyAlgorithmECDSASignatureMessageX962SHA1`.
    public static let ecdsaSignatureMessageX962SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA1")
    /// ECDSA in DER of a message, hashed with SHA-224. Apple: `kSecKeyAlgorithmECDSASignatureMessageX962SHA224`.
    public static let ecdsaSignatureMessageX962SHA224 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA224")
    /// ECDSA in DER of a message, hashed with SHA-256. Apple: `kSecKeyAlgorithmECDSASignatureMessageX962SHA256`.
    public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA256")
    /// ECDSA in DER of a message, hashed with SHA-384. Apple: `kSecKeyAlgorithmECDSASignatureMessageX962SHA384`.
    public static let ecdsaSignatureMessageX962SHA384 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA384")
    /// ECDSA in DER of a message, hashed with SHA-512. Apple: `kSecKeyAlgorithmECDSASignatureMessageX962SHA512`.
    public static let ecdsaSignatureMessageX962SHA512 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA512")
    /// Old name of `ecdsaSignatureDigestRFC4754`. Apple: `kSecKeyAlgorithmECDSASignatureRFC4754`.
    @available(*, deprecated, renamed: "ecdsaSignatureDigestRFC4754")
    public static let ecdsaSignatureRFC4754 = SecKeyAlgorithm(name: "algid:sign:ECDSA:RFC4754")
}

// MARK: - Key agreement

extension SecKeyAlgorithm {
    /// ECDH with the cofactor, the bare X coordinate. Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactor`.
    public static let ecdhKeyExchangeCofactor = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC")
    /// ECDH with the cofactor, derived with X9.63 and SHA-1. Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA1`.
    public static let ecdhKeyExchangeCofactorX963SHA1 = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC:KDFX963:SHA1")
    /// ECDH with the cofactor, derived with X9.63 and SHA-224.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA224`.
    public static let ecdhKeyExchangeCofactorX963SHA224 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA224")
    /// ECDH with the cofactor, derived with X9.63 and SHA-256.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA256`.
    public static let ecdhKeyExchangeCofactorX963SHA256 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA256")
    /// ECDH with the cofactor, derived with X9.63 and SHA-384.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA384`.
    public static let ecdhKeyExchangeCofactorX963SHA384 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA384")
    /// ECDH with the cofactor, derived with X9.63 and SHA-512.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA512`.
    public static let ecdhKeyExchangeCofactorX963SHA512 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA512")
    /// ECDH of the standard kind, the bare X coordinate. Apple: `kSecKeyAlgorithmECDHKeyExchangeStandard`.
    public static let ecdhKeyExchangeStandard = SecKeyAlgorithm(name: "algid:keyexchange:ECDH")
    /// ECDH of the standard kind, derived with X9.63 and SHA-1.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA1`.
    public static let ecdhKeyExchangeStandardX963SHA1 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA1")
    /// ECDH of the standard kind, derived with X9.63 and SHA-224.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA224`.
    public static let ecdhKeyExchangeStandardX963SHA224 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA224")
    /// ECDH of the standard kind, derived with X9.63 and SHA-256.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA256`.
    public static let ecdhKeyExchangeStandardX963SHA256 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA256")
    /// ECDH of the standard kind, derived with X9.63 and SHA-384.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA384`.
    public static let ecdhKeyExchangeStandardX963SHA384 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA384")
    /// ECDH of the standard kind, derived with X9.63 and SHA-512.
    /// Apple: `kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA512`.
    public static let ecdhKeyExchangeStandardX963SHA512 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA512")
}

// MARK: - ECIES

extension SecKeyAlgorithm {
    /// ECIES with the cofactor: X9.63 with SHA-224, AES-GCM, a derived nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA224AESGCM`.
    public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV")
    /// ECIES with the cofactor: X9.63 with SHA-256, AES-GCM, a derived nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA256AESGCM`.
    public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV")
    /// ECIES with the cofactor: X9.63 with SHA-384, AES-GCM, a derived nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA384AESGCM`.
    public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV")
    /// ECIES with the cofactor: X9.63 with SHA-512, AES-GCM, a derived nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA512AESGCM`.
    public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV")
    /// ECIES with the cofactor: X9.63 with SHA-1, AES-GCM.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorX963SHA1AESGCM`.
    public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM")
    /// ECIES with the cofactor: X9.63 with SHA-224, AES-GCM.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorX963SHA224AESGCM`.
    public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM")
    /// ECIES with the cofactor: X9.63 with SHA-256, AES-GCM.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorX963SHA256AESGCM`.
    public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM")
    /// ECIES with the cofactor: X9.63 with SHA-384, AES-GCM.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorX963SHA384AESGCM`.
    public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM")
    /// ECIES with the cofactor: X9.63 with SHA-512, AES-GCM.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionCofactorX963SHA512AESGCM`.
    public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM")
    /// ECIES of the standard kind: X9.63 with SHA-224, AES-GCM, a derived nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA224AESGCM`.
    public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV")
    /// ECIES of the standard kind: X9.63 with SHA-256, AES-GCM, a derived nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA256AESGCM`.
    public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV")
    /// ECIES of the standard kind: X9.63 with SHA-384, AES-GCM, a derived nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA384AESGCM`.
    public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV")
    /// ECIES of the standard kind: X9.63 with SHA-512, AES-GCM, a derived nonce.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA512AESGCM`.
    public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV")
    /// ECIES of the standard kind: X9.63 with SHA-1, AES-GCM.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardX963SHA1AESGCM`.
    public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM")
    /// ECIES of the standard kind: X9.63 with SHA-224, AES-GCM.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardX963SHA224AESGCM`.
    public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM")
    /// ECIES of the standard kind: X9.63 with SHA-256, AES-GCM.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardX963SHA256AESGCM`.
    public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM")
    /// ECIES of the standard kind: X9.63 with SHA-384, AES-GCM.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardX963SHA384AESGCM`.
    public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM")
    /// ECIES of the standard kind: X9.63 with SHA-512, AES-GCM.
    /// Apple: `kSecKeyAlgorithmECIESEncryptionStandardX963SHA512AESGCM`.
    public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM")
}

// MARK: - RSA signatures

extension SecKeyAlgorithm {
    /// RSA with PKCS#1 v1.5 around the bare data. Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15Raw`.
    public static let rsaSignatureDigestPKCS1v15Raw = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15")
    /// RSA with PKCS#1 v1.5 of a digest of SHA-1. Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA1`.
    public static let rsaSignatureDigestPKCS1v15SHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA1")
    /// RSA with PKCS#1 v1.5 of a digest of SHA-224. Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA224`.
    public static let rsaSignatureDigestPKCS1v15SHA224 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA224")
    /// RSA with PKCS#1 v1.5 of a digest of SHA-256. Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA256`.
    public static let rsaSignatureDigestPKCS1v15SHA256 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA256")
    /// RSA with PKCS#1 v1.5 of a digest of SHA-384. Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA384`.
    public static let rsaSignatureDigestPKCS1v15SHA384 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA384")
    /// RSA with PKCS#1 v1.5 of a digest of SHA-512. Apple: `kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA512`.
    public static let rsaSignatureDigestPKCS1v15SHA512 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA512")
    /// RSA-PSS of a digest of SHA-1. Apple: `kSecKeyAlgorithmRSASignatureDigestPSSSHA1`.
    public static let rsaSignatureDigestPSSSHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA1:SHA1:20")
    /// RSA-PSS of a digest of SHA-224. Apple: `kSecKeyAlgorithmRSASignatureDigestPSSSHA224`.
    public static let rsaSignatureDigestPSSSHA224 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA224:SHA224:24")
    /// RSA-PSS of a digest of SHA-256. Apple: `kSecKeyAlgorithmRSASignatureDigestPSSSHA256`.
    public static let rsaSignatureDigestPSSSHA256 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA256:SHA256:32")
    /// RSA-PSS of a digest of SHA-384. Apple: `kSecKeyAlgorithmRSASignatureDigestPSSSHA384`.
    public static let rsaSignatureDigestPSSSHA384 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA384:SHA384:48")
    /// RSA-PSS of a digest of SHA-512. Apple: `kSecKeyAlgorithmRSASignatureDigestPSSSHA512`.
    public static let rsaSignatureDigestPSSSHA512 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA512:SHA512:64")
    /// RSA with PKCS#1 v1.5 of a message, hashed with SHA-1. Apple: `kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA1`.
    public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PKCS1v15:SHA1")
    /// RSA with PKCS#1 v1.5 of a message, hashed with SHA-224.
    /// Apple: `kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA224`.
    public static let rsaSignatureMessagePKCS1v15SHA224 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA224")
    /// RSA with PKCS#1 v1.5 of a message, hashed with SHA-256.
    /// Apple: `kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA256`.
    public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA256")
    /// RSA with PKCS#1 v1.5 of a message, hashed with SHA-384.
    /// Apple: `kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA384`.
    public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA384")
    /// RSA with PKCS#1 v1.5 of a message, hashed with SHA-512.
    /// Apple: `kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA512`.
    public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA512")
    /// RSA-PSS of a message, hashed with SHA-1. Apple: `kSecKeyAlgorithmRSASignatureMessagePSSSHA1`.
    public static let rsaSignatureMessagePSSSHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PSS:SHA1:SHA1:20")
    /// RSA-PSS of a message, hashed with SHA-224. Apple: `kSecKeyAlgorithmRSASignatureMessagePSSSHA224`.
    public static let rsaSignatureMessagePSSSHA224 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA224:SHA224:24")
    /// RSA-PSS of a message, hashed with SHA-256. Apple: `kSecKeyAlgorithmRSASignatureMessagePSSSHA256`.
    public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA256:SHA256:32")
    /// RSA-PSS of a message, hashed with SHA-384. Apple: `kSecKeyAlgorithmRSASignatureMessagePSSSHA384`.
    public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA384:SHA384:48")
    /// RSA-PSS of a message, hashed with SHA-512. Apple: `kSecKeyAlgorithmRSASignatureMessagePSSSHA512`.
    public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA512:SHA512:64")
    /// RSA without padding; the data is as long as the key. Apple: `kSecKeyAlgorithmRSASignatureRaw`.
    public static let rsaSignatureRaw = SecKeyAlgorithm(name: "algid:sign:RSA:raw")
}

// MARK: - RSA encryption

extension SecKeyAlgorithm {
    /// RSA-OAEP with SHA-1. Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA1`.
    public static let rsaEncryptionOAEPSHA1 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA1")
    /// AES-GCM, its key wrapped with RSA-OAEP and SHA-1; data of any length.
    /// Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA1AESGCM`.
    public static let rsaEncryptionOAEPSHA1AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA1:AESGCM")
    /// RSA-OAEP with SHA-224. Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA224`.
    public static let rsaEncryptionOAEPSHA224 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA224")
    /// AES-GCM, its key wrapped with RSA-OAEP and SHA-224; data of any length.
    /// Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA224AESGCM`.
    public static let rsaEncryptionOAEPSHA224AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA224:AESGCM")
    /// RSA-OAEP with SHA-256. Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA256`.
    public static let rsaEncryptionOAEPSHA256 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA256")
    /// AES-GCM, its key wrapped with RSA-OAEP and SHA-256; data of any length.
    /// Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA256AESGCM`.
    public static let rsaEncryptionOAEPSHA256AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA256:AESGCM")
    /// RSA-OAEP with SHA-384. Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA384`.
    public static let rsaEncryptionOAEPSHA384 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA384")
    /// AES-GCM, its key wrapped with RSA-OAEP and SHA-384; data of any length.
    /// Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA384AESGCM`.
    public static let rsaEncryptionOAEPSHA384AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA384:AESGCM")
    /// RSA-OAEP with SHA-512. Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA512`.
    public static let rsaEncryptionOAEPSHA512 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA512")
    /// AES-GCM, its key wrapped with RSA-OAEP and SHA-512; data of any length.
    /// Apple: `kSecKeyAlgorithmRSAEncryptionOAEPSHA512AESGCM`.
    public static let rsaEncryptionOAEPSHA512AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA512:AESGCM")
    /// RSA with the padding of PKCS#1 v1.5. Apple: `kSecKeyAlgorithmRSAEncryptionPKCS1`.
    public static let rsaEncryptionPKCS1 = SecKeyAlgorithm(name: "algid:encrypt:RSA:PKCS1")
    /// RSA without padding; the data is as long as the key. Apple: `kSecKeyAlgorithmRSAEncryptionRaw`.
    public static let rsaEncryptionRaw = SecKeyAlgorithm(name: "algid:encrypt:RSA:raw")
}
