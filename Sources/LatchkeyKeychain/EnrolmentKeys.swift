// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import LatchkeyWire
import Synchronization

/// The enrolment key `E`: random for each enrolled set and deleted when the set changes, outside the database.
///
/// The generation counts the sets. The database names the generation it expects, so that an older database beside a
/// newer record is noticed (`storeRolledBack`).
package final class EnrolmentKeys: Sendable {
    /// One enrolled set and its key.
    struct Record: Equatable, Sendable {
        var generation: UInt64
        /// nil: nothing was enrolled.
        var set: EnrolmentSet?
        var key: SecretBytes
    }

    private static let generationRecord = "enrolment.generation"
    private let tree: KeyTree
    private let vault: any KeyVault
    private let current: Mutex<Record>
    private let rolledBack: Mutex<Bool>

    /// Reads the record, or makes the first one.
    package init(tree: KeyTree, vault: any KeyVault) throws(Failure) {
        self.tree = tree
        self.vault = vault
        let expected = try tree.store.read { (store) throws(Failure) in try store.record(Self.generationRecord) }
        guard let stored = try vault.enrolmentRecord() else {
            guard expected == nil else { throw Failure.damagedStore("its enrolment record is missing") }
            let first = Record(generation: 1, set: nil, key: try tree.random.bytes(32))
            try vault.replaceEnrolmentRecord(try Self.encode(first))
            try Self.keepGeneration(1, tree)
            current = Mutex(first)
            rolledBack = Mutex(false)
            return
        }
        var record = try Self.decode(stored)
        let generation = try expected.map { (bytes) throws(Failure) in try Self.decodeGeneration(bytes, tree) } ?? 0
        if generation > record.generation {
            // The database was told of a change that the record did not take in: finish it, the old key goes.
            record = Record(generation: generation, set: nil, key: try tree.random.bytes(32))
            try vault.replaceEnrolmentRecord(try Self.encode(record))
        }
        current = Mutex(record)
        // The first run ends between the two writes above with a record and no generation: nothing was stored yet.
        rolledBack = Mutex(generation < record.generation && !(expected == nil && record.generation == 1))
        if expected == nil, record.generation == 1 { try Self.keepGeneration(1, tree) }
    }

    /// The generation items are bound to now.
    package var generation: UInt64 { current.withLock { $0.generation } }

    /// Whether the database is older than the record: nothing is read before a passcode was seen.
    package var isRolledBack: Bool { rolledBack.withLock { $0 } }

    /// The set that the current key belongs to; nil when nothing is enrolled.
    var set: EnrolmentSet? { current.withLock { $0.set } }

    /// The key of the current set.
    var key: SecretBytes { current.withLock { $0.key } }

    /// Takes the database as it is after a passcode was seen; items bound to an older set stay dead.
    package func acceptAfterPasscode(
        also addition: KeyTree.Addition = { _ throws(Failure) in }
    ) throws(Failure) {
        guard isRolledBack else { return }
        try Self.keepGeneration(generation, tree, also: addition)
        rolledBack.withLock { $0 = false }
    }

    /// Compares what the sensor has enrolled with the record and deletes the key when it is another set.
    ///
    /// The database is told first: a crash in between is finished at the next start, never undone.
    /// - Returns: whether the set had changed.
    package func follow(
        _ set: EnrolmentSet?, also addition: KeyTree.Addition = { _ throws(Failure) in }
    ) throws(Failure) -> Bool {
        let record = current.withLock { $0 }
        guard record.set != set else { return false }
        // The record's file has no seal: an editor may have written the largest number there is.
        let (generation, isBeyond) = record.generation.addingReportingOverflow(1)
        guard !isBeyond else { throw Failure.damagedStore("its enrolment record has no generation left") }
        let next = Record(generation: generation, set: set, key: try tree.random.bytes(32))
        // A database that was rolled back is not told: it would be believed at the next start without a passcode.
        if isRolledBack {
            try tree.store.write(addition)
        } else {
            try Self.keepGeneration(next.generation, tree, also: addition)
        }
        try vault.replaceEnrolmentRecord(try Self.encode(next))
        current.withLock { $0 = next }
        return true
    }

    /// Throws when the record on the disk is not the one in use, or does not fit the database.
    func check() throws(Failure) {
        guard let stored = try vault.enrolmentRecord() else {
            throw Failure.damagedStore("its enrolment record is missing")
        }
        guard try Self.decode(stored) == current.withLock({ $0 }) else {
            throw Failure.damagedStore("its enrolment record was changed")
        }
        let kept = try tree.store.read { (store) throws(Failure) in try store.record(Self.generationRecord) }
        guard let kept, try Self.decodeGeneration(kept, tree) == generation || isRolledBack else {
            throw Failure.damagedStore("its enrolment generation was changed")
        }
        guard !isRolledBack else { throw Failure.damagedStore("its database is older than its enrolment record") }
    }

    // MARK: - Bytes

    private static func keepGeneration(
        _ generation: UInt64, _ tree: KeyTree, also addition: KeyTree.Addition = { _ throws(Failure) in }
    ) throws(Failure) {
        var writer = CBORWriter()
        writer.unsigned(generation)
        let sealed = try tree.recordKey.seal(
            writer.finish(), nonce: tree.nonce(), binding: KeyTree.binding(tree.header, generationRecord))
        try tree.store.write { (store) throws(Failure) in
            try store.setRecord(generationRecord, sealed)
            try addition(store)
        }
    }

    private static func decodeGeneration(_ bytes: [UInt8], _ tree: KeyTree) throws(Failure) -> UInt64 {
        guard let plain = try tree.recordKey.open(bytes, binding: KeyTree.binding(tree.header, generationRecord)),
            let value = plain.withBytes({ (bytes) -> UInt64? in
                var reader = CBORReader(bytes)
                return try? reader.unsigned()
            })
        else { throw Failure.damagedStore("its enrolment generation was changed") }
        return value
    }

    private static func encode(_ record: Record) throws(Failure) -> SecretBytes {
        var writer = CBORWriter()
        writer.array(4)
        writer.unsigned(1)
        writer.unsigned(record.generation)
        writer.bytes(record.set?.bytes ?? [])
        writer.bytes(record.key)
        return writer.finish()
    }

    private static func decode(_ bytes: SecretBytes) throws(Failure) -> Record {
        do throws(WireError) {
            return try bytes.withBytes { (bytes) throws(WireError) in
                var reader = CBORReader(bytes)
                let record = try reader.tuple(4) { (reader) throws(WireError) in
                    guard try reader.unsigned() == 1 else { throw .unsupportedVersion }
                    let generation = try reader.unsigned()
                    let set = try reader.bytes(limit: 64)
                    let key = try reader.secret(limit: 32)
                    guard key.count == 32 else { throw .invalidValue }
                    return Record(generation: generation, set: set.isEmpty ? nil : EnrolmentSet(set), key: key)
                }
                try reader.finish()
                return record
            }
        } catch {
            throw Failure.damagedStore("its enrolment record cannot be read")
        }
    }
}
