// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
import LatchkeySeams

extension Keychain {
    /// Adds an item and gives back what was asked for; nil when nothing was.
    package func add(
        _ request: Request.AddItem, caller: Caller, password: AppPassword = .none
    ) throws(Failure) -> FoundItem? {
        try add(request, caller: caller, password: password, dates: [:])
    }

    /// The same with the dates of a backup.
    func add(
        _ request: Request.AddItem, caller: Caller, password: AppPassword, dates: Attributes
    ) throws(Failure) -> FoundItem? {
        try checkReadable()
        try checkNoToken(request.attributes)
        var item = try newItem(request, caller, password)
        item.attributes.merge(dates)
        let row = try sealed(item, request.itemClass, request.secret, password)
        try insert(row, caller)
        return request.returns.isEmpty ? nil : try found(row, item, request.returns, password)
    }

    /// A row of its own for a new item.
    func sealed(
        _ item: Item, _ itemClass: ItemClass, _ secret: SecretBytes?, _ password: AppPassword
    ) throws(Failure) -> StoredRow {
        var row = StoredRow(
            id: try tree.random.bytes(16).copyBytes(), itemClass: itemClass, primaryKey: [], group: [],
            indexes: [], version: 1, attributes: [], secret: nil)
        try index.fill(&row, item)
        try envelopes.begin(&row)
        if let secret { row.secret = try envelopes.sealSecret(secret, item, row, password: password) }
        row.attributes = try envelopes.sealAttributes(item, row)
        return row
    }

    /// Stores a new row, and writes that down.
    func insert(_ row: StoredRow, _ caller: Caller) throws(Failure) {
        try write { (store) throws(Failure) in
            try makeRoom(row.primaryKey, besides: nil, store)
            try insertRow(row, store)
            try audit.append(.added, item: row.id, caller: caller, to: store)
        }
    }

    /// Whether adding has to wait for a passcode: `whenPasscodeSetThisDeviceOnly` before it was seen.
    package func addNeedsPasscode(_ accessControl: AccessControl) throws(Failure) -> Bool {
        guard accessControl.accessibility == .whenPasscodeSetThisDeviceOnly else { return false }
        guard isPasscodeSet else {
            throw Failure(
                .passcodeClassUnavailable, "The item asks for a passcode to be set, and none is.",
                hint: "Set one with: latchkey passcode set")
        }
        return try tree.classKey(.whenPasscodeSetThisDeviceOnly) == nil
    }

    /// Updates every match in one transaction; nothing changes when one of them would collide.
    ///
    /// - Returns: `needs` when a match asks for a proof that `proof` does not hold (behaviour AC-11), `stretch` when
    ///   `password` lacks a key that a match is opened or sealed with. Nothing is changed then.
    package func update(
        _ request: Request.UpdateItems, caller: Caller, proof: Authorisation, password: AppPassword = .none
    ) throws(Failure) -> SearchResult {
        try checkReadable()
        let proof = try valid(proof, for: caller)
        try checkNoToken(request.changes)
        defer { reportDamage() }
        return try write { (store) throws(Failure) -> SearchResult in
            // All matches are looked at first, without their secrets; then one after the other is read and replaced, so
            // that memory holds one secret at a time however many match.
            var matches: [RowName] = []
            var needed: [Set<AuthenticationMethod>] = []
            var unstretched: [StretchParameters] = []
            try forEachMatch(request.query, caller, columns: .withoutSecret, in: store) {
                (row, item) throws(Failure) in
                for stage in try missing(toOpen: item, proof).stages where !needed.contains(stage) {
                    needed.append(stage)
                }
                if item.isInToken { try checkChange(of: item, request) }
                let control = request.accessControl ?? item.accessControl
                for missing in [try password.missing(for: item), try password.missing(toSeal: control)] {
                    if let missing, !unstretched.contains(missing) { unstretched.append(missing) }
                }
                matches.append(RowName(row))
                return true
            }
            guard needed.isEmpty else { return .needs(AuthenticationPlan(needed)) }
            guard unstretched.isEmpty else { return .stretch(unstretched) }
            var count = 0
            for match in matches {
                guard let row = try whole(match, in: store),
                    let item = try undamaged(row, { () throws(Failure) in try envelopes.openAttributes(row) })
                else { continue }
                // Opened even when a new one comes: what is damaged is put aside, not overwritten (behaviour KC-17).
                // Whoever changes an item with a password of the app's own has to know it (behaviour AC-11).
                let opened = try undamaged(row) { () throws(Failure) in
                    try envelopes.openSecret(row, item, password: password)
                }
                guard let secret = opened else { continue }
                // The secret is sealed anew: its envelope is bound to the version and to the rule.
                try replace(row, item, request.secret ?? secret, request, caller, password, store)
                count += 1
            }
            guard count > 0 else { throw Failure(.itemNotFound, "No item matches.") }
            return .finished
        }
    }

    /// Deletes every match; asks for no proof (behaviour AC-10).
    package func delete(_ query: ItemQuery, caller: Caller) throws(Failure) {
        try checkReadable()
        defer { reportDamage() }
        try write { (store) throws(Failure) in
            var rows: [RowMark] = []
            try forEachMatch(query, caller, columns: .withoutSecret, in: store) { (row, _) throws(Failure) in
                rows.append(RowMark(row))
                return true
            }
            guard !rows.isEmpty else { throw Failure(.itemNotFound, "No item matches.") }
            for row in rows {
                try deleteRow(row, store)
                try audit.append(.deleted, item: row.id, caller: caller, to: store)
            }
        }
    }

    /// Commits the use of protected items before their secrets leave.
    package func recordUse(_ items: [UsedItem], caller: Caller) throws(Failure) {
        guard !items.isEmpty else { return }
        try write { (store) throws(Failure) in
            for item in items { try audit.append(.used, item: item.id, caller: caller, to: store) }
        }
    }

