// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of all readers of a store's files: rows with their envelopes and indexes, records, audit entries,
// the anchor and the counters. An input is a list of edits with arbitrary bytes, either unsealed or sealed with the
// right key, so that the decoders of decrypted data are tested too. `scripts/fuzz 60 store` runs it. The tests of
// LatchkeyKeychain run the corpus and their own edits.

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyWire
import Synchronization

@testable import LatchkeyCrypto
@testable import LatchkeyKeychain

/// A store of a few items, edited by an attacker who can write its files.
enum FuzzedStore {
    private static let caller = Caller(groups: ["app", "shared"], label: "fuzz", processID: 1, userID: 1)
    private static let rootKey = SecretBytes([UInt8](repeating: 7, count: 32))
    private static let passcode = SecretBytes("1234".utf8)
    private static let set = EnrolmentSet([1, 2, 3])
    /// A proof that satisfies the access control of every item.
    private static let proof: Authorisation = {
        var state = PolicyState(
            AuthorityState(sensor: SensorState(kind: .touchID, enrolment: set), isPasscodeSet: true))
        let request = EvaluationRequest(
            id: 1, plan: AuthenticationPlan([[.biometry], [.passcode]]), allowsFallback: false,
            interactionAllowed: true, caller: caller)
        let events: [PolicyEvent] = [
            .evaluate(request), .promptVisible(1), .matched(1, set, isVirtual: false), .passcodeEntered(1, at: 0),
            .countersStored(1), .passcodeChecked(1, isRight: true),
        ]
        for case .reply(_, .success(let proof)) in events.flatMap({ state.reduce($0) }) { return proof }
        return .none
    }()

    /// The contents of the store's files.
    struct Files: Equatable, Sendable {
        var rows: [StoredRow] = []
        var records: [String: [UInt8]] = [:]
        var entries: [AuditEntry] = []
        var quarantine: [QuarantinedRow] = []
        var anchor: SecretBytes?
        var counters: [[UInt8]]?
    }

    /// The store before any edit, and the items that it returns.
    private struct Original: Sendable {
        var files: Files
        var items: [String]
        /// The keychain whose keys seal edits.
        var keychain: Keychain
    }

    private static let original: Original? = try? {
        let store = MemoryStore(Files())
        let header = try StoreHeader(tier: .simulated, userID: 1, storeID: [UInt8](repeating: 9, count: 16))
        let files = try KeyTree.create(in: store, rootKey: rootKey, header: header, random: CountingRandom())
        try store.replaceAnchor(files.anchor)
        try store.overwriteCounterSlot(0, with: files.counters)
        let keychain = try open(store)
        _ = try keychain.apply(set)
        try keychain.setPasscode(.stretched(stretched(keychain.newPasscodeStretching())), caller: caller)
        try keychain.persist(PolicyCounters(biometryFailures: 1, passcodeFailures: 1, passcodeBlockedUntil: 2))
        try keychain.persist(facePermissions: ["app": true])
        let rules: [(Accessibility, AccessConstraints)] = [
            (.whenUnlocked, []), (.afterFirstUnlock, .userPresence), (.whenUnlocked, .biometryCurrentSet),
            (.whenPasscodeSetThisDeviceOnly, []), (.whenUnlocked, .applicationPassword),
        ]
        for (number, rule) in rules.enumerated() {
            for itemClass in [ItemClass.genericPassword, .internetPassword] {
                let request = Request.AddItem(
                    itemClass: itemClass,
                    attributes: [.account: .text("item \(number)"), .label: .data([UInt8(number)])],
                    accessControl: AccessControl(accessibility: rule.0, constraints: rule.1),
                    secret: SecretBytes([UInt8](repeating: UInt8(number), count: number * 10)), returns: [],
                    authentication: Authentication(applicationPassword: passcode))
                var password = try keychain.appPassword(isGiven: true)
                for parameters in try keychain.stretchingToAdd(request.accessControl, password) {
                    password.add(try stretched(parameters))
                }
                _ = try keychain.add(request, caller: caller, password: password)
            }
        }
        return Original(files: store.files, items: items(keychain), keychain: keychain)
    }()

