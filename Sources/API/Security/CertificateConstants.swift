// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's constants for certificates and identities, compared with Tests/Vectors/security.tsv by
// `SecurityConstantTests`.

/// Value of `kSecClass` for certificates. Apple: `kSecClassCertificate`.
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"
/// Value of `kSecClass` for identities: pairs of a certificate and the private key of its public key.
/// Apple: `kSecClassIdentity`.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"
/// X.509 version of a certificate: a number from 1 to 3, set by the keychain. Apple: `kSecAttrCertificateType`.
nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp"
/// Encoding of a certificate: a number, always 3 for DER, set by the keychain. Apple: `kSecAttrCertificateEncoding`.
nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc"
/// Normalised subject of a certificate: `Data`, the DER contents without the outer SEQUENCE header, set by the
/// keychain. Apple: `kSecAttrSubject`.
nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj"
/// Normalised issuer of a certificate: `Data`, the DER contents without the outer SEQUENCE header, set by the keychain.
/// Apple: `kSecAttrIssuer`.
nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr"
/// Serial number of a certificate: `Data`, the contents of the DER INTEGER, big-endian, set by the keychain.
/// Apple: `kSecAttrSerialNumber`.
nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr"
/// Subject key identifier of a certificate (RFC 5280, section 4.2.1.2): `Data`, set by the keychain if the certificate
/// has one. Apple: `kSecAttrSubjectKeyID`.
nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid"
/// SHA-1 of the external representation of a certificate's public key: `Data` of 20 bytes, set by the keychain.
/// Apple: `kSecAttrPublicKeyHash`.
nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh"

// Names and values of Apple's match keys for certificates and identities, compared with Tests/Vectors/security.tsv by
// `SecurityConstantTests`.

/// Match key: only the listed items. An array of `SecCertificate`, `SecIdentity`, `SecKey` and persistent references; a
/// key matches no certificate. Apple: `kSecMatchItemList`.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"
/// Match key: only certificates with one of these names among the issuers of their chain. An array of `Data`, each a
/// DER name. The chain is built from the certificates in the keychain and is not verified. Apple: `kSecMatchIssuers`.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"
/// Match key: only certificates with this e-mail address or without any. A string, compared without case.
/// Apple: `kSecMatchEmailAddressIfPresent`.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Match key: only certificates with a subject value that contains this string. Apple: `kSecMatchSubjectContains`.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Match key: only certificates with a subject value that starts with this string. Apple: `kSecMatchSubjectStartsWith`.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Match key: only certificates with a subject value that ends with this string. Apple: `kSecMatchSubjectEndsWith`.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Match key: only certificates with a subject value that equals this string. Apple: `kSecMatchSubjectWholeString`.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// Whether the `kSecMatchSubject...` keys ignore case: a Boolean, false by default. Apple: `kSecMatchCaseInsensitive`.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Whether the `kSecMatchSubject...` keys ignore diacritics: a Boolean, false by default.
/// Apple: `kSecMatchDiacriticInsensitive`.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Whether the `kSecMatchSubject...` keys ignore the width of characters, such as `ａ` and `a`: a Boolean, false by
/// default. Apple: `kSecMatchWidthInsensitive`.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Match key: only trusted certificates. A Boolean, false by default; true returns `errSecUnimplemented`, since trust
/// evaluation is not available yet. Apple: `kSecMatchTrustedOnly`.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Match key: only certificates valid at this time. A date, or `NSNull` for the current time.
/// Apple: `kSecMatchValidOnDate`.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// Names and values of Apple's constants for PKCS#12, compared with Tests/Vectors/security.tsv by
// `SecurityConstantTests`.

/// Option of `SecPKCS12Import`: the file's passphrase, a string. Required. Apple: `kSecImportExportPassphrase`.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"
/// Option of `SecPKCS12Import`: a Boolean, accepted without effect, since an import never stores anything.
/// Apple: `kSecImportToMemoryOnly`.
nonisolated(unsafe) public let kSecImportToMemoryOnly: CFString = "memory"
/// Key in the results of `SecPKCS12Import`: the friendly name in the file, else the certificate's summary; a string.
/// Apple: `kSecImportItemLabel`.
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"
/// Key in the results of `SecPKCS12Import`: the local key identifier in the file, else SHA-1 of the public key; `Data`.
/// Apple: `kSecImportItemKeyID`.
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"
/// Key in the results of `SecPKCS12Import`: an array of `SecCertificate`, the identity's own first, then its issuers.
/// The chain is not verified. Apple: `kSecImportItemCertChain`.
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"
/// Key in the results of `SecPKCS12Import`: the `SecIdentity`. Apple: `kSecImportItemIdentity`.
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"
