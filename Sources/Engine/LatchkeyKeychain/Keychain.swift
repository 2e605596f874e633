// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams
import Synchronization

/// The items of one store, and the state that protects them against an older copy of the files.
///
/// `tree` has the keys, `envelopes` seals rows with them, and `index` finds rows without opening them. `anchor`,
/// `counters`, `state` and `audit` detect that files were restored from an earlier time; `scan` detects changed rows.
///
/// Every function that opens a protected item takes an `Authorisation`, checks that it belongs to the caller and to the
/// current enrolment set, and refuses otherwise. The keychain never prompts: asking is the task of `Session`. When
/// database and anchor do not match, it opens nothing until the owner accepts the store.
///
/// Concurrency: reading functions may be called on any thread, writing functions by one thread at a time. A `StoreCheck`
/// may run beside both: it changes nothing, and its empty transaction waits for others in the store.
package final class Keychain: Sendable {
    package let tree: KeyTree
    package let anchor: Anchor
    let store: any ItemStore
    let clock: any Clock
    let envelopes: Envelopes
    let index: BlindIndex
    let references: PersistentReference
    let audit: AuditTrail
    let suspects = Suspects()
    let counters: CounterFile
    let state: StoreState
    let scan = SetScan()
    let gathered = GatheredRefusals()
    let reads: GatheredReads
    let anchoring = Mutex(Anchoring())
    let oldCopies: Mutex<OldCopies>
    /// How much of the disk the store may use; nil: as much as there is.
    let quota: StoreQuota?
    /// Whether the items were moved to another keychain, so that nothing may be written here any more.
    private let wasMoved = Atomic(false)

    /// Opens the items of a store whose key tree is open, and compares its database with its anchor. Does not throw
    /// when the two do not match: requests are then refused with the anchor's condition.
    package init(tree: KeyTree, vault: any KeyVault, clock: any Clock, quota: StoreQuota? = nil) throws(Failure) {
        self.quota = quota
        self.tree = tree
        self.clock = clock
        reads = GatheredReads(now: clock.uptime)
        store = tree.store
        counters = try CounterFile(tree: tree, vault: vault)
        audit = try AuditTrail(tree: tree, counters: counters, clock: clock)
        let state = StoreState(tree)
        self.state = state
        let audit = audit
        // Without a readable state record the store generation is unknown, and the database counts as older than its
        // anchor.
        let generation = try tree.store.read { [counters] (store) throws(Failure) -> UInt64? in
            let numbers = try audit.end(in: store).numbers
            counters.distrust(before: numbers.countersSerial)
            let serial = numbers.stateSerial
            return try unlessDamaged { () throws(Failure) in
                try state.values(in: store, serial: serial).generation
            }
        }
        let copies = try tree.store.read { (store) throws(Failure) in try store.record(.oldCopies) }
        oldCopies = Mutex(OldCopies(copies))
        anchor = try Anchor(tree: tree, vault: vault, databaseGeneration: generation, counters: counters)
        envelopes = Envelopes(tree: tree, anchor: anchor)
        index = BlindIndex(key: tree.indexKey)
        references = PersistentReference(key: tree.indexKey)
    }

    package func itemCount() throws(Failure) -> Int64 {
        try store.read { (store) throws(Failure) in try store.itemCount() }
    }

    // MARK: - Shared checks

    /// Returns the part of a proof that is valid here: it must belong to the caller, and a biometric match must come
    /// from the current enrolment set.
    func valid(_ proof: Authorisation, for caller: Caller) throws(Failure) -> Authorisation {
        guard proof.belongs(to: caller) else {
            throw Failure(.itemAuthenticationFailed, "The proof belongs to another program or session.")
        }
        return proof.holding(for: anchor.set)
    }

    /// Throws unless `proof` is the result of one evaluation of the passcode for this caller.
    func checkPasscode(_ proof: Authorisation, of caller: Caller) throws(Failure) {
        guard try valid(proof, for: caller).isOnePasscodeEvaluation else {
            throw Failure(.itemAuthenticationFailed, "The passcode was not entered for this request.")
        }
    }

    /// Refuses every request while database and anchor do not match (abuse case 29).
    package func checkReadable() throws(Failure) { if let refusal = anchor.condition.refusal { throw refusal } }

    /// Whether database and anchor do not match; every request is refused while they do not.
    package var isRolledBack: Bool { anchor.condition.refusal != nil }

    /// Whether a passcode is set, according to the anchor.
    package var isPasscodeSet: Bool { anchor.hasPasscode }

    /// Refuses every later write, because the items were moved to another keychain.
    package func closeAfterMove() { wasMoved.store(true, ordering: .releasing) }

    /// Runs a write transaction. If it is rolled back, the cached state of audit log and state record is dropped.
    func write<R>(_ body: (any ItemWriting) throws(Failure) -> R) throws(Failure) -> R {
        // A write after the move would be lost: programs no longer read this store.
        guard !wasMoved.load(ordering: .acquiring) else {
            throw Failure(
                .daemonUnavailable, "The items were moved to the system's keychain.", hint: "Try again.")
        }
        let result = try transaction(body)
        recordWrite()
        return result
    }

    /// Frees the memory of the item store that only makes later reads faster. Blocks while a read or a write is under
    /// way.
    package func releaseMemory() { store.releaseMemory() }

    /// Runs one write transaction, then applies the changes recorded by the scan, or drops all cached state if it was rolled
    /// back.
    func transaction<R>(_ body: (any ItemWriting) throws(Failure) -> R) throws(Failure) -> R {
        var isDropped = false
        func drop() {
            audit.forget()
            state.forget()
            scan.finish(committed: false)
        }
        do throws(Failure) {
            let result = try store.write { (store) throws(Failure) in
                do throws(Failure) {
                    return try body(store)
                } catch {
                    // While no other thread can write: it would continue from what is rolled back.
                    drop()
                    isDropped = true
                    throw error
                }
            }
            scan.finish(committed: true)
            return result
        } catch {
            // The transaction could not be committed.
            if !isDropped { drop() }
            throw error
        }
    }

    /// Throws `noSuchAttribute` for attributes that items of the class do not have (behaviour KC-02).
    func check(_ attributes: Attributes, areOf itemClass: ItemClass) throws(Failure) {
        guard attributes.keys.allSatisfy(itemClass.has) else {
            throw Failure(.noSuchAttribute, "Items of this class have no such attribute.")
        }
    }

    /// Returns the groups that a query covers; throws `missingEntitlement` for a group that is not the caller's
    /// (behaviour KC-16).
    func groups(_ attributes: Attributes, _ caller: Caller) throws(Failure) -> [String] {
        guard !caller.groups.isEmpty else { throw Failure(.missingEntitlement, "The caller has no access group.") }
        guard case .text(let group) = attributes[.accessGroup] else { return caller.groups }
        guard caller.groups.containsBytes(of: group) else {
            throw Failure(
                .missingEntitlement, "The caller may not use that access group.",
                hint: "Leave kSecAttrAccessGroup out, or name one of the caller's own groups.")
        }
        return [group]
    }

    /// Returns filters that cover every row a query can match; each uses an index of the database.
    func filters(
        _ query: ItemQuery, _ caller: Caller, in store: any ItemReading
    ) throws(Failure) -> (ItemClass?, [RowFilter]) {
        if let reference = query.persistentReference {
            guard query.attributes.isEmpty, query.accessibility == nil else {
                throw Failure(.invalidParameter, "A query with a persistent reference takes no attributes.")
            }
            guard let id = try references.id(reference) else { return (nil, []) }
            return (query.itemClass, [.id(id)])
        }
        guard let itemClass = query.itemClass else {
            throw Failure(.invalidParameter, "The query has no item class.")
        }
        try check(query.attributes, areOf: itemClass)
        if itemClass == .secret, let pair = try rarestPair(query.pairs, in: store) { return (itemClass, [.pair(pair)]) }
        var filters: [RowFilter] = []
        for group in try groups(query.attributes, caller) { filters += try self.filters(query, itemClass, group) }
        return (itemClass, filters)
    }

    private func filters(_ query: ItemQuery, _ itemClass: ItemClass, _ group: String) throws(Failure) -> [RowFilter] {
        var key = query.attributes
        key[.accessGroup] = .text(group)
        let given = itemClass.primaryKey.filter { $0 != .synchronizable }
        if given.allSatisfy({ key[$0] != nil }) {
            var synchronizableValues: [AttributeValue] = [key[.synchronizable] ?? .boolean(false)]
            if query.anySynchronizable { synchronizableValues = [.boolean(false), .boolean(true)] }
            var filters: [RowFilter] = []
            for value in synchronizableValues {
                key[.synchronizable] = value
                filters.append(.primaryKey(try index.primaryKey(key, itemClass)))
            }
            return filters
        }
        for (number, code) in itemClass.indexed.enumerated() {
            guard let value = key[code],
                let hash = try index.attribute(code, value, group: group, itemClass)
            else { continue }
            // An absent attribute of the primary key counts as empty, but has no index entry.
            if value.compared == ItemClass.emptyValue(code).compared { continue }
            return [.indexed(number: number, hash)]
        }
        return [.group(try index.group(group, itemClass))]
    }

    /// Calls `body` with every matching item that is not invalidated, in insertion order within each filter, until it
    /// returns false.
    func forEachMatch(
        _ query: ItemQuery, _ caller: Caller, columns: RowColumns, in store: any ItemReading,
        _ body: (StoredRow, Item) throws(Failure) -> Bool
    ) throws(Failure) {
        let (itemClass, filters) = try filters(query, caller, in: store)
        var goesOn = true
        for filter in filters where goesOn {
            try store.forEachRow(filter, columns: columns) { (row) throws(Failure) in
                guard let item = try match(row, itemClass, query, caller) else { return true }
                goesOn = try body(row, item)
                return goesOn
            }
        }
    }

    /// Returns a row with its secret, reading it if the query left it out; nil when the row no longer exists.
    func whole(_ row: StoredRow, in store: any ItemReading) throws(Failure) -> StoredRow? {
        guard row.unreadSecretBytes != nil else { return row }
        return try whole(RowName(row), in: store)
    }

    /// Returns the row of that name with its secret; nil when it no longer exists.
    func whole(_ name: RowName, in store: any ItemReading) throws(Failure) -> StoredRow? {
        var found: StoredRow?
        try store.forEachRow(.id(name.id)) { (row) throws(Failure) in
            if row.position == name.position { found = row }
            return found == nil
        }
        return found
    }

    /// Returns the item of a row if it matches the query; nil for a damaged row and for an invalidated item.
    /// Invalidated enclave keys still match.
    func match(
        _ row: StoredRow, _ itemClass: ItemClass?, _ query: ItemQuery, _ caller: Caller
    ) throws(Failure) -> Item? {
        if let itemClass, itemClass != row.itemClass { return nil }
        guard let item = try undamaged(row, { () throws(Failure) in try envelopes.openAttributes(row) }) else {
            return nil
        }
        // An index of the caller's group never finds a row of another group, but a persistent reference can.
        guard caller.groups.containsBytes(of: item.accessGroup), !isDead(item) || item.isInToken,
            item.matches(query, in: row.itemClass)
        else { return nil }
        return item
    }
}

/// Identifies a row in few bytes, to read it again later.
struct RowName: Sendable {
    let position: Int64
    let id: [UInt8]

    init(_ row: StoredRow) { (position, id) = (row.position, row.id) }
}

// In tiers `user` and `simulated` the authority stores its counters and permissions in the keychain's own files.
extension Keychain: CounterStore, FacePermissionStore {}
