// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
import LatchkeySeams

/// The result of one page of a search, or of an update.
package enum SearchResult: Equatable, Sendable {
    case finished
    /// The missing proofs; with them the search continues with the same cursor.
    case needs(AuthenticationPlan)
    /// Parameters that the application password must be stretched with; the search then continues with the same cursor.
    case stretch([StretchParameters])
    /// Another page follows.
    case more
}

extension Keychain {
    /// Passes the next page of matching items to `emit`. Throws `itemNotFound` when no page has a match.
    ///
    /// Items whose proofs are missing stop the search before anything is emitted, or are left out if the request
    /// skips protected items.
    ///
    /// - Parameters:
    ///   - request: its `limit` is for the items of all pages together.
    ///   - proof: the proofs of this caller.
    ///   - password: the application password of the request, with the keys stretched so far.
    ///   - answer: what the user answered about a caller that reads items of others, for the audit log.
    ///   - cursor: where the page begins; moved to the end of the page. Also says at which item the search stopped.
    ///   - used: called with each protected item; the caller must pass these to `recordUse`, which writes the audit
    ///     log, before it sends the page. Secrets without a protection are counted (`GatheredReads`).
    package func search(
        _ request: Request.CopyItems, caller: Caller, proof: Authorisation, password: AppPassword = .none,
        answer: UseGrounds = [], from cursor: inout SearchCursor, used: (UsedItem) -> Void,
        emit: (FoundItem) -> Void
    ) throws(Failure) -> SearchResult {
        try checkReadable()
        let proof = try valid(proof, for: caller)
        var item: [UInt8] = []
        defer {
            cursor.item = item
            reportDamage()
        }
        return try store.read { (store) throws(Failure) -> SearchResult in
            // A search for one item asks for that item's proof; a search for several first collects all missing
            // proofs, so that one prompt asks for them.
            if cursor.pass == .proofs {
                if request.limit != .one, !request.authentication.skipsProtected {
                    guard try missingProofs(request, caller, proof, &cursor, &item, store) == .complete else {
                        return .more
                    }
                    let needed = cursor.needed
                    item = cursor.lacking.count == 1 ? cursor.lacking[0] : []
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
                (cursor, row, found) throws(Failure) in
                item = row.id
                let missing = try missing(found, for: request.returns, proof)
                // Behaviour AC-07: only items with missing proofs are skipped.
                let isSkipped =
                    !missing.stages.isEmpty || (!found.isInToken && found.asksForAppPassword && !password.isGiven)
                if isSkipped, request.authentication.skipsProtected { return .proceed }
                if !missing.stages.isEmpty {
                    result = .needs(missing)
                    return .stopBefore
                }
                // Behaviour AC-06: the existence of the item is revealed only with its application password.
                if !found.isInToken, let unstretched = try password.missing(for: found) {
                    result = .stretch([unstretched])
                    return .stopBefore
                }
                let opened = try undamaged(row) { () throws(Failure) -> FoundItem? in
                    if !request.returns.contains(.data), !found.isInToken, found.asksForAppPassword {
                        guard let row = try whole(row, in: store) else { return nil }
                        _ = try envelopes.openSecret(row, found, password: password)
                    }
                    return try self.found(row, found, request.returns, password)
                }
                guard let opened = opened ?? nil else { return .proceed }
                if found.isReadProtected {
                    used(UsedItem(row, found, proof))
                } else if opened.secret != nil {
                    reads.count(row.id, of: caller, answer, at: clock.wallTime)
                }
                emit(opened)
                cursor.count += 1
                return request.limit.isReached(by: cursor.count) ? .stop : .proceed
            }
            if end == .full { return .more }
            if result == .finished, cursor.count == 0 { throw Failure(.itemNotFound, "No item matches.") }
            return result
        }
    }

    /// Lists the next page of matching items without any proof: attributes and access control, never the secret.
    package func list(
        _ query: ItemQuery, caller: Caller, from cursor: inout SearchCursor, emit: (FoundItem) -> Void
    ) throws(Failure) -> SearchResult {
        try checkReadable()
        defer { reportDamage() }
        return try store.read { (store) throws(Failure) in
            let end = try forEachMatch(query, caller, columns: .withoutSecret, from: &cursor, in: store) {
                (_, row, item) throws(Failure) in
                emit(try found(row, item, [.attributes, .persistentReference]))
                return .proceed
            }
            return end == .full ? .more : .finished
        }
    }

    /// Collects the missing proofs of the items of the next page.
    private func missingProofs(
        _ request: Request.CopyItems, _ caller: Caller, _ proof: Authorisation, _ cursor: inout SearchCursor,
        _ read: inout [UInt8], _ store: any ItemReading
    ) throws(Failure) -> PageEnd {
        try forEachMatch(request.query, caller, columns: .withoutSecret, from: &cursor, in: store) {
            (cursor, row, item) throws(Failure) in
            read = row.id
            let stages = try missing(item, for: request.returns, proof).stages
            for stage in stages where !cursor.needed.contains(stage) { cursor.needed.append(stage) }
            if !stages.isEmpty, cursor.lacking.count < 2 { cursor.lacking.append(row.id) }
            cursor.count += 1
            return request.limit.isReached(by: cursor.count) ? .stop : .proceed
        }
    }

    /// Orders stages that accept a single method first: their proof may satisfy the other stages too.
    private static func plan(_ stages: [Set<AuthenticationMethod>]) -> AuthenticationPlan {
        AuthenticationPlan(
            stages.filter { $0 == [.passcode] } + stages.filter { $0 == [.biometry] }
                + stages.filter { $0.count > 1 })
    }

    /// Returns the missing proofs for one item; empty when it may be returned.
    func missing(_ item: Item, for returns: Returns, _ proof: Authorisation) throws(Failure) -> AuthenticationPlan {
        guard tree.isAvailable(item.accessControl.accessibility) else { throw Failure.locked }
        // The private key of an enclave item is never returned; the other parts are public.
        if item.isInToken { return AuthenticationPlan([]) }
        return try missing(toOpen: item, for: returns, proof)
    }

    /// Returns the missing proofs for opening an item's secret, whether it is returned or used inside the daemon.
    func missing(
        toOpen item: Item, for returns: Returns = [.data], _ proof: Authorisation
    ) throws(Failure) -> AuthenticationPlan {
        guard tree.isAvailable(item.accessControl.accessibility) else { throw Failure.locked }
        try checkEvents(item)
        // The application password is checked by opening the secret, also if only attributes are returned.
        let opens = returns.contains(.data) || item.asksForAppPassword
        var (plan, needsKey) = plan(of: item, opens: opens)
        if proof.satisfies(plan) { plan.stages = [] }
        return needsKey ? plan.requiringPasscode() : plan
    }

    /// Refuses protected items while a security event is unfinished; tries to finish it first.
    private func checkEvents(_ item: Item) throws(Failure) {
        let isPasscodeClass = item.accessControl.accessibility == .whenPasscodeSetThisDeviceOnly
        guard item.accessControl.isProtected || isPasscodeClass, anchor.condition == .unfinished else { return }
        do throws(Failure) { try anchor.finish() } catch { throw anchor.condition.refusalOfProtected ?? error }
    }

    /// Returns the parts of an item that a request asks for.
    ///
    /// - Parameter secret: the secret of an item that was just sealed, which may need a key that is not in memory to open.
    func found(
        _ row: StoredRow, _ item: Item, _ returns: Returns, _ password: AppPassword = .none,
        sealed secret: SecretBytes? = nil
    ) throws(Failure) -> FoundItem {
        var found = FoundItem(itemClass: row.itemClass)
        if returns.contains(.attributes) {
            found.attributes = item.attributes
            found.accessControl = item.accessControl
        }
        if returns.contains(.data), !item.isInToken {
            found.secret = if let secret { secret } else { try envelopes.openSecret(row, item, password: password) }
        }
        if returns.contains(.persistentReference) { found.persistentReference = try references.make(row) }
        return found
    }
}

/// A protected item in a reply; recorded in the audit log.
package struct UsedItem: Equatable, Sendable {
    let id: [UInt8]
    /// The methods of the proofs that it required.
    let methods: Set<AuthenticationMethod>
    let hasAppPassword: Bool

    init(id: [UInt8], methods: Set<AuthenticationMethod> = [], hasAppPassword: Bool = false) {
        (self.id, self.methods, self.hasAppPassword) = (id, methods, hasAppPassword)
    }

    init(_ row: StoredRow, _ item: Item, _ proof: Authorisation) {
        self.init(
            id: row.id, methods: proof.methods(completing: item.accessControl.plan),
            hasAppPassword: item.asksForAppPassword)
    }

    /// What allowed its use, with the sensor of the proofs by biometry.
    func grounds(_ biometry: BiometryKind) -> UseGrounds {
        var grounds: UseGrounds = hasAppPassword ? .appPassword : []
        if methods.contains(.biometry) { grounds.insert(biometry == .touchID ? .finger : .face) }
        if methods.contains(.passcode) { grounds.insert(.passcode) }
        return grounds
    }
}
