// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// The records of a user's passcode. In tier `tpm` latchkeyd has a copy of those of the recovery codes, which only a code
/// opens. The kind of the passcode is remembered: the state of the authority has it, and is sent often.
final class UserRecords: PasscodeRecordStore {
    private struct Core: Sendable {
        var kind: PasscodeKind?
        /// What latchkeyd has; empty for nothing, nil before it has said so.
        var copy: [UInt8]?
    }
    private let records: any PasscodeRecordStore
    private let userID: UInt32
    private let isCopied: Bool
    /// Nil after the connection has ended.
    private weak let connection: AuthorityConnection?
    private let core = Mutex(Core())

    /// - Parameter connection: where latchkeyd gets copies; nil where no recovery code replaces a passcode.
    init(_ records: any PasscodeRecordStore, of userID: UInt32, copiedTo connection: AuthorityConnection?) {
        (self.records, self.userID) = (records, userID)
        isCopied = connection != nil
        self.connection = connection
    }

    /// The kind that the passcode had when the records were read or stored last. While it may be either, this is the
    /// account password, the weaker of both. Nil if there is no passcode, or if the records could not be read.
    var kind: PasscodeKind? { core.withLock { $0.kind } }

    func passcodeRecords() throws(Failure) -> PasscodeRecords {
        do throws(Failure) {
            let found = try records.passcodeRecords()
            use(found.kinds)
            return found
        } catch {
            use([])
            throw error
        }
    }

    /// Stores the records and then the copy, so that latchkeyd gets nothing that depends on records without a copy.
    func persist(_ new: PasscodeRecords) throws(Failure) {
        try records.persist(new)
        use(new.kinds)
        try send(new)
    }

    private func use(_ kinds: Set<PasscodeKind>) {
        core.withLock { $0.kind = kinds.contains(.account) ? .account : kinds.first }
    }

    // MARK: - The copy

    /// Returns the copy of latchkeyd; nil if it has none. Throws `storeUnreadable` for bytes of another form.
    func copied() throws(Failure) -> RecoveryCopy? {
        guard let bytes = core.withLock({ $0.copy }), !bytes.isEmpty else { return nil }
        guard let copy = RecoveryCopy(decoding: bytes) else { throw RecoveryCopy.damaged(nil) }
        return copy
    }

    /// Takes what latchkeyd has. A copy that is behind is sent again; records that are gone replace none.
    func apply(_ copy: [UInt8]) throws(Failure) {
        guard isCopied else { return }
        core.withLock { $0.copy = copy }
        let records = try passcodeRecords()
        guard RecoveryCopy(records) != nil else { return }
        try send(records)
    }

    /// Blocks until latchkeyd has the copy durably.
    private func send(_ records: PasscodeRecords) throws(Failure) {
        let copy = RecoveryCopy(records)?.encoded ?? []
        guard isCopied, let known = core.withLock({ $0.copy }), known != copy else { return }
        guard let connection else { throw Failure(.systemCancel, "The connection between the services ended.") }
        switch try connection.call(.storeRecoveryCopy(StoreCall.StoreRecoveryCopy(userID: userID, copy: copy))) {
        case .done: core.withLock { $0.copy = copy }
        case .failure(let failure): throw failure
        case .opened, .carried: throw ChannelStore.unexpected
        }
    }
}
