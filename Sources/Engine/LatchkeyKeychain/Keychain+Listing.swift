// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
import LatchkeySeams

extension Keychain {
    /// The proof that a user must give before the items of all apps are listed.
    package static var listingPlan: AuthenticationPlan { Policy.deviceOwnerAuthentication.plan }

    /// The attributes by which lists name an item. An app can store anything in the others, such as a comment.
    private static let naming: Set<AttributeCode> = [
        .accessGroup, .account, .service, .server, .label, .itemDescription, .applicationTag, .keyClass, .tokenID,
        // The daemon itself chooses the identifier, which only items of the Secret Service have.
        .creationDate, .identifier,
    ]

    /// Lists the next page of the items of every group: names and access control, neither secrets nor other attributes.
    ///
    /// - Throws: `itemAuthenticationFailed` unless `proof` satisfies `listingPlan` for this caller.
    package func listNames(
        caller: Caller, proof: Authorisation, from cursor: inout SearchCursor, emit: (FoundItem) -> Void
    ) throws(Failure) -> SearchResult {
        guard !tree.lockState.isLocked else { throw Failure.locked }
        guard isPasscodeSet, try valid(proof, for: caller).satisfies(Self.listingPlan) else {
            throw Failure(.itemAuthenticationFailed, "The items of all apps are listed only after their owner agreed.")
        }
        return try listEverything(from: &cursor) { found in
            var found = found
            found.attributes = found.attributes?.filter { Self.naming.contains($0.key) }
            emit(found)
        }
    }

    // MARK: - Deleting an item of a list

    /// The title of an item of a list, and its app.
    ///
    /// - Throws: `itemNotFound` if there is no such item, `locked` while the keychain is locked.
    package func nameOfListed(_ reference: [UInt8]) throws(Failure) -> String {
        guard !tree.lockState.isLocked else { throw Failure.locked }
        return try store.read { (store) throws(Failure) in
            var name: String?
            try forEachListed(reference, in: store) { (row, item) throws(Failure) in
                let title = item.attributes.title(in: row.itemClass)
                name = title.isEmpty ? item.accessGroup : "\(title), \(item.accessGroup)"
            }
            guard let name else { throw Failure.noListedItem }
            return name
        }
    }

    /// The name by which a person knows an item.
    ///
    /// - Parameter id: its identifier in the audit log.
    /// - Returns: the title; nil if it has none, or if there is no such item or its class is locked.
    package func title(of id: [UInt8]) throws(Failure) -> String? {
        guard !id.isEmpty else { return nil }
        return try store.read { (store) throws(Failure) in
            var title = ""
            try store.forEachRow(.id(id), columns: .withoutSecret) { (row) throws(Failure) in
                let item = try undamaged(row, { () throws(Failure) in try envelopes.openAttributes(row) })
                title = item?.attributes.title(in: row.itemClass) ?? ""
                return true
            }
            return title.isEmpty ? nil : title
        }
    }

    /// Deletes an item of any group, without a proof: only where every program of the user can use the name of any app.
    ///
    /// - Throws: `itemNotFound` if there is no such item, `locked` while the keychain is locked.
    package func deleteListed(_ reference: [UInt8], caller: Caller) throws(Failure) {
        guard !tree.lockState.isLocked else { throw Failure.locked }
        defer { reportDamage() }
        try write { (store) throws(Failure) in
            var rows: [DoomedRow] = []
            try forEachListed(reference, in: store) { (row, item) throws(Failure) in rows.append(DoomedRow(row, item)) }
            guard !rows.isEmpty else { throw Failure.noListedItem }
            for row in rows { try delete(row, caller, store) }
        }
    }

    /// Deletes an item of any group.
    ///
    /// - Throws: `itemAuthenticationFailed` unless `proof` satisfies `listingPlan` for this caller.
    package func deleteListed(_ reference: [UInt8], caller: Caller, proof: Authorisation) throws(Failure) {
        guard isPasscodeSet, try valid(proof, for: caller).satisfies(Self.listingPlan) else {
            throw Failure(.itemAuthenticationFailed, "An item of another app is deleted only after its owner agreed.")
        }
        try deleteListed(reference, caller: caller)
    }

    private func forEachListed(
        _ reference: [UInt8], in store: any ItemReading, _ body: (StoredRow, Item) throws(Failure) -> Void
    ) throws(Failure) {
        // A reference has a code of this store, so that no program can make one.
        guard let id = try references.id(reference) else { return }
        try store.forEachRow(.id(id), columns: .withoutSecret) { (row) throws(Failure) in
            if let item = try undamaged(row, { () throws(Failure) in try envelopes.openAttributes(row) }) {
                try body(row, item)
            }
            return true
        }
    }
}

extension Failure {
    /// The item of a list is not there any more, or has another name.
    package static let noListedItem = Failure(
        .itemNotFound, "The item is not there any more, or was renamed.", hint: "List the items again.")
}
