// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import Synchronization

/// The hash-chained trail: each entry is committed with the transaction it tells of.
final class AuditTrail: Sendable {
    private struct End {
        var sequence: Int64
        var chain: [UInt8]
    }
    let tree: KeyTree
    let chainKey: AuthenticationKey
    private let clock: any Clock
    private let end = Mutex<End?>(nil)

    init(tree: KeyTree, clock: any Clock) throws(Failure) {
        self.tree = tree
        self.clock = clock
        chainKey = try AuthenticationKey(tree.auditKey.derive(.chain))
    }

    /// Appends an entry within a transaction; `forget` follows when the transaction is undone.
    /// - Returns: its number.
    @discardableResult
    func append(
        _ event: AuditEvent, item: [UInt8] = [], caller: Caller?, to store: any ItemWriting
    ) throws(Failure) -> Int64 {
        let last: End
        if let known = end.withLock({ $0 }) {
            last = known
        } else if let entry = try store.lastAuditEntry() {
            last = End(sequence: entry.sequence, chain: entry.chain)
        } else {
            last = End(sequence: 0, chain: [])
        }
        let (sequence, isBeyond) = last.sequence.addingReportingOverflow(1)
        // Numbers are not sealed: an editor of the file may have written the largest one there is.
        guard !isBeyond else { throw Failure.damagedStore("its audit trail has no number left") }
        var writer = CBORWriter()
        writer.array(5)
        writer.integer(clock.wallTime)
        writer.unsigned(UInt64(event.rawValue))
        writer.bytes(item)
        writer.text(caller?.current.label ?? "")
        writer.integer(Int64(caller?.processID ?? 0))
        let binding = binding(sequence)
        let sealed = try tree.auditKey.seal(writer.finish(), nonce: tree.nonce(), binding: binding)
        let chain = try chainKey.code(last.chain + binding + sealed)
        try store.append(AuditEntry(sequence: sequence, sealed: sealed, chain: chain))
        if !event.showsInItems { try keepEnd(sequence, chain, in: store) }
        end.withLock { $0 = End(sequence: sequence, chain: chain) }
        return sequence
    }

    /// What an entry is bound to.
    func binding(_ sequence: Int64) -> [UInt8] { KeyTree.binding(tree.header, "audit \(sequence)") }

    /// Reads the end of the trail anew: the transaction that moved it was undone.
    func forget() { end.withLock { $0 = nil } }
}
