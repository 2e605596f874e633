// SPDX-License-Identifier: Apache-2.0

import Foundation
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

    static func refusal(_ message: Phrase) -> Failure { Failure(.invalidParameter, message) }
}

extension ParsedQuery {
    /// Reads a dictionary.
    ///
    /// - Parameters:
    ///   - dictionary: the app's dictionary.
    ///   - known: the class to use when the dictionary does not contain one; it decides which attributes are valid.
    init(_ dictionary: NSDictionary, itemClass known: ItemClass? = nil) throws(Failure) {
        self.init()
        itemClass = known
        // allKeys and allValues return the stored objects. Iterating would look up every value again and bridge it to a
        // Swift value, which copies NSData byte by byte: 60 ms for a secret of 1 MiB.
        var pairs: [(String, Any)] = []
        pairs.reserveCapacity(dictionary.count)
        var (classValue, objectValue): (Any?, Any?) = (nil, nil)
        for (key, value) in zip(dictionary.allKeys, dictionary.allValues) {
            guard let name = stringValue(key) else { throw ParsedQuery.refusal("A key is not a string.") }
            if name == QueryName.itemClass {
                classValue = value
            } else if name == QueryName.valueReference {
                objectValue = value
            } else {
                pairs.append((name, value))
            }
        }
        // Read the class and kSecValueRef first: they decide which attributes are valid.
        if let classValue { try readClass(classValue) }
        if let objectValue { try readObject(objectValue) }
        for (name, value) in pairs { try read(name, value) }
        let isForCertificates = itemClass ?? ItemClass(ofReference: persistentReference) == .certificate
        if hasOtherMatch, isForIdentities || isForCertificates { match = try CertificateMatch(dictionary) }
        try checkCombinations()
    }

    private mutating func readClass(_ value: Any) throws(Failure) {
        guard let name = stringValue(value) else {
            throw ParsedQuery.refusal("kSecClass takes one of the kSecClass... values.")
        }
        if let known = QueryName.itemClasses[name] {
            itemClass = known
        } else if name == QueryName.identityClass {
            isForIdentities = true
        } else {
            throw Failure(.noSuchClass, "kSecClass has the unknown value \(name).")
        }
    }

    private mutating func readObject(_ value: Any) throws(Failure) {
        guard let object = KeychainObject(value) else {
            throw ParsedQuery.refusal("kSecValueRef takes a SecKey, a SecCertificate or a SecIdentity.")
        }
        let isUntold = itemClass == nil && !isForIdentities
        if isUntold { (itemClass, isForIdentities) = (object.itemClass, object.itemClass == nil) }
        guard itemClass == object.itemClass else {
            throw ParsedQuery.refusal("kSecClass and kSecValueRef contradict each other.")
        }
        self.object = object
    }

    // MARK: - Keys of the dictionary

    private mutating func read(_ name: String, _ value: Any) throws(Failure) {
        // Compares types instead of using `is`, which would bridge every value to an object first. NSNull is valid in
        // kSecMatchValidOnDate only, where it means the current time.
        if type(of: value) == NSNull.self, name != QueryName.matchValidOnDate {
            throw ParsedQuery.refusal("The value of \(name) is null.")
        }
        // The prefix of a key gives its kind: m_, r_, u_ and v_; a key of four characters is an attribute (behaviour
        // KC-01).
        let hasUnderscore = name.utf8.dropFirst().first == UInt8(ascii: "_")
        switch hasUnderscore ? name.utf8.first : nil {
        case UInt8(ascii: "r"): try readReturn(name, value)
        case UInt8(ascii: "m"): try readMatch(name, value)
        case UInt8(ascii: "u"): try readUse(name, value)
        case UInt8(ascii: "v"): try readValue(name, value)
        default:
            // Accepted without effect: there is only one keychain.
            if name == QueryName.useDataProtectionKeychain {
                _ = try booleanValue(value, of: name)
                return
            }
            guard name.utf8.count == 4 else { throw ParsedQuery.refusal("The key \(name) is unknown.") }
            try readAttribute(name, value)
        }
    }

