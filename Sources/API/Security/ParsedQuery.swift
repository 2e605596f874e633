// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// A parsed query or attribute dictionary; all `SecItem` functions read their dictionaries through this type.
struct ParsedQuery {
    var itemClass: ItemClass?
    var attributes: Attributes = [:]
    var accessibility: Accessibility?
    var accessControl: AccessControl?
    var anySynchronizable = false
    var secret: SecretBytes?
    var persistentReference: [UInt8]?
    /// The value of `kSecMatchLimit`; nil when the dictionary does not contain it, which means one.
    var limit: MatchLimit?
    /// Whether the dictionary has a `kSecMatch...` key other than the limit.
    var hasOtherMatch = false
    /// Whether the dictionary has a `kSecUse...` key that controls authentication.
    var hasUse = false
    /// The conditions of the `kSecMatch...` keys for certificates and identities.
    var match: CertificateMatch?
    /// Whether the query is for identities: pairs of a certificate and a private key.
    var isForIdentities = false
    /// The value of `kSecValueRef`.
    var object: KeychainObject?
    var returns: Returns = []
    /// The value of `kSecUseAuthenticationContext`.
    var context: (any AuthenticationContext)?
    var interactionAllowed = true
    var skipsProtected = false
    var reason: String?

    static func refusal(_ message: String) -> Failure { Failure(.invalidParameter, message) }
}
