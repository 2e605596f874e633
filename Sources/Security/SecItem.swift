// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyModel

/// Adds an item. Apple: `SecItemAdd`.
///
/// - Parameters:
///   - attributes: class, attributes, `kSecValueData` (at most 1 MiB) and what to return.
///   - result: set to what a `kSecReturn...` key asks for; stays as it is otherwise.
/// - Returns: `errSecSuccess`; `errSecDuplicateItem` for an item with the same primary key; `errSecParam` for a
///   malformed dictionary; `errSecAuthFailed` where the access control cannot be kept; `errSecNotAvailable` without a
///   daemon.
///
/// Blocks until the item is durable. Prompts only for the passcode, when the item's class needs it and the daemon has
/// not seen it since its start.
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

/// Finds items. Apple: `SecItemCopyMatching`.
///
/// - Parameters:
///   - query: class, attributes that have to be equal, `kSecMatchLimit` and what to return.
///   - result: set to one object for a limit of 1 (the default), else to an array of them: `Data`, a dictionary of
///     attributes, a persistent reference, or a dictionary when several are asked for.
/// - Returns: `errSecSuccess`; `errSecItemNotFound`; `errSecParam` for a malformed dictionary, or when something is
///   asked for and `result` is nil; `errSecInteractionNotAllowed`, `errSecUserCanceled` or `errSecAuthFailed` for an
///   item whose access control is not met.
///
/// Blocks, and may prompt for items with access control: not to be called on a thread that draws.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(Failure) in
        var parsed = try ParsedQuery(query)
        guard parsed.isComplete else { throw ParsedQuery.refusal("kSecClass is missing.") }
        guard parsed.returns.isEmpty || result != nil else {
            throw ParsedQuery.refusal("Something is asked for, and there is no place for it.")
        }
        try parsed.narrowToObject()
        // Behaviour KC-24: by an identity its reference is found, and neither data nor attributes.
        if case .identity? = parsed.object { parsed.returns.subtract([.data, .attributes]) }
        let objects = try parsed.isForIdentities ? IdentitySearch(parsed).run() : parsed.foundObjects()
        guard !parsed.returns.isEmpty else { return }
        result?.pointee = parsed.limit ?? 1 == 1 ? objects.first : objects as NSArray
    }
}

/// Changes every item that matches, or none. Apple: `SecItemUpdate`.
///
/// - Parameters:
///   - query: class and attributes that have to be equal; no match or return key.
///   - attributesToUpdate: new attributes and `kSecValueData`.
/// - Returns: `errSecSuccess`; `errSecItemNotFound`; `errSecDuplicateItem` when an item would take the primary key of
///   another; `errSecParam`; the codes of `SecItemCopyMatching` for items with access control.
///
/// Blocks until the change is durable; may prompt for items with access control.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status { () throws(Failure) in
        var parsed = try ParsedQuery(query)
        guard parsed.returns.isEmpty, parsed.limit == nil, !parsed.hasOtherMatch, !parsed.skipsProtected
        else { throw ParsedQuery.refusal("SecItemUpdate takes no kSecReturn or kSecMatch key.") }
        guard parsed.isComplete else { throw ParsedQuery.refusal("kSecClass is missing.") }
        guard !parsed.isForIdentities else {
            throw Failure(.unimplemented, "An identity is two items: change its certificate or its key.")
        }
        try parsed.narrowToObject()
        guard attributesToUpdate[kSecClass as String] == nil else {
            throw Failure(.noSuchAttribute, "The class of an item cannot be changed.")
        }
        let changes = try ParsedQuery(
            attributesToUpdate, itemClass: parsed.itemClass ?? ItemClass(ofReference: parsed.persistentReference))
        guard changes.returns.isEmpty, changes.limit == nil, !changes.hasOtherMatch, !changes.hasUse,
            changes.persistentReference == nil, !changes.anySynchronizable, changes.object == nil
        else { throw ParsedQuery.refusal("The changes hold a key that is no attribute.") }
        let access = try KeychainAccess(parsed)
        let request = Request.UpdateItems(
            query: parsed.query, changes: changes.attributes, accessControl: changes.rule, secret: changes.secret,
            authentication: try access.authentication())
        _ = try access.client().call(.updateItems(request))
    }
}

/// Deletes every item that matches. Apple: `SecItemDelete`.
///
/// - Parameter query: class and attributes that have to be equal. No `kSecMatch` key, not even
///   `kSecMatchLimitAll`: every item that matches is deleted anyway.
/// - Returns: `errSecSuccess`, `errSecItemNotFound` or `errSecParam`.
///
/// Blocks until the items are gone from the disk; never prompts.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status { () throws(Failure) in
        var parsed = try ParsedQuery(query)
        guard parsed.limit == nil, !parsed.hasOtherMatch, !parsed.skipsProtected else {
            throw ParsedQuery.refusal("SecItemDelete takes no kSecMatch key.")
        }
        guard parsed.isComplete else { throw ParsedQuery.refusal("kSecClass is missing.") }
        if parsed.isForIdentities { return try IdentitySearch(parsed).delete() }
        try parsed.narrowToObject()
        _ = try KeychainAccess(parsed).client().call(.deleteItems(parsed.query))
    }
}