    /// Stretches the passcode, which is also the application password of the items that require one.
    private static func stretched(_ parameters: StretchParameters) throws(Failure) -> StretchedPassword {
        if let known = known.withLock({ $0[parameters] }) { return known }
        let stretched = try StretchedPassword(passcode, parameters)
        known.withLock { known in
            if known.count > 64 { known = [:] }
            known[parameters] = stretched
        }
        return stretched
    }

    /// Cache of stretched passwords: most runs stretch with the same few salts.
    private static let known = Mutex<[StretchParameters: StretchedPassword]>([:])

    private static func open(_ store: MemoryStore) throws(Failure) -> Keychain {
        let tree = try KeyTree.open(
            store, rootKey: rootKey, tier: .simulated, userID: 1, account: nil, random: CountingRandom(),
            scryptCost: 10)
        return try Keychain(tree: tree, vault: store, clock: StoppedClock())
    }

    /// All readable items as text, one class after the other.
    private static func items(_ keychain: Keychain) -> [String] {
        var items: [String] = []
        for itemClass in [ItemClass.genericPassword, .internetPassword] {
            let request = Request.CopyItems(
                query: ItemQuery(itemClass: itemClass, anySynchronizable: true), limit: .all,
                returns: [.data, .attributes, .persistentReference],
                authentication: Authentication())
            guard var password = try? keychain.appPassword(isGiven: true) else { continue }
            var cursor = SearchCursor()
            var result = SearchResult.more
            while result != .finished {
                var found: [FoundItem] = []
                let page = try? keychain.search(
                    request, caller: caller, proof: proof, password: password, from: &cursor, used: { _ in },
                    emit: { found.append($0) })
                for item in found {
                    let attributes = (item.attributes ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
                    items.append("\(item.itemClass) \(attributes) \(item.secret?.copyBytes() ?? [])")
                }
                result = page ?? .finished
                if case .needs = result { break }
                if case .stretch(let parameters) = result {
                    for parameters in parameters {
                        if let stretched = try? stretched(parameters) { password.add(stretched) }
                    }
                }
            }
        }
        return items
    }

    /// Reads and writes an edited store and describes how the result violates the property; nil when it does not.
    ///
    /// Every rejection is correct; a trap never is. Rows must not be lost, and items must not change without a key.
    static func complaint(aboutEdits bytes: [UInt8]) -> String? {
        guard let original else { return "the store cannot be created" }
        var edits = Edits(bytes: bytes[...], files: original.files, keychain: original.keychain)
        edits.apply()
        let store = MemoryStore(edits.files)
        guard let keychain = try? open(store) else { return nil }
        let before = store.files.rows.count + store.files.quarantine.count
        _ = try? keychain.unlock(passcode)
        if keychain.isRolledBack { try? keychain.acceptStore(caller: caller, proof: proof) }
        let found = items(keychain)
        // Without a key, an attacker cannot create or change items; edits sealed with a key can.
        if !edits.sealed, let strange = found.first(where: { !original.items.contains($0) }) {
            return "a forged item was found: \(strange)"
        }
        look(at: keychain)
        try? keychain.quarantineDamaged()
        if store.files.rows.count + store.files.quarantine.count != before { return "a row was lost" }
        if items(keychain) != found { return "quarantine changed the items" }
        var restore = QuarantineRestore(keychain, caller: caller)
        while (try? restore.next())?.more == true {}
        if store.files.rows.count + store.files.quarantine.count != before { return "restoring rows lost one" }
        let again = items(keychain)
        if !edits.sealed, let strange = again.first(where: { !original.items.contains($0) }) {
            return "a forged item was restored: \(strange)"
        }
        write(keychain)
        return nil
    }

    /// Calls every reading function other than the search.
    private static func look(at keychain: Keychain) {
        _ = try? keychain.storedCounters()
        _ = try? keychain.storedFacePermissions()
        _ = try? keychain.storedLock()
        _ = try? keychain.page(after: 0, caller: caller, proof: proof)
        var cursor = SearchCursor()
        _ = try? keychain.list(ItemQuery(itemClass: .genericPassword), caller: caller, from: &cursor) { _ in }
        for after in [0, 5, Int64.max] {
            _ = try? keychain.log(Request.Log(after: after, limit: 1000, verifies: true))
        }
        var check = StoreCheck(keychain)
        while (try? check.next())?.more == true {}
    }

    /// Calls every writing function; each may fail.
    private static func write(_ keychain: Keychain) {
        let request = Request.AddItem(
            itemClass: .genericPassword, attributes: [.account: .text("new")], accessControl: AccessControl(),
            secret: SecretBytes([1]), returns: .data, authentication: Authentication())
        _ = try? keychain.add(request, caller: caller)
        let query = ItemQuery(itemClass: .genericPassword, attributes: [.account: .text("item 0")])
        _ = try? keychain.update(
            Request.UpdateItems(
                query: query, changes: [.comment: .text("new")], accessControl: nil, secret: SecretBytes([2]),
                authentication: Authentication()), caller: caller, proof: proof)
        try? keychain.delete(query, caller: caller)
        _ = try? keychain.apply(EnrolmentSet([4]))
        try? keychain.changePasscode(
            to: .stretched(stretched(keychain.newPasscodeStretching())), caller: caller, proof: proof)
        try? keychain.removePasscode(caller: caller, proof: proof)
    }
}

/// Applies the edits that an input describes.
private struct Edits {
    var bytes: ArraySlice<UInt8>
    var files: FuzzedStore.Files
    let keychain: Keychain
    /// Whether an edit was sealed with a key of the store.
    var sealed = false

