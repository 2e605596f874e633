// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

/// Adds what a dictionary of an app describes: an item, or those of an object.
struct ItemAddition {
    private let query: ParsedQuery
    private let access: KeychainAccess

    init(_ query: ParsedQuery) throws(Failure) {
        self.query = query
        access = try KeychainAccess(query)
    }

    /// Adds, and gives back what was asked for.
    func run() throws(Failure) -> AnyObject? {
        guard let object = query.object else {
            guard let itemClass = query.itemClass else {
                throw ParsedQuery.refusal("An identity is added by kSecValueRef.")
            }
            return try add(try NewItem(query, itemClass))
        }
        guard query.secret == nil else {
            throw ParsedQuery.refusal("kSecValueData and kSecValueRef do not stand together.")
        }
        if case .identity(let identity) = object { return try add(identity) }
        var added: AnyObject?
        for item in try object.newItems() { added = try add(try item.with(query)) }
        return added
    }

    private func add(_ item: NewItem) throws(Failure) -> AnyObject? {
        let returns = query.returns.wanted(of: query.returns.isEmpty ? .genericPassword : item.itemClass)
        let reply = try access.client().call(.addItem(item.request(returns, try access.authentication())))
        guard case .items(let items, _) = reply, let added = items.first else { return nil }
        return try added.result(query.returns, access)
    }

    /// An identity is its key and its certificate. One of them may be there already; both are a duplicate.
    private func add(_ identity: SecIdentity) throws(Failure) -> AnyObject? {
        var items: [NewItem] = []
        for item in try KeychainObject.identity(identity).newItems() {
            // Behaviour KC-24: what an app says of the pair holds for both, as far as they have it.
            let given = query.attributes.filter { item.itemClass.has($0.key) }
            var rule = query.rule
            if item.itemClass == .certificate { rule?.constraints.remove(.privateKeyUsage) }
            items.append(try item.with(given, rule))
        }
        var added: [[UInt8]] = []
        for item in items {
            do throws(Failure) {
                let request = item.request(.persistentReference, try access.authentication())
                guard case .items(let new, _) = try access.client().call(.addItem(request)),
                    let reference = new.first?.persistentReference
                else { throw Failure(.internalFailure, "The daemon's answer is of another kind.") }
                added.append(reference)
            } catch {
                if error.status == .duplicateItem { continue }
                // Nobody expects a private key in the keychain after an addition that failed.
                for reference in added { try? access.delete(reference) }
                throw error
            }
        }
        guard !added.isEmpty else { throw Failure(.duplicateItem, "The identity is in the keychain already.") }
        guard !query.returns.isEmpty else { return nil }
        // The half that was there already may be called otherwise.
        var own = query
        own.attributes = query.attributes.filter { $0.key == .accessGroup }
        (own.accessibility, own.accessControl) = (nil, nil)
        return try IdentitySearch(own).run().first
    }
}
