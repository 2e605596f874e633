// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyModel

/// Adds an item to the keychain.
///
/// - Parameters:
///   - attributes: `kSecClass` or `kSecValueRef`; attributes; `kSecValueData` (at most 1 MiB); `kSecReturn...` keys;
///     and `kSecUse...` keys. `kSecMatch...` keys are not allowed.
///   - result: set to the object that the `kSecReturn...` keys ask for, in the form that `SecItemCopyMatching`
///     describes; unchanged without such a key and on failure. May be nil.
/// - Returns: a result code:
///   - `errSecSuccess`: the item is stored.
///   - `errSecDuplicateItem`: an item with the same primary key exists.
///   - `errSecParam`: the dictionary is malformed, or a value has the wrong type.
///   - `errSecNoSuchClass`, `errSecNoSuchAttr`: the class is unknown, or does not have an attribute.
///   - `errSecMissingEntitlement`: the app is not in the access group.
///   - `errSecDataTooLarge`: the secret exceeds 1 MiB, or an attribute 64 KiB.
///   - `errSecAuthFailed`: the access control cannot be satisfied, for instance because no passcode is set or nothing
///     is enrolled, or the user failed to authenticate.
///   - `errSecInteractionNotAllowed`: the keychain is locked, or a prompt is needed and not allowed or not possible.
///   - `errSecUserCanceled`: the user cancelled the prompt.
///   - `errSecNotAvailable`: the daemon cannot be reached.
///   - `errSecDiskFull`, `errSecReadOnly`, `errSecInvalidKeychain`: the store cannot be written or read.
///
/// Blocks until the item is durable. Prompts only for the passcode: when the item's accessibility is
/// `kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly` and the passcode was not entered since the daemon started.
///
/// Apple: `SecItemAdd(_:_:)`.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(Failure) in
        let parsed = try ParsedQuery(attributes)
        guard parsed.isComplete else { throw ParsedQuery.refusal("kSecClass is missing.") }
        guard parsed.limit == nil, !parsed.hasOtherMatch, !parsed.skipsProtected, parsed.persistentReference == nil,
            !parsed.anySynchronizable
        else { throw ParsedQuery.refusal("SecItemAdd takes no search key.") }
        if let object = try ItemAddition(parsed).run() { result?.pointee = object }
    }
}

/// Finds the items that match a query.
///
/// - Parameters:
///   - query: `kSecClass`, `kSecValueRef` or `kSecValuePersistentRef`; attributes, which must be equal; `kSecMatch...`
///     keys; `kSecReturn...` keys; and `kSecUse...` keys.
///   - result: set to one object when the limit is 1 (the default), else to an array of objects. One object is `Data`
///     for `kSecReturnData` or `kSecReturnPersistentRef`, a `SecKey`, `SecCertificate` or `SecIdentity` for
///     `kSecReturnRef`, and a dictionary for `kSecReturnAttributes` or several of these keys. Unchanged on failure,
///     for a query without a `kSecReturn...` key, and for one that has a `SecIdentity` in `kSecValueRef` and asks for
///     data, for attributes or for all four. May be nil only for a query without a `kSecReturn...` key.
/// - Returns: a result code:
///   - `errSecSuccess`: at least one item matches.
///   - `errSecItemNotFound`: no item matches.
///   - `errSecParam`: the query is malformed, or `result` is nil although the query has a `kSecReturn...` key.
///   - `errSecNoSuchClass`, `errSecNoSuchAttr`: the class is unknown, or does not have an attribute.
///   - `errSecMissingEntitlement`: the app is not in the access group.
///   - `errSecUnimplemented`: a match key needs trust evaluation, or the query asks only for the data of a key that
///     cannot be exported.
///   - `errSecAuthFailed`: authentication failed, or the access control cannot be satisfied.
///   - `errSecInteractionNotAllowed`: the keychain is locked, or a prompt is needed and not allowed or not possible.
///   - `errSecUserCanceled`: the user cancelled the prompt.
///   - `errSecNotAvailable`: the daemon cannot be reached.
///   - `errSecInvalidKeychain`: the store cannot be read.
///
/// Blocks while the daemon answers, and may prompt when an item has an access control. Do not call it on the main
/// thread of an app with a user interface.
///
/// Apple: `SecItemCopyMatching(_:_:)`.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(Failure) in
        var parsed = try ParsedQuery(query)
        guard parsed.isComplete else { throw ParsedQuery.refusal("kSecClass is missing.") }
        guard parsed.returns.isEmpty || result != nil else {
            throw ParsedQuery.refusal("The query has a kSecReturn key, and the result pointer is nil.")
        }
        try parsed.narrowToObject()
        // Behaviour KC-24: a search by an identity returns references only, neither data nor attributes, and nothing at
        // all when it asks for everything.
        if case .identity? = parsed.object {
            parsed.returns.subtract(parsed.returns == .known ? .known : [.data, .attributes])
        }
        let objects = try parsed.isForIdentities ? IdentitySearch(parsed).run() : parsed.foundObjects()
        guard !parsed.returns.isEmpty else { return }
        result?.pointee = parsed.limit ?? .one == .one ? objects.first : objects as NSArray
    }
}

