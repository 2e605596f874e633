// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams

// The account password as passcode. The system has accepted it before; here the same string opens the slot, in tier
// `tpm` after the TPM has verified it.

extension ChannelStore {
    func open(accountPassword password: SecretBytes, previous: SecretBytes?) throws(Failure) -> PasscodeVerdict {
        try verifying { () throws(Failure) in
            let records = try passcodes.passcodeRecords()
            let candidates = [records.prepared, records.current].compactMap { $0 }.filter { $0.kind == .account }
            guard !candidates.isEmpty else {
                throw Failure(.internalFailure, "The password of the account is not the passcode.")
            }
            guard let previous else { return try open(password, candidates, records) }
            return try open(previous: previous, candidates, records, thenWith: password)
        }
    }

    /// Opens the slot with a password that the system has accepted. If no record fits, *rekey needed* is durable before
    /// this returns.
    private func open(
        _ password: SecretBytes, _ candidates: [PasscodeRecord], _ records: PasscodeRecords
    ) throws(Failure) -> PasscodeVerdict {
        for record in candidates {
            // A chip counts this password as wrong each time, until the previous one was entered.
            guard record.chip.isEmpty || !records.needsRekey else { continue }
            guard let opened = try verification.open(record, password) else { continue }
            let isCurrent = record == records.current
            do throws(Failure) {
                if try opens(opened.slotKey, record.passcodeID) {
                    try finish(on: record, records)
                    return .right(opened)
                }
            } catch {
                return .rightButClosed(error)
            }
            // The slot of a prepared record may never have been written; that of the current one exists.
            guard isCurrent, records.prepared == nil else { continue }
            return .rightButClosed(
                Failure(
                    .storeUnreadable, "The password is right, but the keychain does not open with it.",
                    hint: "See: latchkey check"))
        }
        if !records.needsRekey {
            var records = records
            records.needsRekey = true
            try passcodes.persist(records)
            record(
                .accountPasswordChanged,
                Failure(
                    .authenticationFailed, "The password of user \(userID) was changed outside Latchkey.",
                    hint: verification.hasChip
                        ? "The next prompt asks for the previous one. If it is forgotten: latchkey recover"
                        : "The next prompt asks for the previous one. If it is forgotten: latchkey reset"))
        }
        return .outdated
    }

    /// Opens the slot with the previous password, then replaces it by the present one. Verified by record and slot, or by a
    /// chip and the slot: the system no longer knows the previous password.
    private func open(
        previous: SecretBytes, _ candidates: [PasscodeRecord], _ records: PasscodeRecords,
        thenWith password: SecretBytes
    ) throws(Failure) -> PasscodeVerdict {
        for record in candidates {
            guard let opened = try verification.open(record, previous) else { continue }
            do throws(Failure) {
                guard try opens(opened.slotKey, record.passcodeID) else { continue }
                if previous == password {
                    // It was changed back since *rekey needed* was stored.
                    try finish(on: record, records)
                    return .right(opened)
                }
                if let secret = opened.chipSecret {
                    return .right(try rekey(record, opened, secret, records, to: password))
                }
                try rekey(from: record, to: password)
                return .right(nil)
            } catch {
                return .rightButClosed(error)
            }
        }
        return .wrong
    }

    /// Replaces the slot by one that the present password opens. Both records are durable while the store changes, and
    /// the slot decides between them after a crash.
    private func rekey(from record: PasscodeRecord, to password: SecretBytes) throws(Failure) {
        let (next, slotKey) = try PasscodeRecord.make(
            password, passcodeID: record.passcodeID, cost: cost, salt: try newSalt(), kind: .account)
        guard hasPasscode else {
            // The removal of the passcode was interrupted: there is no slot to replace.
            return try passcodes.persist(PasscodeRecords(current: next))
        }
        try passcodes.persist(PasscodeRecords(current: record, prepared: next, needsRekey: true))
        try replaceSlot(slotKey, passcodeID: record.passcodeID)
        try passcodes.persist(PasscodeRecords(current: next))
    }

    /// Has a chip replace the previous password by the present one. The store has both slots meanwhile, and the chip
    /// decides which of them can be opened.
    ///
    /// The order ensures that one of the two is valid whatever fails in between: until *rekey needed* is taken back the
    /// chip has the previous password, which the prompt asks for again. From then on the present one is asked of the
    /// chip first.
    ///
    /// - Parameters:
    ///   - opened: what the previous password has opened, `secret` among it.
    /// - Returns: what the present one opens.
    private func rekey(
        _ record: PasscodeRecord, _ opened: OpenedPasscode, _ secret: SecretBytes,
        _ records: PasscodeRecords, to password: SecretBytes
    ) throws(Failure) -> OpenedPasscode {
        let (change, new) = try verification.prepareChange(of: record, secret: secret, to: password)
        var records = finished(on: record, records)
        records.needsRekey = true
        try records.encryptForRecovery([new.slotKey, opened.slotKey], shared.random)
        try passcodes.persist(records)
        if hasPasscode { try replaceSlot(new.slotKey, passcodeID: record.passcodeID) }
        records.needsRekey = false
        try passcodes.persist(records)
        // Whatever becomes of the change: a value of the previous password would count as a wrong one.
        forgetValues()
        try verification.carryOut(change)
        // The store drops the slot of the previous password.
        guard try opens(new.slotKey, record.passcodeID) else {
            throw Failure(
                .storeUnreadable, "The password was replaced, but the keychain does not open with it.",
                hint: "See: latchkey check")
        }
        return new
    }

    private func replaceSlot(_ slotKey: SecretBytes, passcodeID: [UInt8]) throws(Failure) {
        let call = StoreCall.Open(userID: userID, slotKey: slotKey, passcodeID: passcodeID)
        switch try self.call(.replaceSlot(call)) {
        case .done: return
        case .failure(let failure): throw failure
        case .opened, .carried: throw Self.unexpected
        }
    }
}
