// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

/// Adds the item that an app's dictionary describes, or the items of the object in its `kSecValueRef`.
struct ItemAddition {
    private let query: ParsedQuery
    private let access: KeychainAccess

    init(_ query: ParsedQuery) throws(Failure) {
        self.query = query
        access = try KeychainAccess(query)
    }

    /// Adds the items and returns the object that the `kSecReturn...` keys ask for.
    func run() throws(Failure) -> AnyObject? {
        guard let object = query.object else {
            guard let itemClass = query.itemClass else {
                throw ParsedQuery.refusal("SecItemAdd takes an identity in kSecValueRef only.")
            }
            return try add(try NewItem(query, itemClass))
        }
        guard query.secret == nil else {
            throw ParsedQuery.refusal("kSecValueData and kSecValueRef cannot be combined.")
        }
        if case .identity(let identity) = object { return try add(identity) }
        var added: AnyObject?
        for item in try object.newItems() { added = try add(try item.with(query)) }
        return added
    }

    private func add(_ item: NewItem) throws(Failure) -> AnyObject? {
        let returns = query.returns.wanted(of: query.returns.isEmpty ? .genericPassword : item.itemClass)
        let items = try access.client().call(item.request(returns, try access.authentication()))
        guard let added = items.first else { return nil }
        return try added.result(query.returns, access)
    }

    /// Adds the key and the certificate of an identity. One of them may be in the keychain already; throws
    /// `duplicateItem` when both are.
    private func add(_ identity: SecIdentity) throws(Failure) -> AnyObject? {
        var items: [NewItem] = []
        for item in try KeychainObject.identity(identity).newItems() {
            // Behaviour KC-24: each attribute of the query is applied to every item whose class has that attribute.
            let given = query.attributes.filter { item.itemClass.has($0.key) }
            var accessControl = query.effectiveAccessControl
            if item.itemClass == .certificate { accessControl?.constraints.remove(.privateKeyUsage) }
            items.append(try item.with(given, accessControl))
        }
        var added: [[UInt8]] = []
        for item in items {
            do throws(Failure) {
                let request = item.request(.persistentReference, try access.authentication())
                guard let reference = try access.client().call(request).first?.persistentReference else {
                    throw .unexpectedReply
                }
                added.append(reference)
            } catch {
                if error.status == .duplicateItem { continue }
                // The call failed, so no private key may remain in the keychain. Deleting is best effort.
                for reference in added { try? access.delete(reference) }
                throw error
            }
        }
        guard !added.isEmpty else { throw Failure(.duplicateItem, "The identity is in the keychain already.") }
        guard !query.returns.isEmpty else { return nil }
        // The item that was in the keychain already may have other attributes than the query, so search without them.
        var own = query
        own.attributes = query.attributes.filter { $0.key == .accessGroup }
        (own.accessibility, own.accessControl) = (nil, nil)
        return try IdentitySearch(own).run().first
    }
}
