// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's constants, compared with Tests/Vectors/security.tsv by `SecurityConstantTests`.

/// Finds a key: Data; by default SHA-1 of the public key's external form. Apple: `kSecAttrApplicationLabel`.
nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl"
/// Name that the app gives a key: Data. Apple: `kSecAttrApplicationTag`.
nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag"
/// Whether the key decrypts: a Boolean; reported, not enforced. Apple: `kSecAttrCanDecrypt`.
nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr"
/// Whether the key agrees on secrets: a Boolean; reported, not enforced. Apple: `kSecAttrCanDerive`.
nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve"
/// Whether the key encrypts: a Boolean; reported, not enforced. Apple: `kSecAttrCanEncrypt`.
nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr"
/// Whether the key signs: a Boolean; reported, not enforced. Apple: `kSecAttrCanSign`.
nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign"
/// Whether the key unwraps keys: a Boolean; reported, not enforced. Apple: `kSecAttrCanUnwrap`.
nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp"
/// Whether the key verifies signatures: a Boolean; reported, not enforced. Apple: `kSecAttrCanVerify`.
nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy"
/// Whether the key wraps keys: a Boolean; reported, not enforced. Apple: `kSecAttrCanWrap`.
nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap"
/// Bits of a key that count: a number. Apple: `kSecAttrEffectiveKeySize`.
nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz"
/// Whether the key can be exported: a Boolean. Apple: `kSecAttrIsExtractable`.
nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr"
/// Whether a new key is stored in the keychain: a Boolean. Apple: `kSecAttrIsPermanent`.
nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm"
/// Whether the key is only ever exported encrypted: a Boolean. Apple: `kSecAttrIsSensitive`.
nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens"
/// Public, private or symmetric: one of the `kSecAttrKeyClass...` values. Apple: `kSecAttrKeyClass`.
nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls"
/// The private half of a pair. Apple: `kSecAttrKeyClassPrivate`.
nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1"
/// The public half of a pair. Apple: `kSecAttrKeyClassPublic`.
nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"
/// A symmetric key: kept as an item, not computed with. Apple: `kSecAttrKeyClassSymmetric`.
nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2"
/// Bits of a key: a number or its digits. Apple: `kSecAttrKeySizeInBits`.
nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// Algorithm of a key: one of the `kSecAttrKeyType...` values. Apple: `kSecAttrKeyType`.
nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type"
/// Old name of `kSecAttrKeyTypeECSECPrimeRandom`. Apple: `kSecAttrKeyTypeEC`.
nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73"
/// Old name of `kSecAttrKeyTypeECSECPrimeRandom`. Apple: `kSecAttrKeyTypeECDSA`.
nonisolated(unsafe) public let kSecAttrKeyTypeECDSA: CFString = "73"
/// Curves of NIST: P-256, P-384 and P-521. Apple: `kSecAttrKeyTypeECSECPrimeRandom`.
nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// RSA. Apple: `kSecAttrKeyTypeRSA`.
nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"
/// Triple DES: keeps such keys as items and computes with none. Apple: `kSecAttrKeyType3DES`.
nonisolated(unsafe) public let kSecAttrKeyType3DES: CFString = "17"
/// AES: keeps such keys as items and computes with none. Apple: `kSecAttrKeyTypeAES`.
nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649"
/// CAST: keeps such keys as items and computes with none. Apple: `kSecAttrKeyTypeCAST`.
nonisolated(unsafe) public let kSecAttrKeyTypeCAST: CFString = "56"
/// DES: keeps such keys as items and computes with none. Apple: `kSecAttrKeyTypeDES`.
nonisolated(unsafe) public let kSecAttrKeyTypeDES: CFString = "14"
/// DSA: keeps such keys as items and computes with none. Apple: `kSecAttrKeyTypeDSA`.
nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43"
/// RC2: keeps such keys as items and computes with none. Apple: `kSecAttrKeyTypeRC2`.
nonisolated(unsafe) public let kSecAttrKeyTypeRC2: CFString = "23"
/// RC4: keeps such keys as items and computes with none. Apple: `kSecAttrKeyTypeRC4`.
nonisolated(unsafe) public let kSecAttrKeyTypeRC4: CFString = "25"
/// Where a private key lives: `kSecAttrTokenIDSecureEnclave`. Apple: `kSecAttrTokenID`.
nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid"
/// A private key that never leaves the hardware. Apple: `kSecAttrTokenIDSecureEnclave`.
nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// Class of keys. Apple: `kSecClassKey`.
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"
/// Attributes of the private half alone: a dictionary. Apple: `kSecPrivateKeyAttrs`.
nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private"
/// Attributes of the public half alone: a dictionary. Apple: `kSecPublicKeyAttrs`.
nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public"
