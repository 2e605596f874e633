// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import Synchronization

/// What an audit entry tells. Numbers are part of the store format.
package enum AuditEvent: UInt8, Sendable {
    case added = 1
    case updated = 2
    case deleted = 3
    case used = 4
    case refused = 5
    case invalidated = 6
    case passcodeSet = 7
    case passcodeChanged = 8
    case passcodeRemoved = 9
    case enrolmentChanged = 10
    case rollbackAccepted = 11
    /// The counters of failed tries were changed or taken out of the file.
    case countersLost = 12
    /// A row that fails authentication was put aside.
    case quarantined = 13
    case exported = 20
}

/// The hash-chained trail: each entry is committed with the transaction it tells of.
final class AuditTrail: Sendable {
    private struct End {
        var sequence: Int64
        var chain: [UInt8]
    }
    private let tree: KeyTree
    private let chainKey: SymmetricKey
    private let clock: any Clock
    private let end = Mutex<End?>(nil)

    init(tree: KeyTree, clock: any Clock) throws(Failure) {
        self.tree = tree
        self.clock = clock
        chainKey = try tree.auditKey.derive("latchkey chain v1")
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
        let sequence = last.sequence + 1
        var writer = CBORWriter()
        writer.array(5)
        writer.integer(clock.wallTime)
        writer.unsigned(UInt64(event.rawValue))
        writer.bytes(item)
        writer.text(caller?.label ?? "")
        writer.integer(Int64(caller?.processID ?? 0))
        let binding = KeyTree.binding(tree.header, "audit \(sequence)")
        let sealed = try tree.auditKey.seal(writer.finish(), nonce: tree.nonce(), binding: binding)
        let chain = try chainKey.authenticationCode(last.chain + binding + sealed)
        try store.append(AuditEntry(sequence: sequence, sealed: sealed, chain: chain))
        end.withLock { $0 = End(sequence: sequence, chain: chain) }
        return sequence
    }

    /// Reads the end of the trail anew: the transaction that moved it was undone.
    func forget() { end.withLock { $0 = nil } }
}
