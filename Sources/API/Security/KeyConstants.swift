// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's constants, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.

/// Label by which a key is found: `Data`, by default the 20 bytes of SHA-1 of the public key's external representation.
/// Apple: `kSecAttrApplicationLabel`.
nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl"
/// Tag that the app gives a key: `Data`, part of the primary key. Apple: `kSecAttrApplicationTag`.
nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag"
/// Whether a key can decrypt: a Boolean; reported, not enforced. Apple: `kSecAttrCanDecrypt`.
nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr"
/// Whether a key can derive shared secrets: a Boolean; reported, not enforced. Apple: `kSecAttrCanDerive`.
nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve"
/// Whether a key can encrypt: a Boolean; reported, not enforced. Apple: `kSecAttrCanEncrypt`.
nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr"
/// Whether a key can sign: a Boolean; reported, not enforced. Apple: `kSecAttrCanSign`.
nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign"
/// Whether a key can unwrap other keys: a Boolean; reported, not enforced. Apple: `kSecAttrCanUnwrap`.
nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp"
/// Whether a key can verify signatures: a Boolean; reported, not enforced. Apple: `kSecAttrCanVerify`.
nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy"
/// Whether a key can wrap other keys: a Boolean; reported, not enforced. Apple: `kSecAttrCanWrap`.
nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap"
/// Effective size of a key in bits: a number, equal to `kSecAttrKeySizeInBits` for RSA and elliptic curves.
/// Apple: `kSecAttrEffectiveKeySize`.
nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz"
/// Whether a private key in memory can be exported: a Boolean; false makes an export fail with `errSecUnimplemented`.
/// Apple: `kSecAttrIsExtractable`.
nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr"
/// Whether a new key is stored in the keychain: a Boolean; the default is true for private keys of the Secure Enclave
/// and false for all other keys. Apple: `kSecAttrIsPermanent`.
nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm"
/// Whether a key may be exported in encrypted form only: a Boolean; reported, not enforced.
/// Apple: `kSecAttrIsSensitive`.
nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens"
/// Class of a key: one of the `kSecAttrKeyClass...` values, or its number. Apple: `kSecAttrKeyClass`.
nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls"
/// Value of `kSecAttrKeyClass` for the private half of a pair. Apple: `kSecAttrKeyClassPrivate`.
nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1"
/// Value of `kSecAttrKeyClass` for the public half of a pair. Apple: `kSecAttrKeyClassPublic`.
nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"
/// Value of `kSecAttrKeyClass` for a symmetric key, which can be stored as an item but has no `SecKey`.
/// Apple: `kSecAttrKeyClassSymmetric`.
nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2"
/// Size of a key in bits: a number, or a string of its decimal digits. Apple: `kSecAttrKeySizeInBits`.
nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// Type of a key: one of the `kSecAttrKeyType...` values, or its number. Apple: `kSecAttrKeyType`.
nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type"
/// Former name of `kSecAttrKeyTypeECSECPrimeRandom`, with the same value. Apple: `kSecAttrKeyTypeEC`.
nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73"
/// Former name of `kSecAttrKeyTypeECSECPrimeRandom`, with the same value. Apple: `kSecAttrKeyTypeECDSA`.
nonisolated(unsafe) public let kSecAttrKeyTypeECDSA: CFString = "73"
/// Value of `kSecAttrKeyType` for elliptic curve keys on P-256, P-384 and P-521.
/// Apple: `kSecAttrKeyTypeECSECPrimeRandom`.
nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// Value of `kSecAttrKeyType` for RSA keys. Apple: `kSecAttrKeyTypeRSA`.
nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"
/// Value of `kSecAttrKeyType` for Triple DES: stored as an item only; there is no `SecKey` for it.
/// Apple: `kSecAttrKeyType3DES`.
nonisolated(unsafe) public let kSecAttrKeyType3DES: CFString = "17"
/// Value of `kSecAttrKeyType` for AES: stored as an item only; there is no `SecKey` for it.
/// Apple: `kSecAttrKeyTypeAES`.
nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649"
/// Value of `kSecAttrKeyType` for CAST: stored as an item only; there is no `SecKey` for it.
/// Apple: `kSecAttrKeyTypeCAST`.
nonisolated(unsafe) public let kSecAttrKeyTypeCAST: CFString = "56"
/// Value of `kSecAttrKeyType` for DES: stored as an item only; there is no `SecKey` for it.
/// Apple: `kSecAttrKeyTypeDES`.
nonisolated(unsafe) public let kSecAttrKeyTypeDES: CFString = "14"
/// Value of `kSecAttrKeyType` for DSA: stored as an item only; there is no `SecKey` for it.
/// Apple: `kSecAttrKeyTypeDSA`.
nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43"
/// Value of `kSecAttrKeyType` for RC2: stored as an item only; there is no `SecKey` for it.
/// Apple: `kSecAttrKeyTypeRC2`.
nonisolated(unsafe) public let kSecAttrKeyTypeRC2: CFString = "23"
/// Value of `kSecAttrKeyType` for RC4: stored as an item only; there is no `SecKey` for it.
/// Apple: `kSecAttrKeyTypeRC4`.
nonisolated(unsafe) public let kSecAttrKeyTypeRC4: CFString = "25"
/// Token that holds a private key: `kSecAttrTokenIDSecureEnclave`; absent for keys in memory. Apple: `kSecAttrTokenID`.
nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid"
/// Value of `kSecAttrTokenID` for the Secure Enclave: P-256 keys that are generated there and cannot be exported.
/// Apple: `kSecAttrTokenIDSecureEnclave`.
nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// Value of `kSecClass` for keys. Apple: `kSecClassKey`.
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"
/// Attributes of the private half only: a dictionary in the parameters of `SecKeyCreateRandomKey`.
/// Apple: `kSecPrivateKeyAttrs`.
nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private"
/// Attributes of the public half only: a dictionary in the parameters of `SecKeyCreateRandomKey`.
/// Apple: `kSecPublicKeyAttrs`.
nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public"
