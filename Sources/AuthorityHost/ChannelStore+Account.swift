// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams

// The password of the account as passcode. The system has accepted it before; here the same string opens the slot.

extension ChannelStore {
    func open(accountPassword password: SecretBytes, previous: SecretBytes?) throws(Failure) -> PasscodeVerdict {
        let records = try passcodes.passcodeRecords()
        let candidates = [records.prepared, records.current].compactMap { $0 }.filter { $0.kind == .account }
        guard !candidates.isEmpty else {
            throw Failure(.internalFailure, "The password of the account is not the passcode.")
        }
        guard let previous else { return try open(password, candidates, records) }
        // Judged by record and slot alone: the system no longer knows this password.
        for record in candidates {
            guard let slotKey = try record.open(previous) else { continue }
            guard try opens(slotKey, record) else { continue }
            do throws(Failure) {
                try rekey(from: record, to: password)
            } catch {
                return .rightButClosed(error)
            }
            return .right
        }
        return .wrong
    }

    /// Opens the slot with a password that the system has accepted. If no record fits, *rekey needed* is durable before
    /// this returns.
    private func open(
        _ password: SecretBytes, _ candidates: [PasscodeRecord], _ records: PasscodeRecords
    ) throws(Failure) -> PasscodeVerdict {
        for record in candidates {
            guard let slotKey = try record.open(password) else { continue }
            let isCurrent = record == records.current
            do throws(Failure) {
                if try opens(slotKey, record) {
                    if records != PasscodeRecords(current: record) {
                        try passcodes.keep(PasscodeRecords(current: record))
                    }
                    return .right
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
            try passcodes.keep(records)
            note(
                .accountPasswordChanged,
                Failure(
                    .authenticationFailed, "The password of user \(userID) was changed outside Latchkey.",
                    hint: "The next prompt asks for the previous one. If it is forgotten: latchkey reset"))
        }
        return .outdated
    }

    /// Replaces the slot by one that the present password opens. Both records are durable while the store changes, and
    /// the slot decides between them after a crash.
    private func rekey(from record: PasscodeRecord, to password: SecretBytes) throws(Failure) {
        let (next, slotKey) = try PasscodeRecord.make(
            password, passcodeID: record.passcodeID, cost: cost, salt: try newSalt(), kind: .account)
        guard hasPasscode else {
            // The removal of the passcode was interrupted: there is no slot to replace.
            return try passcodes.keep(PasscodeRecords(current: next))
        }
        try passcodes.keep(PasscodeRecords(current: record, prepared: next, needsRekey: true))
        try replaceSlot(slotKey, passcodeID: record.passcodeID)
        try passcodes.keep(PasscodeRecords(current: next))
    }

    func replaceSlot(_ slotKey: SecretBytes, passcodeID: [UInt8]) throws(Failure) {
        let call = StoreCall.Open(userID: userID, slotKey: slotKey, passcodeID: passcodeID)
        switch try self.call(.replaceSlot(call)) {
        case .done: return
        case .failure(let failure): throw failure
        case .opened, .carried: throw Self.unexpected
        }
    }
}
