// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's match keys for certificates and identities, compared with Tests/Vectors/security.tsv by
// `SecurityConstantTests`.

/// Only these items: an array of `SecCertificate`, `SecIdentity` and persistent references. Apple: `kSecMatchItemList`.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"
/// Only certificates whose chain names one of these issuers: an array of DER names. Apple: `kSecMatchIssuers`.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"
/// Only certificates with this e-mail address or without any: a string. Apple: `kSecMatchEmailAddressIfPresent`.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Only certificates with a value in their subject that contains this string. Apple: `kSecMatchSubjectContains`.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Only certificates with a value in their subject that starts so: a string. Apple: `kSecMatchSubjectStartsWith`.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Only certificates with a value in their subject that ends so: a string. Apple: `kSecMatchSubjectEndsWith`.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Only certificates with a value in their subject that is this string. Apple: `kSecMatchSubjectWholeString`.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// Whether the subject keys ignore case: a Boolean, false if absent. Apple: `kSecMatchCaseInsensitive`.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Whether the subject keys ignore accents: a Boolean, false if absent. Apple: `kSecMatchDiacriticInsensitive`.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Whether the subject keys ignore the width of characters, as of ａ and a: a Boolean, false if absent. Apple:
/// `kSecMatchWidthInsensitive`.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Only certificates that are trusted: a Boolean. True is refused with `errSecUnimplemented`, since there is no
/// evaluation of trust yet; false is the default. Apple: `kSecMatchTrustedOnly`.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Only certificates valid at that moment: a date, or `NSNull` for now. Apple: `kSecMatchValidOnDate`.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
