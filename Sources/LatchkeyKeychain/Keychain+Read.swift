// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// How a search ended.
package enum SearchResult: Equatable, Sendable {
    case finished
    /// Nothing was handed out: this has to be proven first, then the search is run again.
    case needs(AuthenticationPlan)
}

extension Keychain {
    /// Finds items and hands them to `emit`, at most `limit` (0: all). Throws `itemNotFound` when none is left.
    ///
    /// Items that ask for a proof that `proof` does not hold stop the search before anything is handed out, or are
    /// left out when the request says so. A finished search with protected items is written to the audit trail by
    /// `recordUse` before its answer leaves.
    package func search(
        _ request: Request.CopyItems, caller: Caller, proof: Authorisation,
        used: (UsedItem) -> Void, emit: (FoundItem) -> Void
    ) throws(Failure) -> SearchResult {
        try checkReadable()
        defer { reportDamage() }
        return try store.read { (store) throws(Failure) -> SearchResult in
            // One item decides by itself; several are all looked at first, so that they are asked for together.
            if request.limit != 1, !request.authentication.skipsProtected {
                let needed = try missingProofs(request, caller, proof, store)
                if !needed.stages.isEmpty { return .needs(needed) }
            }
            var count: UInt64 = 0
            var result = SearchResult.finished
            try forEachMatch(request.query, caller, in: store) { (row, item) throws(Failure) in
                let missing = try missing(item, for: request.returns, proof)
                if !missing.stages.isEmpty || (request.authentication.skipsProtected && item.isReadProtected) {
                    if request.authentication.skipsProtected { return true }
                    result = .needs(missing)
                    return false
                }
                let password = request.authentication.applicationPassword
                let opened = try undamaged(row) { () throws(Failure) in
                    // Behaviour AC-06: that it is there is told to those who have its password.
                    if !request.returns.contains(.data), !item.isInToken,
                        item.accessControl.constraints.contains(.applicationPassword)
                    {
                        _ = try envelopes.openSecret(row, item, password: password)
                    }
                    return try found(row, item, request.returns, password)
                }
                guard let opened else { return true }
                if item.isReadProtected { used(UsedItem(id: row.id)) }
                emit(opened)
                count += 1
                return request.limit == 0 || count < request.limit
            }
            if result == .finished, count == 0 { throw Failure(.itemNotFound, "No item matches.") }
            return result
        }
    }

    /// What listing shows of each item without any proof: attributes and rule, never the secret.
    package func list(_ query: ItemQuery, caller: Caller, emit: (FoundItem) -> Void) throws(Failure) {
        try checkReadable()
        defer { reportDamage() }
        try store.read { (store) throws(Failure) in
            try forEachMatch(query, caller, in: store) { (row, item) throws(Failure) in
                emit(try found(row, item, [.attributes, .persistentReference]))
                return true
            }
        }
    }

    /// What has to be proven for every item of a search.
    private func missingProofs(
        _ request: Request.CopyItems, _ caller: Caller, _ proof: Authorisation, _ store: any ItemReading
    ) throws(Failure) -> AuthenticationPlan {
        var stages: [Set<AuthenticationMethod>] = []
        var count: UInt64 = 0
        try forEachMatch(request.query, caller, in: store) { (_, item) throws(Failure) in
            for stage in try missing(item, for: request.returns, proof).stages where !stages.contains(stage) {
                stages.append(stage)
            }
            count += 1
            return request.limit == 0 || count < request.limit
        }
        // What accepts only one method comes first: it may meet the others as well.
        return AuthenticationPlan(
            stages.filter { $0 == [.passcode] } + stages.filter { $0 == [.biometry] }
                + stages.filter { $0.count > 1 })
    }

    /// What is left to prove for one item; empty when it may be handed out.
    func missing(_ item: Item, for returns: Returns, _ proof: Authorisation) throws(Failure) -> AuthenticationPlan {
        guard tree.isAvailable(item.accessControl.accessibility) else { throw Failure.locked }
        // A private key of the enclave stays where it is: what a search gives of it is public.
        if item.isInToken { return AuthenticationPlan([]) }
        return try missing(toOpen: item, for: returns, proof)
    }

    /// What is left to prove before an item's secret is opened, whoever gets it.
    func missing(
        toOpen item: Item, for returns: Returns = [.data], _ proof: Authorisation
    ) throws(Failure) -> AuthenticationPlan {
        guard tree.isAvailable(item.accessControl.accessibility) else { throw Failure.locked }
        var plan = item.accessControl.isProtected ? item.accessControl.plan : AuthenticationPlan([])
        if proof.satisfies(plan) { plan.stages = [] }
        let needsKey = returns.contains(.data) && item.accessControl.accessibility == .whenPasscodeSetThisDeviceOnly
        if needsKey, try tree.classKey(.whenPasscodeSetThisDeviceOnly) == nil { plan = plan.requiringPasscode() }
        return plan
    }

    func found(
        _ row: StoredRow, _ item: Item, _ returns: Returns, _ password: SecretBytes? = nil
    ) throws(Failure) -> FoundItem {
        var found = FoundItem(itemClass: row.itemClass)
        if returns.contains(.attributes) {
            found.attributes = item.attributes
            found.accessControl = item.accessControl
        }
        if returns.contains(.data), !item.isInToken {
            found.secret = try envelopes.openSecret(row, item, password: password)
        }
        if returns.contains(.persistentReference) { found.persistentReference = try references.make(row) }
        return found
    }
}

/// A protected item that an answer holds; for the audit trail.
package struct UsedItem: Equatable, Sendable {
    let id: [UInt8]
}
