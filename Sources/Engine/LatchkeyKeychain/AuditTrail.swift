// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import Synchronization

/// The audit log, a hash chain: each entry is committed in the transaction that it describes, so none is missing for a
/// change that happened.
///
/// The newest entry also stores what authenticates the rest of the store: the set hash of all rows, and the serial
/// numbers of the state record and of the counters. So an attacker who replaces a part of the files has to cut the log
/// as well. Such a cut is found by the record of the chain's end (`storeEnd`), or by comparing the log with the rows.
///
/// Entries are sealed. `ChainVerifier` verifies them one by one, for `latchkey log --verify` and `StoreCheck`.
final class AuditTrail: Sendable {
    /// The end of the log: the number and the chain value of the newest entry, and the numbers it stores.
    struct End: Sendable {
        var sequence: Int64 = 0
        var chain: [UInt8] = []
        var numbers = StoreNumbers()
        /// How the log differs from the record of its end; the next entry says so.
        var mismatch: Mismatch?
    }

    let tree: KeyTree
    let chainKey: AuthenticationKey
    private let clock: any Clock
    private let counters: CounterFile
    /// Cached end of the log; nil: read it from the database.
    private let known = Mutex<End?>(nil)

    init(tree: KeyTree, counters: CounterFile, clock: any Clock) throws(Failure) {
        self.tree = tree
        self.counters = counters
        self.clock = clock
        chainKey = try AuthenticationKey(tree.auditKey.derive(.chain))
    }

    /// Returns the end of the log, including entries of an open transaction.
    func end(in store: any ItemReading) throws(Failure) -> End {
        if let end = known.withLock({ $0 }) { return end }
        var end = End()
        if let entry = try store.lastAuditEntry() {
            end.sequence = entry.sequence
            end.chain = entry.chain
            // If the newest entry fails authentication, the set hash is unknown; checks report that until the store
            // is accepted.
            end.numbers = try numbers(of: entry) ?? StoreNumbers(sum: nil)
        }
        // Before the next entry overwrites the record, which is the only trace of entries that were cut off.
        end.mismatch = try mismatch(in: store, last: end.sequence)
        known.withLock { $0 = end }
        return end
    }

    /// Changes the numbers that the next entry stores. An entry must follow in the same transaction.
    func change(in store: any ItemReading, _ body: (inout StoreNumbers) throws(Failure) -> Void) throws(Failure) {
        var end = try end(in: store)
        try body(&end.numbers)
        known.withLock { $0 = end }
    }

    /// Appends an entry within a transaction; `forget` must be called if the transaction is rolled back. If the log does not
    /// match the record of its end, an entry that says so comes first.
    /// - Parameters:
    ///   - count: number of equal events that the entry represents.
    ///   - time: when the newest of them happened, in microseconds since 1970-01-01 UTC; nil for now.
    ///   - ground: why the caller got what it asked for, or did not.
    /// - Returns: the sequence number of the entry.
    @discardableResult
    func append(
        _ event: AuditEvent, item: [UInt8] = [], caller: Caller?, count: UInt64 = 1, time: Int64? = nil,
        ground: AuditGround = .allowed([]), to store: any ItemWriting
    ) throws(Failure) -> Int64 {
        try recordMismatch(in: store)
        return try append(event, item, caller, count, time ?? clock.wallTime, ground, after: end(in: store), store)
    }

    /// Appends the entry which says that the log does not match the record of its end; does nothing while it matches.
    func recordMismatch(in store: any ItemWriting) throws(Failure) {
        var end = try end(in: store)
        guard let mismatch = end.mismatch else { return }
        // The numbers of entries that were cut off are not used again: the gap says how many there were at least, and
        // nothing that names one of them names another entry.
        end.sequence = max(end.sequence, mismatch.sequence)
        end.mismatch = nil
        try append(.trailCut, [], nil, 1, clock.wallTime, .allowed([]), after: end, store)
    }

    @discardableResult
    private func append(
        _ event: AuditEvent, _ item: [UInt8], _ caller: Caller?, _ count: UInt64, _ time: Int64,
        _ ground: AuditGround, after end: End, _ store: any ItemWriting
    ) throws(Failure) -> Int64 {
        var last = end
        let (sequence, isBeyond) = last.sequence.addingReportingOverflow(1)
        // The sequence column is not encrypted: an edited database may hold the largest number.
        guard !isBeyond else { throw Failure.damagedStore("its audit log has no sequence number left") }
        last.numbers.countersSerial = max(last.numbers.countersSerial, counters.serial)
        var writer = CBORWriter()
        writer.array(8)
        writer.integer(time)
        writer.unsigned(UInt64(event.rawValue))
        writer.bytes(item)
        writer.text(caller?.current.label ?? "")
        writer.integer(Int64(caller?.processID ?? 0))
        writer.unsigned(count)
        writer.unsigned(UInt64(ground.rawValue))
        last.numbers.write(to: &writer)
        let associatedData = associatedData(sequence)
        let sealed = try tree.auditKey.seal(writer.finish(), nonce: tree.nonce(), authenticating: associatedData)
        let chain = try chainKey.code(last.chain + associatedData + sealed)
        try store.append(AuditEntry(sequence: sequence, sealed: sealed, chain: chain))
        if !event.showsInItems { try storeEnd(sequence, chain, in: store) }
        last.sequence = sequence
        last.chain = chain
        known.withLock { [last] in $0 = last }
        return sequence
    }

    func associatedData(_ sequence: Int64) -> [UInt8] { Array("audit \(sequence)".utf8) + [0] + tree.header.bytes }

    /// Drops the cached end of the log, after the transaction that moved it was rolled back.
    func forget() { known.withLock { $0 = nil } }
}

/// The numbers that the newest audit entry stores.
struct StoreNumbers: Equatable, Sendable {
    /// The set hash of all rows; nil when it is unknown because an entry was changed.
    var sum: StoreSum? = StoreSum()
    var stateSerial: UInt64 = 0
    /// Serial number of the counters; counters with a smaller one are refused.
    var countersSerial: UInt64 = 0

    func write(to writer: inout CBORWriter) {
        writer.array(3)
        writer.bytes(sum?.bytes ?? [])
        writer.unsigned(stateSerial)
        writer.unsigned(countersSerial)
    }

    init(sum: StoreSum? = StoreSum()) { self.sum = sum }

    init(_ reader: inout CBORReader) throws(WireError) {
        (sum, stateSerial, countersSerial) = try reader.tuple(3) { (reader) throws(WireError) in
            let sum = try reader.bytes(limit: 40)
            guard sum.isEmpty || sum.count == 40 else { throw .invalidValue }
            return (StoreSum(sum), try reader.unsigned(), try reader.unsigned())
        }
    }
}