    private static let records = RecordName.allCases

    private mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    private mutating func data() -> [UInt8] {
        let count = Int(byte())
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }

    private mutating func number() -> Int64 {
        Int64(bitPattern: data().prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// New bytes of the input, or the old bytes with one of them changed.
    private mutating func changed(_ old: [UInt8]) -> [UInt8] {
        let how = byte()
        guard how < 128, !old.isEmpty else { return data() }
        var new = old
        new[Int(how) * 5 % old.count] ^= max(1, byte())
        return new
    }

    private func seal(_ plain: [UInt8], _ key: SymmetricKey, _ associatedData: [UInt8]) -> [UInt8] {
        (try? key.seal(SecretBytes(plain), nonce: [UInt8](repeating: 1, count: 12), authenticating: associatedData))
            ?? []
    }

    mutating func apply() {
        while !bytes.isEmpty {
            switch byte() % 4 {
            case 0, 1: editRow()
            case 2: editRecord()
            default: editTrail()
            }
        }
    }

    private mutating func editRow() {
        guard !files.rows.isEmpty else { return }
        let index = Int(byte()) % files.rows.count
        var row = files.rows[index]
        switch byte() % 14 {
        case 0: row.attributes = changed(row.attributes)
        case 1: row.secret = changed(row.secret ?? [])
        case 2: row.secret = nil
        case 3: row.primaryKey = changed(row.primaryKey)
        case 4: row.group = changed(row.group)
        case 5: row.id = changed(row.id)
        case 6: row.indexes = [data(), nil, data()]
        case 7: row.version = number()
        case 8: row.position = number()
        case 9: row.itemClass = row.itemClass == .genericPassword ? .internetPassword : .genericPassword
        case 10:
            // Appends a copy as the newest row.
            guard let last = files.rows.map(\.position).max(), last < .max else { return }
            row.position = last + 1
            return files.rows.append(row)
        case 11: return files.rows.swapAt(index, Int(byte()) % files.rows.count)
        case 12:
            sealed = true
            row.attributes =
                [1] + seal(data(), keychain.tree.metadataKey, keychain.envelopes.attributesAssociatedData(row))
        default:
            sealed = true
            guard let item = try? keychain.envelopes.openAttributes(row),
                let key = try? keychain.tree.classKey(item.accessControl.accessibility)
            else { return }
            let associatedData = keychain.envelopes.secretAssociatedData(row, item)
            row.secret = [1] + seal(data(), key, associatedData) + data()
        }
        // The position is the table's primary key, so two rows never share one.
        if files.rows.indices.contains(where: { $0 != index && files.rows[$0].position == row.position }) {
            row.position = files.rows[index].position
        }
        files.rows[index] = row
    }

    private mutating func editRecord() {
        let name = Self.records[Int(byte()) % Self.records.count]
        switch byte() % 4 {
        case 0: files.records[name.rawValue] = changed(files.records[name.rawValue] ?? [])
        case 1: files.records[name.rawValue] = nil
        case 2:
            sealed = true
            files.records[name.rawValue] = seal(data(), keychain.tree.recordKey, keychain.tree.associatedData(name))
        default: editBeside()
        }
    }

    /// Edits the anchor and the counters, which are files outside the database.
    private mutating func editBeside() {
        switch byte() % 4 {
        case 0: files.anchor = SecretBytes(changed(files.anchor?.copyBytes() ?? []))
        case 1: files.counters = files.counters?.map { changed($0) }
        case 2: files.counters = nil
        default:
            sealed = true
            let associatedData = CryptographicLabel.anchor.bytes + [0] + keychain.tree.header.bytes
            files.anchor = SecretBytes(FileMark.anchor.bytes + seal(data(), keychain.tree.anchorKey, associatedData))
        }
    }

    private mutating func editTrail() {
        guard !files.entries.isEmpty else { return }
        let index = Int(byte()) % files.entries.count
        switch byte() % 5 {
        case 0: files.entries[index].sealed = changed(files.entries[index].sealed)
        case 1: files.entries[index].chain = changed(files.entries[index].chain)
        case 2: files.entries[index].sequence = number()
        case 3: files.entries.remove(at: index)
        default:
            sealed = true
            let associatedData = keychain.audit.associatedData(files.entries[index].sequence)
            files.entries[index].sealed = seal(data(), keychain.tree.auditKey, associatedData)
        }
    }
}

/// A store in memory with its key vault.
private final class MemoryStore: ItemStore, KeyVault {
    private let state: Mutex<FuzzedStore.Files>

    init(_ files: FuzzedStore.Files) { state = Mutex(files) }

    var files: FuzzedStore.Files { state.withLock { $0 } }

    var counter: (any MonotonicCounter)? { nil }
    var enrolmentSeal: (any EnrolmentSeal)? { nil }
    func rootKey() throws(Failure) -> SecretBytes { FuzzedStore.key }
    func anchor() throws(Failure) -> SecretBytes? { files.anchor }
    func replaceAnchor(_ anchor: SecretBytes) throws(Failure) { state.withLock { $0.anchor = anchor } }
    func counterSlots() throws(Failure) -> [[UInt8]]? { files.counters }
    func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure) {
        state.withLock { state in
            var slots = state.counters ?? []
            while slots.count < 2 { slots.append([]) }
            slots[index] = bytes
            state.counters = slots
        }
    }
    func problems() throws(Failure) -> [String] { [] }
    // There is no cache.
    func releaseMemory() {}
    // There are no files.
    func eraseOldCopies(waits: Bool) throws(Failure) -> Bool { true }
    func mergeLog() throws(Failure) -> Bool { true }

    func read<R>(_ body: (any ItemReading) throws(Failure) -> R) throws(Failure) -> R {
        try body(Transaction(files))
    }

    func write<R>(_ body: (any ItemWriting) throws(Failure) -> R) throws(Failure) -> R {
        let transaction = Transaction(files)
        let result = try body(transaction)
        // The anchor and the counters are not part of the database's transaction.
        var written = transaction.files
        (written.anchor, written.counters) = (files.anchor, files.counters)
        state.withLock { $0 = written }
        return result
    }
}

private final class Transaction: ItemWriting {
    var files: FuzzedStore.Files