    // MARK: - Rules of a new or changed item

    /// Refuses the attributes that make an item a key of the enclave: whoever could write them would have a key of his own
    /// choice, which others hold too, pass for one that never left its place.
    private func checkNoToken(_ attributes: Attributes) throws(Failure) {
        guard attributes[.tokenID] == nil, attributes[.publicKey] == nil else {
            throw Failure(.invalidParameter, "Keys of the Secure Enclave are made there and never put in.")
        }
    }

    func newItem(_ request: Request.AddItem, _ caller: Caller, _ password: AppPassword) throws(Failure) -> Item {
        var attributes = request.attributes
        try check(attributes, areOf: request.itemClass)
        let group = try groups(attributes, caller)[0]
        attributes[.accessGroup] = .text(group)
        for code in request.itemClass.primaryKey where attributes[code] == nil {
            attributes[code] = ItemClass.emptyValue(code)
        }
        let now = clock.wallTime
        attributes[.creationDate] = .date(now)
        attributes[.modificationDate] = .date(now)
        try check(attributes, request.accessControl, request.secret, request.itemClass)
        return Item(
            attributes: attributes, accessControl: request.accessControl,
            enrolment: try enrolmentSet(request.accessControl), stretching: stretching(request.accessControl, password))
    }

    private func check(
        _ attributes: Attributes, _ control: AccessControl, _ secret: SecretBytes?, _ itemClass: ItemClass
    ) throws(Failure) {
        guard (secret?.count ?? 0) <= Limits.secretBytes else {
            throw Failure(
                .dataTooLarge, "The secret is larger than \(Limits.secretBytes) bytes.",
                hint: "Encrypt large data with a key of its own and keep the key here.")
        }
        guard control.isValid else { throw Failure(.invalidParameter, "The access control flags contradict.") }
        guard tree.isAvailable(control.accessibility) else { throw Failure.locked }
        // Behaviour KC-12: a class of this device alone is taken.
        if attributes[.synchronizable] == .boolean(true), control.isProtected {
            throw Failure(.invalidParameter, "A synchronizable item takes no access control with constraints.")
        }
        // Behaviour AC-17.
        guard itemClass == .key || control.constraints.isDisjoint(with: .privateKeyUsage) else {
            throw Failure(.itemAuthenticationFailed, "privateKeyUsage is for keys, not for passwords.")
        }
        // Without a secret there would be nothing that the password keeps.
        guard secret != nil || !control.constraints.contains(.applicationPassword) else {
            throw Failure(.invalidParameter, "An item with a password of the app's own needs kSecValueData.")
        }
    }

    /// The generation an item is bound to; refuses where no set can be kept.
    private func enrolmentSet(_ control: AccessControl) throws(Failure) -> UInt64? {
        control.constraints.contains(.biometryCurrentSet) ? anchor.enrolmentGeneration : nil
    }

    /// How the password of an item that is sealed now is stretched.
    private func stretching(_ control: AccessControl, _ password: AppPassword) -> StretchParameters? {
        control.constraints.contains(.applicationPassword) ? password.sealing : nil
    }

    /// Refuses a second item with the same primary key; one that is dead makes room (behaviour AC-04), and so does one
    /// that is damaged (behaviour KC-17).
    private func makeRoom(_ key: [UInt8], besides position: Int64?, _ store: any ItemWriting) throws(Failure) {
        var dead: [StoredRow] = []
        var damaged: [StoredRow] = []
        var isTaken = false
        try store.forEachRow(.primaryKey(key), columns: .withoutSecret) { (row) throws(Failure) in
            guard row.position != position else { return true }
            switch try undamaged(row, { () throws(Failure) in try isDead(envelopes.openAttributes(row)) }) {
            case nil: damaged.append(row)
            case true?: dead.append(row)
            case false?: isTaken = true
            }
            return true
        }
        guard !isTaken else { throw Failure(.duplicateItem, "An item with the same primary key exists.") }
        for row in dead {
            try deleteRow(RowMark(row), store)
            try audit.append(.invalidated, item: row.id, caller: nil, to: store)
        }
        for row in damaged { try quarantine(row, in: store) }
    }

    private func replace(
        _ row: StoredRow, _ item: Item, _ secret: SecretBytes?, _ request: Request.UpdateItems, _ caller: Caller,
        _ password: AppPassword, _ store: any ItemWriting
    ) throws(Failure) {
        var item = item
        try check(request.changes, areOf: row.itemClass)
        for (code, value) in request.changes { item.attributes[code] = value }
        if request.changes[.accessGroup] != nil { _ = try groups(item.attributes, caller) }
        if let control = request.accessControl {
            item.accessControl = control
            item.enrolment = try enrolmentSet(control)
        }
        item.stretching = stretching(item.accessControl, password)
        item.attributes[.modificationDate] = .date(max(clock.wallTime, nextMoment(item)))
        try check(item.attributes, item.accessControl, secret, row.itemClass)
        var next = row
        next.version &+= 1
        try index.fill(&next, item)
        if next.primaryKey != row.primaryKey { try makeRoom(next.primaryKey, besides: row.position, store) }
        next.secret = nil
        try envelopes.begin(&next)
        if let secret { next.secret = try envelopes.sealSecret(secret, item, next, password: password) }
        next.attributes = try envelopes.sealAttributes(item, next)
        try replaceRow(row, by: next, store)
        try audit.append(.updated, item: row.id, caller: caller, to: store)
    }

    /// The modification date always moves forward, whatever the wall clock does.
    private func nextMoment(_ item: Item) -> Int64 {
        if case .date(let last) = item.attributes[.modificationDate] { last &+ 1 } else { 0 }
    }
}
