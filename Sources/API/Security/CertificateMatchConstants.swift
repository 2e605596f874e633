// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