/// Changes all items that match a query, in one transaction: on failure no item is changed.
///
/// - Parameters:
///   - query: `kSecClass`, `kSecValueRef` or `kSecValuePersistentRef`; attributes, which must be equal; and
///     `kSecUse...` keys. `kSecMatch...` and `kSecReturn...` keys are not allowed.
///   - attributesToUpdate: the new attributes, `kSecValueData` and access control; other attributes keep their values.
/// - Returns: a result code:
///   - `errSecSuccess`: all matching items are changed.
///   - `errSecItemNotFound`: no item matches.
///   - `errSecDuplicateItem`: an item would get the primary key of another item.
///   - `errSecParam`: a dictionary is malformed, or has a key that is not allowed.
///   - `errSecNoSuchClass`: the class is unknown.
///   - `errSecNoSuchAttr`: the class does not have an attribute, or `attributesToUpdate` contains `kSecClass`.
///   - `errSecUnimplemented`: the query is for identities.
///   - `errSecMissingEntitlement`, `errSecDataTooLarge`, `errSecAuthFailed`, `errSecInteractionNotAllowed`,
///     `errSecUserCanceled`, `errSecNotAvailable`, `errSecDiskFull`, `errSecReadOnly`, `errSecInvalidKeychain`: as for
///     `SecItemAdd`.
///
/// Blocks until the change is durable, and may prompt when an item has an access control.
///
/// Apple: `SecItemUpdate(_:_:)`.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status { () throws(Failure) in
        var parsed = try ParsedQuery(query)
        guard parsed.returns.isEmpty, parsed.limit == nil, !parsed.hasOtherMatch, !parsed.skipsProtected
        else { throw ParsedQuery.refusal("SecItemUpdate takes no kSecReturn or kSecMatch key.") }
        guard parsed.isComplete else { throw ParsedQuery.refusal("kSecClass is missing.") }
        guard !parsed.isForIdentities else {
            throw Failure(.unimplemented, "An identity cannot be updated: update its certificate or its key.")
        }
        try parsed.narrowToObject()
        guard attributesToUpdate[kSecClass as String] == nil else {
            throw Failure(.noSuchAttribute, "The class of an item cannot be changed.")
        }
        let changes = try ParsedQuery(
            attributesToUpdate, itemClass: parsed.itemClass ?? ItemClass(ofReference: parsed.persistentReference))
        guard changes.returns.isEmpty, changes.limit == nil, !changes.hasOtherMatch, !changes.hasUse,
            changes.persistentReference == nil, !changes.anySynchronizable, changes.object == nil
        else { throw ParsedQuery.refusal("The dictionary of changes has a key that is not an attribute.") }
        let access = try KeychainAccess(parsed)
        let request = Request.UpdateItems(
            query: parsed.query, changes: changes.attributes, accessControl: changes.effectiveAccessControl,
            secret: changes.secret,
            authentication: try access.authentication())
        try access.client().call(request)
    }
}

/// Deletes all items that match a query.
///
/// - Parameter query: `kSecClass`, `kSecValueRef` or `kSecValuePersistentRef`, and attributes, which must be equal.
///   `kSecMatchLimit` may be `kSecMatchLimitAll`, which changes nothing: all matching items are deleted anyway. Other
///   `kSecMatch...` keys are not allowed.
/// - Returns: a result code:
///   - `errSecSuccess`: all matching items are deleted.
///   - `errSecItemNotFound`: no item matches.
///   - `errSecParam`: the query is malformed, or has a key that is not allowed.
///   - `errSecNoSuchClass`, `errSecNoSuchAttr`: the class is unknown, or does not have an attribute.
///   - `errSecMissingEntitlement`: the app is not in the access group.
///   - `errSecNotAvailable`: the daemon cannot be reached.
///   - `errSecDiskFull`, `errSecReadOnly`, `errSecInvalidKeychain`: the store cannot be written or read.
///
/// Blocks until the deletion is durable; never prompts, not even for items with an access control.
///
/// Apple: `SecItemDelete(_:)`.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status { () throws(Failure) in
        var parsed = try ParsedQuery(query)
        guard parsed.limit ?? .all == .all, !parsed.hasOtherMatch, !parsed.skipsProtected else {
            throw ParsedQuery.refusal("SecItemDelete takes no kSecMatch key but kSecMatchLimit with kSecMatchLimitAll.")
        }
        guard parsed.isComplete else { throw ParsedQuery.refusal("kSecClass is missing.") }
        if parsed.isForIdentities { return try IdentitySearch(parsed).delete() }
        try parsed.narrowToObject()
        try KeychainAccess(parsed).client().call(Request.DeleteItems(parsed.query))
    }
}