    private mutating func readReturn(_ name: String, _ value: Any) throws(Failure) {
        let flag: Returns =
            switch name {
            case QueryName.returnData: .data
            case QueryName.returnAttributes: .attributes
            case QueryName.returnReference: .reference
            case QueryName.returnPersistentReference: .persistentReference
            default: throw ParsedQuery.refusal("The key \(name) is unknown.")
            }
        if try booleanValue(value, of: name) { returns.insert(flag) }
    }

    private mutating func readMatch(_ name: String, _ value: Any) throws(Failure) {
        guard name == QueryName.matchLimit else {
            let known = ["m_Policy", "m_ItemList", "m_SearchList", "m_Issuers", "m_EmailAddressIfPresent"]
            guard
                known.contains(name) || name.hasPrefix("m_Subject") || name.hasSuffix("Insensitive")
                    || ["m_TrustedOnly", "m_ValidOnDate", "m_HostOrSubdomainOfHost"].contains(name)
            else { throw ParsedQuery.refusal("The key \(name) is unknown.") }
            hasOtherMatch = true
            return
        }
        if let number = value as? NSNumber, !isBoolean(number) {
            guard number.int64Value > 0 else { throw ParsedQuery.refusal("kSecMatchLimit must be at least 1.") }
            limit = MatchLimit(UInt64(number.int64Value))
        } else if let name = stringValue(value), name == QueryName.matchLimitOne {
            limit = .one
        } else if let name = stringValue(value), name == QueryName.matchLimitAll {
            limit = .all
        } else {
            throw ParsedQuery.refusal("kSecMatchLimit takes a number or one of its two constants.")
        }
    }

    private mutating func readUse(_ name: String, _ value: Any) throws(Failure) {
        hasUse = true
        switch name {
        case QueryName.useAuthenticationContext:
            guard let context = value as? any AuthenticationContext else {
                throw ParsedQuery.refusal("kSecUseAuthenticationContext takes an LAContext.")
            }
            self.context = context
        case QueryName.useAuthenticationUI:
            switch value as? String {
            case QueryName.useAuthenticationUIAllow: break
            case QueryName.useAuthenticationUIFail: interactionAllowed = false
            case QueryName.useAuthenticationUISkip: skipsProtected = true
            default: throw ParsedQuery.refusal("kSecUseAuthenticationUI takes one of its three constants.")
            }
        case QueryName.useNoAuthenticationUI:
            if try booleanValue(value, of: name) { interactionAllowed = false }
        case QueryName.useOperationPrompt:
            guard let text = value as? String else { throw ParsedQuery.refusal("\(name) takes a string.") }
            reason = text
        default: throw ParsedQuery.refusal("The key \(name) is unknown.")
        }
    }

    private mutating func readValue(_ name: String, _ value: Any) throws(Failure) {
        switch name {
        case QueryName.valueData:
            guard let data = value as? NSData else { throw ParsedQuery.refusal("kSecValueData takes Data.") }
            secret = data.withUnsafeBytes { SecretBytes(copying: $0) }
        case QueryName.valuePersistentReference:
            guard let data = value as? NSData else { throw ParsedQuery.refusal("kSecValuePersistentRef takes Data.") }
            guard data.count <= 256 else { throw ParsedQuery.refusal("The persistent reference is malformed.") }
            let reference = data.withUnsafeBytes { Array($0) }
            if let certificate = IdentityReference.certificate(reference) {
                (persistentReference, isForIdentities) = (certificate, true)
            } else {
                persistentReference = reference
            }
        default: throw ParsedQuery.refusal("The key \(name) is unknown.")
        }
    }

    // MARK: - Attributes

    private mutating func readAttribute(_ name: String, _ value: Any) throws(Failure) {
        switch name {
        case QueryName.accessControl:
            guard let control = value as? SecAccessControl else {
                throw ParsedQuery.refusal("kSecAttrAccessControl takes a SecAccessControl.")
            }
            accessControl = control.value
        case QueryName.accessible:
            guard let text = value as? String, let accessibility = Accessibility(constant: text) else {
                throw ParsedQuery.refusal("kSecAttrAccessible takes one of the kSecAttrAccessible... values.")
            }
            self.accessibility = accessibility
        case QueryName.synchronizable where (value as? NSString) == kSecAttrSynchronizableAny:
            anySynchronizable = true
        default:
            // Behaviour KC-02: an attribute that the class does not have is refused. For an identity, the string `type`
            // names the key type of its private key.
            guard let code = AttributeCode(constant: name, in: isForIdentities ? .key : itemClass), has(code) else {
                throw Failure(.noSuchAttribute, "Items of this class have no attribute \(name).")
            }
            attributes[code] = try AttributeValue(value, for: code, name)
        }
    }

