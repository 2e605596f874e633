// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// The file `anchor`: state that restoring an older copy of the database must not undo. It holds the committed store
/// generation, the passcode slot and the key of the enrolment set.
///
/// A security event is written in these steps, each durable before the next:
///
/// | step | what it writes | if it fails |
/// | --- | --- | --- |
/// | P, prepare | the event as the preparation in the anchor | the event did not happen |
/// | C, commit | the event and its store generation in the database | the same, but the transaction may be on the disk: another one supersedes it before the next event |
/// | T, erase | with a new key of an enrolment set that a chip seals: the counter of the sets, which erases the earlier key | the event happened, and protected items stay closed until T, I and F succeed |
/// | I, increment | the vault's monotonic counter, if it has one | the same |
/// | F, finish | the generation in the file of the counters, then the anchor without the preparation | the same |
///
/// The database is written before the counters and the finished anchor, because the other order would make every power cut
/// look like a database that was rolled back. `AnchorCondition` says what an interrupted event looks like at the next start.
package final class Anchor: Sendable {
    struct State: Sendable {
        /// The record in the file, or the record that finishing the current event will write; nil while the file
        /// cannot be read.
        var record: AnchorRecord?
        var condition: AnchorCondition
        /// The key of the enrolment set; nil while it cannot be opened.
        var enrolmentKey: SecretBytes?
    }

    private let header: StoreHeader
    private let key: SymmetricKey
    private let vault: any KeyVault
    private let random: any RandomSource
    /// Stores each new store generation before the anchor does.
    private let counters: CounterFile
    private let state: Mutex<State>
    /// Serialises events, each from its preparation to its end.
    private let events = Mutex<Void>(())
    /// Whether the last commit failed: its transaction may or may not be on the disk.
    private let isUncertain = Mutex(false)

    /// Reads the anchor, compares it with the store generation of the database, and finishes or drops an interrupted
    /// event.
    ///
    /// - Parameter databaseGeneration: nil when the state record of the database cannot be read.
    init(tree: KeyTree, vault: any KeyVault, databaseGeneration: UInt64?, counters: CounterFile) throws(Failure) {
        self.counters = counters
        header = tree.header
        key = tree.anchorKey
        self.vault = vault
        random = tree.random
        var record = try vault.anchor().flatMap { (file) throws(Failure) in
            try AnchorRecord.decode(file, tree.anchorKey, tree.header)
        }
        if let record { counters.distrust(before: record.countersSerial) }
        let counter = vault.counter
        let number: StoreNumber =
            if let counter { try counter.value().map { .counter($0) } ?? .missing } else { .ofTheAnchor }
        var (condition, step) = AnchorCondition.found(
            database: databaseGeneration, record, witness: counters.generation, number: number)
        var next = record
        switch step {
        case .none: break
        case .drop: next?.preparation = nil
        case .finish: next = record.map(Self.finished)
        }
        if let next, next != record {
            do throws(Failure) {
                if step == .finish { try Self.advance(next, vault, counters) }
                try Self.write(next, tree.anchorKey, tree.header, vault, tree.random)
            } catch {
                // A preparation that remains is harmless: the next event overwrites it.
                if step == .finish { condition = .unfinished }
            }
            record = next
        }
        var key: SecretBytes?
        if condition == .clean, let found = record {
            (record, key, condition) = try Self.openKey(found, tree, vault)
        } else if case .clear(let stored)? = record?.contents.enrolmentKey, vault.enrolmentSeal == nil {
            // Only hardware has a say whether the key is opened; a vault of files has it in the anchor.
            key = stored
        }
        state = Mutex(State(record: record, condition: condition, enrolmentKey: key))
    }

    /// Opens the key of the enrolment set. One that a chip could seal and that is not sealed yet is sealed first: it is the
    /// first one of a store, or that of a store which an earlier version made.
    private static func openKey(
        _ record: AnchorRecord, _ tree: KeyTree, _ vault: any KeyVault
    ) throws(Failure) -> (AnchorRecord, SecretBytes?, AnchorCondition) {
        guard case .clear(let stored) = record.contents.enrolmentKey, let seal = vault.enrolmentSeal else {
            let (key, condition) = try openKey(record, vault)
            return (record, key, condition)
        }
        // Without a set nothing is bound to the key, so it is replaced by one that was never in a file.
        let key = record.contents.set == nil ? try tree.random.bytes(32) : stored
        let number = try seal.counter.create()
        var sealed = record
        sealed.contents.enrolmentKey = .sealed(try seal.seal(key, at: number), number: number)
        try write(sealed, tree.anchorKey, tree.header, vault, tree.random)
        return (sealed, key, .clean)
    }

    private static func openKey(
        _ record: AnchorRecord, _ vault: any KeyVault
    ) throws(Failure) -> (SecretBytes?, AnchorCondition) {
        switch record.contents.enrolmentKey {
        case .clear(let key): return (key, .clean)
        case .sealed(let sealed, let number):
            guard let seal = vault.enrolmentSeal else {
                throw Failure.damagedStore("a security chip has sealed a part of its anchor, and the tier has none")
            }
            do throws(Failure) {
                return (try seal.open(sealed, at: number), .clean)
            } catch {
                guard error.status == .anchorGone else { throw error }
                return (nil, .enrolmentKeyGone)
            }
        }
    }

    /// Encodes the first anchor of a new store: no passcode, enrolment generation 1.
    ///
    /// - Parameter generation: the number of the vault's counter; 0 for a vault without one.
    static func first(
        _ tree: SymmetricKey, _ header: StoreHeader, generation: UInt64, _ random: any RandomSource
    ) throws(Failure) -> SecretBytes {
        let contents = AnchorRecord.Contents(
            slot: nil, enrolmentGeneration: 1, set: nil, enrolmentKey: .clear(try random.bytes(32)))
        let record = AnchorRecord(committed: generation, contents: contents, bootID: [], countersSerial: 0)
        return try record.encoded(tree, header, nonce: random.bytes(SymmetricKey.nonceBytes).copyBytes())
    }

    // MARK: - Reading

    /// The result of comparing the anchor with the database.
    package var condition: AnchorCondition { state.withLock { $0.condition } }

    var record: AnchorRecord? { state.withLock { $0.record } }

    /// The generation that new items of `biometryCurrentSet` are bound to; 0 while there is no anchor.
    package var enrolmentGeneration: UInt64 { record?.contents.enrolmentGeneration ?? 0 }

    /// The key of the enrolment set; nil while it cannot be opened.
    var enrolmentKey: SecretBytes? { state.withLock { $0.enrolmentKey } }

    /// The enrolment set that was last stored durably; nil when nothing is enrolled.
    package var set: EnrolmentSet? { record?.contents.set }

    /// Whether a passcode is set according to the anchor.
    package var hasPasscode: Bool { record.map { $0.contents.slot != nil || $0.otherSlot != nil } ?? false }

    /// The public half of the passcode's key pair; nil when no passcode is set.
    var passcodeKey: PasscodePublicKey? { record?.contents.passcodeKey }

    /// The passcode slots, the newest first.
    var slots: [[UInt8]] { record.map { [$0.contents.slot, $0.otherSlot].compactMap { $0 } } ?? [] }

    // MARK: - Events

    /// The changes of one event.
    struct Change {
        var event: SecurityEvent
        var contents: AnchorRecord.Contents
        /// The store generation after the event.
        var target: UInt64
        var bootID: [UInt8]
        var countersSerial: UInt64
        /// Whether the passcode slot before the event remains, because the new passcode is not valid yet.
        var retainsEarlierSlot = false
    }

    /// Returns the number that the next event must exceed: that of the vault's counter; 0 for a vault without one.
    ///
    /// - Parameter event: the event. One that ends a condition creates a missing counter; the others throw `anchorGone`.
    func numberToExceed(for event: SecurityEvent) throws(Failure) -> UInt64 {
        guard let counter = vault.counter else { return 0 }
        if let number = try counter.value() { return number }
        guard event == .accepted || event == .protectedDiscarded else { throw AnchorCondition.counterGone }
        return try counter.create()
    }

    /// Seals a new key of an enrolment set to the number that the counter of the sets gets with the event.
    ///
    /// - Returns: the key of the set after the event.
    private func sealKey(
        of contents: inout AnchorRecord.Contents, for event: SecurityEvent
    ) throws(Failure) -> SecretBytes? {
        guard case .clear(let key) = contents.enrolmentKey else { return enrolmentKey }
        guard let seal = vault.enrolmentSeal else { return key }
        var number = try seal.counter.value()
        if number == nil, event == .accepted || event == .protectedDiscarded { number = try seal.counter.create() }
        guard let number else { throw AnchorCondition.keyGone }
        let (next, isBeyond) = number.addingReportingOverflow(1)
        guard !isBeyond else { throw Failure.damagedStore("the counter of its enrolment sets has no number left") }
        contents.enrolmentKey = .sealed(try seal.seal(key, at: next), number: next)
        return key
    }

    /// Writes an event in the steps of the table above. The failure of a step is thrown.
    ///
    /// - Parameters:
    ///   - change: makes the event from the record before it.
    ///   - overwrite: commits a transaction that supersedes one whose commit failed. The failed one may still be on
    ///     the disk, and the next start accepts it only with its own preparation, so it is superseded before another
    ///     event replaces that preparation.
    ///   - commit: writes the event and the store generation in one transaction.
    func carryOut(
        _ change: (AnchorRecord?) throws(Failure) -> Change, overwrite: () throws(Failure) -> Void,
        commit: (Change) throws(Failure) -> Void
    ) throws(Failure) {
        try events.withLock { (_) throws(Failure) in
            try finishLocked()
            if isUncertain.withLock({ $0 }) {
                try overwrite()
                isUncertain.withLock { $0 = false }
            }
            let before = record
            var change = try change(before)
            let key = try sealKey(of: &change.contents, for: change.event)
            var prepared =
                before
                ?? AnchorRecord(committed: 0, contents: change.contents, bootID: [], countersSerial: 0)
            prepared.preparation = AnchorRecord.Preparation(
                generation: change.target, event: change.event, contents: change.contents)
            // The in-memory state is unchanged until the commit: a store that was rolled back, or whose anchor is
            // old, stays refused.
            try write(prepared)
            // After a failure the preparation stays in the file: the transaction may still be on the disk, and
            // the next start compares the preparation with the database.
            isUncertain.withLock { $0 = true }
            try commit(change)
            isUncertain.withLock { $0 = false }
            var finished = Self.finished(prepared)
            if change.event.changesSlot, !change.retainsEarlierSlot { finished.otherSlot = nil }
            finished.bootID = change.bootID
            finished.countersSerial = change.countersSerial
            state.withLock { $0 = State(record: finished, condition: .unfinished, enrolmentKey: key) }
            do throws(Failure) { try finishLocked() } catch { throw .incomplete(error) }
        }
    }

    /// Retries the last step of an unfinished event; protected items can be opened again afterwards.
    func finish() throws(Failure) {
        guard condition == .unfinished else { return }
        try events.withLock { (_) throws(Failure) in try finishLocked() }
    }

    private func finishLocked() throws(Failure) {
        guard let record = state.withLock({ $0.condition == .unfinished ? $0.record : nil }) else { return }
        let key = enrolmentKey
        try Self.advance(record, vault, counters)
        try write(record)
        // An event that was interrupted before the start has its key opened only now.
        let opened = key == nil ? try Self.openKey(record, vault) : (key, .clean)
        state.withLock { ($0.enrolmentKey, $0.condition) = opened }
    }

    /// Replaces the passcode slots without a security event, after a right passcode: it drops the slot of an
    /// interrupted change, or replaces a slot of a lower cost. Does nothing if the slots have changed since `slots`
    /// was read, or while the condition is not `clean`.
    func retainOnly(slot: [UInt8], insteadOf slots: [[UInt8]]) throws(Failure) {
        try events.withLock { (_) throws(Failure) in
            guard var record, self.slots == slots, state.withLock({ $0.condition == .clean }) else { return }
            record.contents.slot = slot
            record.otherSlot = nil
            try write(record)
            state.withLock { $0.record = record }
        }
    }

    /// Throws `storeUnreadable` when the condition refuses requests, or the file differs from the record in memory. Waits for
    /// an event that is being written: until its end they differ.
    func check() throws(Failure) {
        try events.withLock { (_) throws(Failure) in
            if let refusal = condition.refusal {
                throw Failure(.storeUnreadable, refusal.message, hint: refusal.hint)
            }
            let stored = try vault.anchor().flatMap { (file) throws(Failure) in
                try AnchorRecord.decode(file, key, header)
            }
            guard let stored else { throw Failure.damagedStore("its anchor is missing or was changed") }
            guard stored == record else {
                throw Failure.damagedStore("its anchor is not the one that was last written")
            }
            if let counter = vault.counter, try counter.value() != stored.committed {
                throw Failure.damagedStore("the counter of the security chip is not the one of its anchor")
            }
            if case .sealed(_, let number) = stored.contents.enrolmentKey,
                try vault.enrolmentSeal?.counter.value() != number
            {
                throw Failure.damagedStore(
                    "the counter of the enrolled fingers and faces is not the one of its anchor")
            }
        }
    }

    // MARK: - Writing

    /// The steps T and I, and F as far as the file of the counters.
    private static func advance(
        _ record: AnchorRecord, _ vault: any KeyVault, _ counters: CounterFile
    ) throws(Failure) {
        if case .sealed(_, let number) = record.contents.enrolmentKey, let seal = vault.enrolmentSeal {
            try advance(seal.counter, to: number)
        }
        try advance(vault.counter, to: record.committed)
        // Before the anchor: without the generation in the counters, restoring database and anchor together would not be
        // detected.
        try counters.witness(record.committed)
    }

    /// Increments the counter, if there is one, until it has reached the store generation of an event. That is one
    /// increment, except after a condition was ended whose counter was behind.
    private static func advance(_ counter: (any MonotonicCounter)?, to generation: UInt64) throws(Failure) {
        guard let counter else { return }
        guard var number = try counter.value() else { throw AnchorCondition.counterGone }
        while number < generation { number = try counter.increment() }
    }

    private static func finished(_ record: AnchorRecord) -> AnchorRecord {
        guard let preparation = record.preparation else { return record }
        var finished = record
        finished.committed = preparation.generation
        finished.contents = preparation.contents
        finished.preparation = nil
        // The reply may not have reached the user, so both passcodes open the store until one of them is entered.
        finished.otherSlot = preparation.event.changesSlot ? record.contents.slot : nil
        return finished
    }

    private func write(_ record: AnchorRecord) throws(Failure) { try Self.write(record, key, header, vault, random) }

    private static func write(
        _ record: AnchorRecord, _ key: SymmetricKey, _ header: StoreHeader, _ vault: any KeyVault,
        _ random: any RandomSource
    ) throws(Failure) {
        let nonce = try random.bytes(SymmetricKey.nonceBytes).copyBytes()
        try vault.replaceAnchor(try record.encoded(key, header, nonce: nonce))
    }
}
