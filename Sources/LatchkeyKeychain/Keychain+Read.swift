// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
import LatchkeySeams

/// How a page of a search ended, or a change of items.
package enum SearchResult: Equatable, Sendable {
    case finished
    /// This has to be proven first, then the search goes on with the same cursor.
    case needs(AuthenticationPlan)
    /// The app's own password has to be stretched so first, then the search goes on with the same cursor.
    case stretch([StretchParameters])
    /// Another page follows.
    case more
}

extension Keychain {
    /// Finds the next page of items and hands them to `emit`, at most `limit` in all (0: all). Throws `itemNotFound` when
    /// nothing is found on any page.
    ///
    /// Items that ask for a proof that `proof` does not hold stop the search before anything is handed out, or are
    /// left out when the request says so. Protected items of a page are written to the audit trail by `recordUse` before
    /// the page leaves.
    package func search(
        _ request: Request.CopyItems, caller: Caller, proof: Authorisation, password: AppPassword = .none,
        from cursor: inout SearchCursor, used: (UsedItem) -> Void, emit: (FoundItem) -> Void
    ) throws(Failure) -> SearchResult {
        try checkReadable()
        let proof = try valid(proof, for: caller)
        defer { reportDamage() }
        return try store.read { (store) throws(Failure) -> SearchResult in
            // One item decides by itself; several are all looked at first, so that they are asked for together.
            if cursor.pass == .proofs {
                if request.limit != 1, !request.authentication.skipsProtected {
                    guard try missingProofs(request, caller, proof, &cursor, store) == .complete else { return .more }
                    let needed = cursor.needed
                    if !needed.isEmpty {
                        cursor = SearchCursor()
                        return .needs(Keychain.plan(needed))
                    }
                }
                cursor.beginItems()
            }
            var result = SearchResult.finished
            let columns = request.returns.contains(.data) ? RowColumns.all : .withoutSecret
            let end = try forEachMatch(request.query, caller, columns: columns, from: &cursor, in: store) {
                (cursor, row, item) throws(Failure) in
                let missing = try missing(item, for: request.returns, proof)
                // Behaviour AC-07: only what would still have to be asked for is skipped.
                let isSkipped =
                    !missing.stages.isEmpty || (!item.isInToken && item.asksForAppPassword && !password.isGiven)
                if isSkipped, request.authentication.skipsProtected { return .goOn }
                if !missing.stages.isEmpty {
                    result = .needs(missing)
                    return .stopBefore
                }
                // Behaviour AC-06: that it is there is told to those who have its password.
                if !item.isInToken, let unstretched = try password.missing(for: item) {
                    result = .stretch([unstretched])
                    return .stopBefore
                }
                let opened = try undamaged(row) { () throws(Failure) -> FoundItem? in
                    if !request.returns.contains(.data), !item.isInToken, item.asksForAppPassword {
                        guard let row = try whole(row, in: store) else { return nil }
                        _ = try envelopes.openSecret(row, item, password: password)
                    }
                    return try found(row, item, request.returns, password)
                }
                guard let opened = opened ?? nil else { return .goOn }
                if item.isReadProtected { used(UsedItem(id: row.id)) }
                emit(opened)
                cursor.count += 1
                return request.limit == 0 || cursor.count < request.limit ? .goOn : .stop
            }
            if end == .full { return .more }
            if result == .finished, cursor.count == 0 { throw Failure(.itemNotFound, "No item matches.") }
            return result
        }
    }

    /// What listing shows of each item of the next page without any proof: attributes and rule, never the secret.
    package func list(
        _ query: ItemQuery, caller: Caller, from cursor: inout SearchCursor, emit: (FoundItem) -> Void
    ) throws(Failure) -> SearchResult {
        try checkReadable()
        defer { reportDamage() }
        return try store.read { (store) throws(Failure) in
            let end = try forEachMatch(query, caller, columns: .withoutSecret, from: &cursor, in: store) {
                (_, row, item) throws(Failure) in
                emit(try found(row, item, [.attributes, .persistentReference]))
                return .goOn
            }
            return end == .full ? .more : .finished
        }
    }

    /// Collects what has to be proven for the items of the next page.
    private func missingProofs(
        _ request: Request.CopyItems, _ caller: Caller, _ proof: Authorisation, _ cursor: inout SearchCursor,
        _ store: any ItemReading
    ) throws(Failure) -> PageEnd {
        try forEachMatch(request.query, caller, columns: .withoutSecret, from: &cursor, in: store) {
            (cursor, _, item) throws(Failure) in
            for stage in try missing(item, for: request.returns, proof).stages where !cursor.needed.contains(stage) {
                cursor.needed.append(stage)
            }
            cursor.count += 1
            return request.limit == 0 || cursor.count < request.limit ? .goOn : .stop
        }
    }

    /// What accepts only one method comes first: it may meet the others as well.
    private static func plan(_ stages: [Set<AuthenticationMethod>]) -> AuthenticationPlan {
        AuthenticationPlan(
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
        try checkEvents(item)
        var plan = item.accessControl.isProtected ? item.accessControl.plan : AuthenticationPlan([])
        if proof.satisfies(plan) { plan.stages = [] }
        let needsKey = returns.contains(.data) && item.accessControl.accessibility == .whenPasscodeSetThisDeviceOnly
        if needsKey, try tree.classKey(.whenPasscodeSetThisDeviceOnly) == nil { plan = plan.requiringPasscode() }
        return plan
    }

    /// Keeps a protected item closed while a security event is not written to its end.
    private func checkEvents(_ item: Item) throws(Failure) {
        let isPasscodeClass = item.accessControl.accessibility == .whenPasscodeSetThisDeviceOnly
        guard item.accessControl.isProtected || isPasscodeClass, anchor.condition == .unfinished else { return }
        do throws(Failure) {
            try anchor.finish()
        } catch {
            throw anchor.condition.refusalOfProtected ?? error
        }
    }

    func found(
        _ row: StoredRow, _ item: Item, _ returns: Returns, _ password: AppPassword = .none
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