    init(_ files: FuzzedStore.Files) {
        self.files = files
        self.files.rows.sort { $0.position < $1.position }
        self.files.entries.sort { $0.sequence < $1.sequence }
    }

    func record(_ name: String) throws(Failure) -> [UInt8]? { files.records[name] }

    func forEachRow(
        _ filter: RowFilter, behind position: Int64, columns: RowColumns,
        _ body: (StoredRow) throws(Failure) -> Bool
    ) throws(Failure) {
        for row in files.rows where row.position > position && answers(row, filter) {
            guard try body(columns == .all ? row : row.withoutSecret) else { return }
        }
    }

    private func answers(_ row: StoredRow, _ filter: RowFilter) -> Bool {
        switch filter {
        case .primaryKey(let key): row.primaryKey == key
        case .id(let id): row.id == id
        case .group(let group): row.group == group
        case .indexed(let number, let hash): row.indexes.indices.contains(number) && row.indexes[number] == hash
        case .pair(let hash): row.pairs.contains(hash)
        case .all: true
        }
    }

    func lastPosition() throws(Failure) -> Int64 { files.rows.last?.position ?? 0 }
    func itemCount() throws(Failure) -> Int64 { Int64(files.rows.count) }
    func pairCount(_ hash: [UInt8], limit: Int) throws(Failure) -> Int {
        min(limit, files.rows.count { $0.pairs.contains(hash) })
    }
    func pairs(at position: Int64) throws(Failure) -> [[UInt8]] {
        files.rows.first { $0.position == position }?.pairs ?? []
    }
    func usage() throws(Failure) -> StoreUsage { StoreUsage(databaseBytes: 0, logBytes: 0, disk: nil) }
    func lastAuditEntry() throws(Failure) -> AuditEntry? { files.entries.last }
    func forEachAuditEntry(after sequence: Int64, _ body: (AuditEntry) throws(Failure) -> Bool) throws(Failure) {
        for entry in files.entries where entry.sequence > sequence {
            guard try body(entry) else { return }
        }
    }
    func forEachRowMark(behind position: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure) {
        for row in files.rows where row.position > position { guard try body(RowMark(row)) else { return } }
    }
    func forEachQuarantinedMark(behind number: Int64, _ body: (RowMark) throws(Failure) -> Bool) throws(Failure) {
        for row in files.quarantine where row.number > number {
            var mark = RowMark(row.row)
            mark.position = row.number
            guard try body(mark) else { return }
        }
    }
    func quarantineCount() throws(Failure) -> Int64 { Int64(files.quarantine.count) }
    func forEachQuarantined(
        behind number: Int64, _ body: (QuarantinedRow) throws(Failure) -> Bool
    ) throws(Failure) {
        for row in files.quarantine where row.number > number { guard try body(row) else { return } }
    }
    func restore(_ row: StoredRow, from number: Int64) throws(Failure) {
        files.quarantine.removeAll { $0.number == number }
        if files.rows.contains(where: { $0.position == row.position }) { return try insert(row) }
        files.rows.append(row)
    }
    func setRecord(_ name: String, _ value: [UInt8]?) throws(Failure) { files.records[name] = value }
    func insert(_ row: StoredRow) throws(Failure) {
        let (next, overflow) = try lastPosition().addingReportingOverflow(1)
        guard !overflow else { throw Failure(.diskFull, "There is no position left.") }
        var row = row
        row.position = next
        files.rows.append(row)
    }
    func replace(_ row: StoredRow) throws(Failure) {
        for index in files.rows.indices where files.rows[index].position == row.position { files.rows[index] = row }
    }
    func replaceEnvelopes(of row: StoredRow) throws(Failure) { try replace(row) }
    func delete(position: Int64) throws(Failure) { files.rows.removeAll { $0.position == position } }
    func append(_ entry: AuditEntry) throws(Failure) {
        guard !files.entries.contains(where: { $0.sequence == entry.sequence }) else {
            throw Failure(.storeUnreadable, "The entry exists.")
        }
        files.entries.append(entry)
        files.entries.sort { $0.sequence < $1.sequence }
    }
    func quarantine(position: Int64, entry: Int64) throws(Failure) {
        for row in files.rows where row.position == position {
            let number = (files.quarantine.last?.number ?? 0) + 1
            files.quarantine.append(QuarantinedRow(number: number, entry: entry, row: row))
        }
        try delete(position: position)
    }
}

extension FuzzedStore {
    fileprivate static var key: SecretBytes { rootKey }
}

/// A random source that returns the same bytes in each run.
private final class CountingRandom: RandomSource {
    private let count = Atomic<UInt64>(0)

    func bytes(_ count: Int) throws(Failure) -> SecretBytes {
        let number = self.count.add(1, ordering: .relaxed).newValue
        return SecretBytes((0..<count).map { UInt8(truncatingIfNeeded: number &* 31 &+ UInt64($0)) })
    }
}

private final class StoppedClock: Clock {
    private final class Never: Alarm { func cancel() {} }
    let uptime: Int64 = 1_000_000_000
    let bootID: [UInt8] = [1]
    let wallTime: Int64 = 1_767_225_600_000_000
    func alarm(after seconds: Int64, _ body: @escaping @Sendable () -> Void) -> any Alarm { Never() }
}
