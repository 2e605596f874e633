// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SystemDriver

/// The key with which an authority approves uses of keys. One that was lost is not replaced by a new one where the recovery
/// code restores it: every key that is bound to the lost one would end without a word.
struct RecoverableApprovalKey: Sendable {
    private let keys: AuthorityFolder
    private let records: any PasscodeRecordStore
    private let store: ChannelStore

    init(_ keys: AuthorityFolder, _ records: any PasscodeRecordStore, _ store: ChannelStore) {
        (self.keys, self.records, self.store) = (keys, records, store)
    }

    /// Returns the key, which is made when it is needed first.
    ///
    /// - Throws: `storeUnreadable` for a lost key that the recovery code restores.
    func key() throws(Failure) -> SecretBytes {
        if let key = try keys.storedApprovalKey() { return key }
        guard try !isLost() else {
            throw Failure(
                .storeUnreadable,
                "The key that approves uses of this user's keys in the TPM is missing: files of latchkey-authd were lost.",
                hint: "Restore it with the recovery code: latchkey recover. Without the code: latchkey reset")
        }
        return try keys.storeApprovalKey(nil)
    }

    /// Stores the key that a recovery code has opened, if there is none.
    func restore(_ key: SecretBytes) throws(Failure) { _ = try keys.storeApprovalKey(key) }

    /// Whether a key existed that is not there any more. A code is made after the key; and where the store has a passcode of
    /// the chip without a record here, the whole folder was lost.
    private func isLost() throws(Failure) -> Bool {
        guard store.verification.hasChip else { return false }
        let records = try records.passcodeRecords()
        if records.recovery != nil || records.preparedRecovery != nil { return true }
        return store.hasPasscode && records.current == nil && records.prepared == nil
    }
}
