// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// The records of a user's passcode, of which latchkeyd keeps a copy that only the recovery code opens.
final class CopiedRecords: PasscodeRecordStore {
    private struct Core: Sendable {
        /// What latchkeyd has; empty for nothing, nil before it has said so.
        var copy: [UInt8]?
        var send: (@Sendable ([UInt8]) throws(Failure) -> Void)?
    }
    private let records: any PasscodeRecordStore
    private let core = Mutex(Core())

    init(_ records: any PasscodeRecordStore) { self.records = records }

    /// Sets what sends a copy to latchkeyd, which blocks until it is durable there.
    func sending(_ send: @escaping @Sendable ([UInt8]) throws(Failure) -> Void) { core.withLock { $0.send = send } }

    /// Returns the copy of latchkeyd; nil if it has none. Throws `storeUnreadable` for bytes of another form.
    func copied() throws(Failure) -> RecoveryCopy? {
        guard let bytes = core.withLock({ $0.copy }), !bytes.isEmpty else { return nil }
        guard let copy = RecoveryCopy(decoding: bytes) else { throw RecoveryCopy.damaged(nil) }
        return copy
    }

    /// Takes what latchkeyd has. A copy that is behind is sent again; records that are gone replace none.
    func follow(_ copy: [UInt8]) throws(Failure) {
        core.withLock { $0.copy = copy }
        let records = try records.passcodeRecords()
        guard RecoveryCopy(records) != nil else { return }
        try send(records)
    }

    func passcodeRecords() throws(Failure) -> PasscodeRecords { try records.passcodeRecords() }

    /// Stores the records and then the copy, so that latchkeyd gets nothing that depends on records without a copy.
    func keep(_ new: PasscodeRecords) throws(Failure) {
        try records.keep(new)
        try send(new)
    }

    private func send(_ records: PasscodeRecords) throws(Failure) {
        let (known, send) = core.withLock { ($0.copy, $0.send) }
        let copy = RecoveryCopy(records)?.encoded ?? []
        guard let send, let known, known != copy else { return }
        try send(copy)
        core.withLock { $0.copy = copy }
    }
}
