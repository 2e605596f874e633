// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
import LatchkeySeams

extension Keychain {
    /// Adds an item and returns the parts that the request asks for; nil when it asks for none.
    package func add(
        _ request: Request.AddItem, caller: Caller, password: AppPassword = .none
    ) throws(Failure) -> FoundItem? {
        try add(request, caller: caller, password: password, dates: [:])
    }

    /// Adds an item. `dates` are those of a backup; each one that is missing is the current time.
    func add(
        _ request: Request.AddItem, caller: Caller, password: AppPassword, dates: Attributes
    ) throws(Failure) -> FoundItem? {
        try checkReadable()
        try checkNoToken(request.attributes)
        var item = try newItem(request, caller, password)
        item.attributes.merge(dates)
        let row = try sealed(item, request.itemClass, request.secret, password)
        try insert(row, caller)
        return request.returns.isEmpty
            ? nil : try found(row, item, request.returns, password, sealed: request.secret)
    }

    /// Seals a new item as a row with a new identifier.
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

    func insert(_ row: StoredRow, _ caller: Caller) throws(Failure) {
        try writeWithinQuota { (store) throws(Failure) in
            try makeRoom(row.primaryKey, besides: nil, store)
            try insertRow(row, store)
            try audit.append(.added, item: row.id, caller: caller, to: store)
        }
    }

    /// Whether adding must wait for a passcode: the class is `whenPasscodeSetThisDeviceOnly`, and its key is not in
    /// memory. Throws `passcodeClassUnavailable` when no passcode is set.
    package func addNeedsPasscode(_ accessControl: AccessControl) throws(Failure) -> Bool {
        guard accessControl.accessibility == .whenPasscodeSetThisDeviceOnly else { return false }
        guard isPasscodeSet else { throw Failure.passcodeClassUnavailable }
        return try tree.classKey(.whenPasscodeSetThisDeviceOnly) == nil
    }

