// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

/// The store of a user behind the connection, as the authority sees it.
///
/// The passcode has two halves: a verifier in this process, and a slot in latchkeyd that only the right passcode opens.
/// A change touches both, and either process can end in between. So a change is prepared in the records, the slot is
/// replaced, and the records are finished. After an interruption `finish(on:_:)` keeps the record whose slot opens.
///
/// Its functions call latchkeyd and wait for the reply, so they block; the receiving thread must not call them.
final class ChannelStore: AuthorityClient, AccountPasscode {
    let userID: UInt32
    let passcodes: any PasscodeRecordStore
    let verification: PasscodeVerification
    let shared: AuthorityConnection.Parts
    /// Nil after the connection has ended, while a passcode may still be stretched.
    private weak let connection: AuthorityConnection?
    /// Whether the store has a passcode, as latchkeyd said last.
    private let storeHasPasscode = Atomic(false)

    private let values: PasscodeValues

    /// - Parameter values: those of passcodes with which keys of a chip are used.
    init(
        _ userID: UInt32, _ passcodes: any PasscodeRecordStore, _ connection: AuthorityConnection,
        values: PasscodeValues
    ) {
        self.userID = userID
        self.passcodes = passcodes
        verification = connection.verification
        self.connection = connection
        shared = connection.parts
        self.values = values
    }

    /// Whether a key that was derived from a recovery code opens the root key of the store.
    func recoveryOpens(_ rootKey: SecretBytes) throws(Failure) -> Bool {
        switch try call(.tryRecovery(StoreCall.TryRecovery(userID: userID, rootKey: rootKey))) {
        case .opened(let isOpen): return isOpen
        case .failure(let failure): throw failure
        case .done, .carried: throw Self.unexpected
        }
    }

    /// Wipes the values of the passcode with which keys of a chip are used.
    func forgetValues() { values.removeAll() }

    func update(hasPasscode: Bool) { storeHasPasscode.store(hasPasscode, ordering: .relaxed) }

    /// Whether the store has a passcode, as latchkeyd said last.
    var hasPasscode: Bool { storeHasPasscode.load(ordering: .relaxed) }

    var cost: UInt8 { shared.passcodeCost }

    func newSalt() throws(Failure) -> [UInt8] { try shared.random.bytes(PasscodeRecord.saltBytes).copyBytes() }

    func record(_ event: DaemonEvent, _ failure: Failure) { shared.log.record(event, failure) }

    func call(_ call: StoreCall) throws(Failure) -> StoreReply {
        guard let connection else { throw Failure(.systemCancel, "The connection between the services ended.") }
        return try connection.call(call)
    }

    func adopt(_ set: EnrolmentSet?) throws(Failure) {
        switch try call(.adopt(StoreCall.Adopt(userID: userID, set: set))) {
        case .done: return
        case .failure(let failure): throw failure
        case .opened, .carried: throw Self.unexpected
        }
    }

    /// Verifies a passcode by its record, then has the store open its slot.
    ///
    /// The record decides alone that a passcode is wrong or right, so that the store cannot claim either. Only for a
    /// passcode that was chosen and perhaps never adopted, the slot decides which of the two is the case.
    func open(_ passcode: SecretBytes) throws(Failure) -> PasscodeVerdict {
        try verifying { () throws(Failure) in try verdict(passcode) }
    }

    /// Verifies a passcode. While what verifies it does not answer, nothing of the passcode is sent, and the try does not
    /// count. Afterwards it counts unless it is shown to be right: latchkeyd learns from the answer of a chip whether a
    /// passcode was right, and can keep that answer for itself.
    func verifying(_ verify: () throws(Failure) -> PasscodeVerdict) throws(Failure) -> PasscodeVerdict {
        do throws(Failure) {
            try verification.checkAnswers(passcodes.passcodeRecords())
        } catch {
            if error.status == .vaultUnavailable { return .notVerified(error) }
            // Any other failure is one of the verification, which may have a second record.
        }
        return try verify()
    }