    private func has(_ code: AttributeCode) -> Bool {
        if isForIdentities { return ItemClass.certificate.has(code) || ItemClass.key.has(code) }
        return itemClass?.has(code) ?? true
    }

    /// Restricts a search, an update or a deletion to the items of the object in `kSecValueRef`.
    mutating func narrowToObject() throws(Failure) { try object?.narrow(&self) }

    /// Checks the combinations of keys, after all keys were read.
    private mutating func checkCombinations() throws(Failure) {
        if isForIdentities, itemClass != nil {
            throw Failure(.itemNotFound, "The persistent reference names an identity, and kSecClass another class.")
        }
        // Behaviour KC-10: a persistent reference identifies the item, so attributes beside it are refused.
        guard persistentReference == nil || attributes.isEmpty && effectiveAccessControl == nil else {
            throw ParsedQuery.refusal("A persistent reference cannot be combined with attributes.")
        }
        if let control = accessControl, let accessibility, control.accessibility != accessibility {
            throw ParsedQuery.refusal("kSecAttrAccessible and kSecAttrAccessControl contradict each other.")
        }
    }

    // MARK: - Parts of a request

    /// The access control of a new or changed item; nil when the dictionary has neither `kSecAttrAccessControl` nor
    /// `kSecAttrAccessible`.
    var effectiveAccessControl: AccessControl? {
        accessControl ?? accessibility.map { AccessControl(accessibility: $0) }
    }

    /// Whether the query names a class or a persistent reference.
    var isComplete: Bool { itemClass != nil || isForIdentities || persistentReference != nil }

    /// The part of the query that selects items, as the daemon reads it.
    var query: ItemQuery {
        ItemQuery(
            itemClass: itemClass, attributes: attributes, accessibility: accessControl == nil ? accessibility : nil,
            anySynchronizable: anySynchronizable, persistentReference: persistentReference)
    }
}

/// The keys and constants of a query, as Swift strings.
///
/// Every call compares the dictionary's keys with them several times. Comparing `NSString` objects, or converting a
/// constant to a Swift string each time, took longer than the daemon takes to answer.
enum QueryName {
    static let itemClass = kSecClass as String
    static let itemClasses = Dictionary(
        uniqueKeysWithValues: ItemClass.allCases.compactMap { itemClass in
            itemClass.constant.map { ($0 as String, itemClass) }
        })
    static let identityClass = kSecClassIdentity as String
    static let useDataProtectionKeychain = kSecUseDataProtectionKeychain as String

    static let returnData = kSecReturnData as String
    static let returnAttributes = kSecReturnAttributes as String
    static let returnReference = kSecReturnRef as String
    static let returnPersistentReference = kSecReturnPersistentRef as String

    static let matchLimit = kSecMatchLimit as String
    static let matchValidOnDate = kSecMatchValidOnDate as String
    static let matchLimitOne = kSecMatchLimitOne as String
    static let matchLimitAll = kSecMatchLimitAll as String

    static let useAuthenticationContext = kSecUseAuthenticationContext as String
    static let useAuthenticationUI = kSecUseAuthenticationUI as String
    static let useAuthenticationUISkip = kSecUseAuthenticationUISkip as String
    // Literals, because the constants are deprecated and using them would be a warning.
    static let useAuthenticationUIAllow = "u_AuthUIA"
    static let useAuthenticationUIFail = "u_AuthUIF"
    static let useNoAuthenticationUI = "u_NoAuthUI"
    static let useOperationPrompt = "u_OpPrompt"

    static let valueData = kSecValueData as String
    static let valuePersistentReference = kSecValuePersistentRef as String
    static let valueReference = kSecValueRef as String

    static let accessControl = kSecAttrAccessControl as String
    static let accessible = kSecAttrAccessible as String
    static let synchronizable = kSecAttrSynchronizable as String
}