    /// Updates every match in one transaction. Throws `duplicateItem`, without any change, when one of them would get
    /// the primary key of another item.
    ///
    /// - Returns: `needs` when proofs for a match are missing (behaviour AC-11), `stretch` when `password` lacks a
    ///   key that a match is opened or sealed with. Nothing is changed in both cases.
    package func update(
        _ request: Request.UpdateItems, caller: Caller, proof: Authorisation, password: AppPassword = .none
    ) throws(Failure) -> SearchResult {
        try checkReadable()
        let proof = try valid(proof, for: caller)
        try checkNoToken(request.changes)
        defer {
            reportDamage()
            reportOldCopies()
        }
        return try writeWithinQuota { (store) throws(Failure) -> SearchResult in
            // A first pass checks all matches without their secrets. The second reads and replaces them one by one,
            // so that memory holds a single secret at a time.
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
                // The old secret is opened even when a new one replaces it: a damaged row is quarantined and not
                // overwritten (behaviour KC-17), and changing an item requires its application password (behaviour
                // AC-11).
                let opened = try undamaged(row) { () throws(Failure) in
                    try envelopes.openSecret(row, item, password: password)
                }
                guard let secret = opened else { continue }
                // The secret is always sealed again, because its envelope is bound to the version and to the access
                // control.
                try replace(row, item, request.secret ?? secret, request, caller, password, store)
                count += 1
            }
            guard count > 0 else { throw Failure(.itemNotFound, "No item matches.") }
            return .finished
        }
    }

    /// Deletes every match; requires no proof (behaviour AC-10).
    package func delete(_ query: ItemQuery, caller: Caller) throws(Failure) {
        try checkReadable()
        defer { reportDamage() }
        try write { (store) throws(Failure) in
            var rows: [DoomedRow] = []
            try forEachMatch(query, caller, columns: .withoutSecret, in: store) { (row, item) throws(Failure) in
                rows.append(DoomedRow(row, item))
                return true
            }
            guard !rows.isEmpty else { throw Failure(.itemNotFound, "No item matches.") }
            for row in rows { try delete(row, caller, store) }
        }
    }

    /// Commits audit entries for the use of protected items; called before their secrets are returned.
    ///
    /// - Parameters:
    ///   - biometry: the sensor of the proofs by biometry.
    ///   - answer: what the user answered about the program that reads items of others.
    package func recordUse(
        _ items: [UsedItem], caller: Caller, biometry: BiometryKind, answer: UseGrounds = []
    ) throws(Failure) {
        guard !items.isEmpty else { return }
        try writeWithinQuota { (store) throws(Failure) in
            try checkRoom(for: .used, in: store)
            for item in items {
                let grounds = item.grounds(biometry).union(answer)
                try audit.append(.used, item: item.id, caller: caller, ground: .allowed(grounds), to: store)
            }
        }
    }

    // MARK: - Validation of new and changed items

    /// Refuses the attributes of enclave keys. Otherwise a program could store a key that it chose, and of which it
    /// has a copy, as one that never left the enclave.
    private func checkNoToken(_ attributes: Attributes) throws(Failure) {
        guard attributes[.tokenID] == nil, attributes[.publicKey] == nil else {
            throw Failure(.invalidParameter, "Keys of the Secure Enclave are generated there and cannot be added.")
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
            wrapping: wrapping(request.accessControl, enrolmentGeneration(request.accessControl)),
            stretching: stretching(request.accessControl, password))
    }

    private func check(
        _ attributes: Attributes, _ control: AccessControl, _ secret: SecretBytes?, _ itemClass: ItemClass
    ) throws(Failure) {
        guard (secret?.count ?? 0) <= Limits.secretBytes else {
            throw Failure(
                .dataTooLarge, "The secret is larger than \(Limits.secretBytes) bytes.",
                hint: "Encrypt large data with a separate key and store that key here.")
        }
        guard control.isValid else {
            throw Failure(.invalidParameter, "The access control flags contradict each other.")
        }
        guard tree.isAvailable(control.accessibility) else { throw Failure.locked }
        // Behaviour KC-12: a synchronizable item may have a `ThisDeviceOnly` class, but no constraints.
        if attributes[.synchronizable] == .boolean(true), control.isProtected {
            throw Failure(.invalidParameter, "A synchronizable item takes no access control with constraints.")
        }
        // Behaviour AC-17: only keys may have `privateKeyUsage`.
        guard itemClass == .key || control.constraints.isDisjoint(with: .privateKeyUsage) else {
            throw Failure(.itemAuthenticationFailed, "privateKeyUsage is for keys, not for passwords.")
        }
        // An application password protects the secret only.
        guard secret != nil || !control.constraints.contains(.applicationPassword) else {
            throw Failure(.invalidParameter, "An item with an application password needs kSecValueData.")
        }
    }

    /// The enrolment generation that an item with that access control is bound to; nil when it is bound to none.
    private func enrolmentGeneration(_ control: AccessControl) -> UInt64? {
        control.constraints.contains(.biometryCurrentSet) ? anchor.enrolmentGeneration : nil
    }

    /// The stretching parameters for an item that is sealed now; nil when it needs no application password.
    private func stretching(_ control: AccessControl, _ password: AppPassword) -> StretchParameters? {
        control.constraints.contains(.applicationPassword) ? password.sealing : nil
    }

    /// Throws `duplicateItem` when another valid item has the primary key, and removes an invalid one.
    private func makeRoom(_ key: [UInt8], besides position: Int64?, _ store: any ItemWriting) throws(Failure) {
        let other = try existing(key, besides: position, store) { (row, item) throws(Failure) in
            // Otherwise the name of an item that no password opens would stay taken.
            try envelopes.checkHash(row, item)
        }
        if other != nil { throw Failure(.duplicateItem, "An item with the same primary key exists.") }
    }

    /// Returns the valid item with that primary key. Deletes the row of an invalidated one (behaviour AC-04), and quarantines a
    /// damaged one (behaviour KC-17), which is also one that `check` refuses.
    func existing(
        _ key: [UInt8], besides position: Int64? = nil, _ store: any ItemWriting,
        check: (StoredRow, Item) throws(Failure) -> Void = { _, _ in }
    ) throws(Failure) -> (StoredRow, Item)? {
        var valid: (StoredRow, Item)?
        var dead: [StoredRow] = []
        var damaged: [StoredRow] = []
        try store.forEachRow(.primaryKey(key)) { (row) throws(Failure) in
            guard row.position != position else { return true }
            let opened = try undamaged(row) { () throws(Failure) in
                let item = try envelopes.openAttributes(row)
                try check(row, item)
                return item
            }
            switch opened {
            case nil: damaged.append(row)
            case let item? where isDead(item): dead.append(row)
            case let item?: valid = (row, item)
            }
            return true
        }
        for row in dead {
            try deleteRow(RowMark(row), store)
            try audit.append(.invalidated, item: row.id, caller: nil, to: store)
        }
        for row in damaged { try quarantine(row, in: store) }
        return valid
    }

    private func replace(
        _ row: StoredRow, _ old: Item, _ secret: SecretBytes?, _ request: Request.UpdateItems, _ caller: Caller,
        _ password: AppPassword, _ store: any ItemWriting
    ) throws(Failure) {
        var item = old
        try check(request.changes, areOf: row.itemClass)
        for (code, value) in request.changes { item.attributes[code] = value }
        if request.changes[.accessGroup] != nil { _ = try groups(item.attributes, caller) }
        if let control = request.accessControl { item.accessControl = control }
        if !item.isInToken {
            let bound = request.accessControl.map(enrolmentGeneration) ?? old.wrapping.generation
            item.wrapping = wrapping(item.accessControl, bound)
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
        try checkRoom(for: next, insteadOf: row, in: store)
        try replaceRow(row, by: next, store)
        if row.secret != nil { try recordOldCopy(of: old, replacedBy: item, in: store) }
        if item.accessControl != old.accessControl { try endPermissions(of: item, row, caller, store) }
        try audit.append(.updated, item: row.id, caller: caller, to: store)
    }

    /// The earliest modification date for an update: the date always increases, also when the wall clock is set back.
    private func nextMoment(_ item: Item) -> Int64 {
        if case .date(let last) = item.attributes[.modificationDate] { last &+ 1 } else { 0 }
    }
}