    private func verdict(_ typed: SecretBytes) throws(Failure) -> PasscodeVerdict {
        let records = try passcodes.passcodeRecords()
        guard records.current != nil || records.prepared != nil else {
            throw Failure(
                .storeUnreadable, "The record of the passcode is missing.",
                hint: verification.hasChip
                    ? "Restore it with the recovery code: latchkey recover"
                    : "Ask an administrator to run: latchkey doctor")
        }
        // The account password opens nothing unless the system has accepted it (`open(accountPassword:previous:)`).
        let (current, gone) = try verdict(typed, records)
        if let (current, opened) = current {
            do throws(Failure) {
                guard try opens(opened.slotKey, current.passcodeID) else {
                    throw Failure(
                        .storeUnreadable, "The passcode is right, but the keychain does not open with it.",
                        hint: "See: latchkey check")
                }
            } catch {
                // latchkeyd cannot make a right passcode count as a miss.
                return .rightButClosed(error)
            }
            try finish(on: current, records)
            return .right(opened)
        }
        guard let prepared = records.prepared, prepared.kind == .own,
            let opened = try verification.open(prepared, typed), try opens(opened.slotKey, prepared.passcodeID)
        else {
            if let gone { throw gone }
            return .wrong
        }
        try finish(on: prepared, records)
        return .right(opened)
    }

    /// Verifies a passcode by the current record.
    ///
    /// - Returns: what it has opened, if it is right; and the failure of a chip that cannot verify it any more, while a
    ///   prepared record may have replaced the current one.
    private func verdict(
        _ typed: SecretBytes, _ records: PasscodeRecords
    ) throws(Failure) -> (right: (PasscodeRecord, OpenedPasscode)?, gone: Failure?) {
        guard let current = records.current, current.kind == .own else { return (nil, nil) }
        do throws(Failure) {
            return (try verification.open(current, typed).map { (current, $0) }, nil)
        } catch {
            guard records.prepared != nil, error.status == .tpmReplaced || error.status == .passcodeDelayed else {
                throw error
            }
            return (nil, error)
        }
    }

    /// Makes a record the only one, unless it is. What a chip has for the other one is removed with the next new passcode.
    func finish(on record: PasscodeRecord, _ records: PasscodeRecords) throws(Failure) {
        guard records.prepared != nil || records.needsRekey else { return }
        try passcodes.persist(finished(on: record, records))
    }

    /// Returns the records with one of them as the only one.
    func finished(on record: PasscodeRecord, _ records: PasscodeRecords) -> PasscodeRecords {
        let other = record == records.current ? records.prepared : records.current
        var finished = PasscodeRecords(current: record)
        finished.abandoned = other.map(\.chip) ?? []
        if finished.abandoned.isEmpty { finished.abandoned = records.abandoned }
        (finished.recovery, finished.preparedRecovery) = (records.recovery, records.preparedRecovery)
        // The store adopts a code before the passcode that was chosen with it. Otherwise either code may be valid.
        if record == records.prepared { finished.adoptRecovery() }
        return finished
    }

    /// Whether the slot opens. A store without a passcode has no slot, so the record alone decides: the removal of a
    /// passcode was interrupted, and the right one completes it.
    func opens(_ slotKey: SecretBytes, _ passcodeID: [UInt8]) throws(Failure) -> Bool {
        guard hasPasscode else { return true }
        let call = StoreCall.Open(userID: userID, slotKey: slotKey, passcodeID: passcodeID)
        switch try self.call(.open(call)) {
        case .opened(let isOpen): return isOpen
        case .failure(let failure): throw failure
        case .done, .carried: throw Self.unexpected
        }
    }

    func counted(_ counters: PolicyCounters) {
        connection?.notify(.counted(StoreCall.Counted(userID: userID, counters: counters)))
    }

    /// Has latchkeyd record a failed try of an evaluation.
    func tryFailed(_ proof: TriedProof, challenge: [UInt8]) {
        connection?.notify(
            .tryFailed(StoreCall.TryFailed(userID: userID, challenge: challenge, proof: proof)))
    }

    func countersWereLost() throws(Failure) { connection?.notify(.countersWereLost(userID: userID)) }

    /// Has latchkeyd record that messages or services were not trusted.
    func refused(_ source: UntrustedSource, count: UInt64) {
        connection?.notify(.refused(StoreCall.Refused(userID: userID, source: source, count: count)))
    }

    /// Has latchkeyd apply a lock of login sessions; returns when no key is in its memory that the lock forbids.
    func applySessionLock(isLocked: Bool) throws(Failure) {
        switch try call(.sessionLock(StoreCall.SessionLock(userID: userID, isLocked: isLocked))) {
        case .done: return
        case .failure(let failure): throw failure
        case .opened, .carried: throw Self.unexpected
        }
    }

    static let unexpected = Failure(.internalFailure, "latchkeyd sent a reply of another kind.")
}
