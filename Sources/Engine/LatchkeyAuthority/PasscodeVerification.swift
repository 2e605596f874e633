// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeySeams

/// Makes, verifies and changes the passcode of a user: by the verifier of its record, or in tier `tpm` by a chip, with
/// which no copy of the records allows guessing. All functions block for the duration of scrypt.
package struct PasscodeVerification: Sendable {
    private let chip: (any PasscodeChip)?

    /// Creates a verification by that chip; by the records if it is nil.
    package init(_ chip: (any PasscodeChip)?) { self.chip = chip }

    /// A change that the chip carries out when the store has adopted the new passcode.
    package struct ChipChange: Sendable {
        fileprivate let record: [UInt8]
        fileprivate let secret, value: SecretBytes
    }

    // MARK: - A new passcode

    /// Whether a chip verifies passcodes, which a recovery code can replace.
    package var hasChip: Bool { chip != nil }

    /// Chooses the place of a new passcode in the chip; nil without one.
    package func plan() throws(Failure) -> ChipPasscodePlan? { try chip?.plan() }

    /// Checks that the chip has room for a new passcode; nothing without a chip.
    ///
    /// - Parameter plan: what `plan()` has returned, stored durably meanwhile.
    package func checkRoom(for plan: ChipPasscodePlan) throws(Failure) { try chip?.checkRoom(for: plan) }

    /// Makes the record of a new passcode and the key of its slot.
    ///
    /// - Parameter plan: what `plan()` has returned, stored durably meanwhile.
    package func make(
        _ passcode: SecretBytes, passcodeID: [UInt8], cost: UInt8, salt: [UInt8], kind: PasscodeKind = .own,
        plan: ChipPasscodePlan?
    ) throws(Failure) -> (record: PasscodeRecord, slotKey: SecretBytes) {
        guard let chip, let plan else {
            return try PasscodeRecord.make(passcode, passcodeID: passcodeID, cost: cost, salt: salt, kind: kind)
        }
        let stretched = try PasscodeRecord.stretch(passcode, salt: salt, cost: cost)
        let new = try chip.create(plan, Self.chipValue(stretched))
        guard
            let record = PasscodeRecord(cost: cost, salt: salt, passcodeID: passcodeID, kind: kind, chip: new.record)
        else {
            throw PasscodeRecord.notAccepted
        }
        return (record, try PasscodeRecord.slotKey(stretched, new.secret))
    }

    /// Checks that the chip which verifies the passcode of these records answers; nothing without a chip.
    package func checkAnswers(_ records: PasscodeRecords) throws(Failure) {
        guard let chip, let record = records.current ?? records.prepared, !record.chip.isEmpty else { return }
        try chip.checkAnswers(record.chip)
    }

    /// Returns the passcode's keys if it is right; nil otherwise.
    package func open(_ record: PasscodeRecord, _ passcode: SecretBytes) throws(Failure) -> OpenedPasscode? {
        switch (chip, record.chip.isEmpty) {
        case (nil, true):
            guard let slotKey = try record.open(passcode) else { return nil }
            return OpenedPasscode(slotKey: slotKey)
        case (let chip?, false):
            let stretched = try PasscodeRecord.stretch(passcode, salt: record.salt, cost: record.cost)
            let value = try Self.chipValue(stretched)
            guard let secret = try chip.open(record.chip, value) else { return nil }
            return OpenedPasscode(
                slotKey: try PasscodeRecord.slotKey(stretched, secret), chipSecret: secret, chipValue: value)
        // The configuration decides what verifies a passcode, not the record.
        case (nil, false), (_?, true):
            throw Failure(
                .storeOfAnotherTier, "The passcode was set in another tier.",
                hint: "Configure the tier that the keychain was made with.")
        }
    }

    // MARK: - While a prompt asks

    /// Prepares the chip for the next passcode, if it is settled which record verifies it. Blocks. A failure is reported by
    /// the verification.
    ///
    /// - Parameter forKeys: whether a key of the chip may demand the passcode, too.
    func prepare(_ records: PasscodeRecords, forKeys: Bool) {
        guard let chip, let current = records.current, !current.chip.isEmpty, records.prepared == nil,
            !records.needsRekey
        else { return }
        try? chip.prepare(current.chip, forKeys: forKeys)
    }

    /// Removes what was prepared and what a verification has left. Blocks.
    func endPreparation() { chip?.endPreparation() }

    // MARK: - A change by the chip

    /// Prepares the change of a passcode that the chip verifies. Nothing is stored; the record stays the same.
    ///
    /// - Parameter secret: what verifying the current passcode has returned.
    /// - Returns: the change, and what verifying the new passcode returns after it.
    package func prepareChange(
        of record: PasscodeRecord, secret: SecretBytes, to passcode: SecretBytes
    ) throws(Failure) -> (change: ChipChange, opened: OpenedPasscode) {
        let stretched = try PasscodeRecord.stretch(passcode, salt: record.salt, cost: record.cost)
        let value = try Self.chipValue(stretched)
        return (
            ChipChange(record: record.chip, secret: secret, value: value),
            OpenedPasscode(slotKey: try PasscodeRecord.slotKey(stretched, secret), chipSecret: secret, chipValue: value)
        )
    }

    /// HKDF(P, "value"): what the chip compares.
    private static func chipValue(_ stretched: SymmetricKey) throws(Failure) -> SecretBytes {
        try stretched.derive(.passcodeValue).secret
    }

    package func carryOut(_ change: ChipChange) throws(Failure) {
        guard let chip else { throw Failure(.internalFailure, "There is no chip that a passcode could be changed in.") }
        try chip.change(change.record, secret: change.secret, to: change.value)
    }

    // MARK: - Keys of the chip

    /// Returns the name of what verifies the passcode of these records; nil if no passcode is set, or no chip verifies it.
    package func verifier(_ records: PasscodeRecords) throws(Failure) -> [UInt8]? {
        guard let chip, records.current != nil || records.prepared != nil else { return nil }
        guard let current = records.current, records.prepared == nil else {
            throw Failure(
                .notPermitted, "The passcode was chosen, but it is not settled which one is valid.",
                hint: "Enter the passcode once, for example with: latchkey passcode change")
        }
        return try chip.verifier(of: current.chip)
    }

    /// Proves the passcode of these records to a session of the chip; returns whether the value is right.
    package func prove(
        _ value: SecretBytes, of records: PasscodeRecords, _ proof: KeyPasscodeProof
    ) throws(Failure) -> Bool {
        guard let chip, let current = records.current else {
            throw Failure(.passcodeNotSet, "There is no passcode that the TPM verifies.")
        }
        return try chip.prove(current.chip, value, proof)
    }

    /// Frees a place of the chip, whose record may remain: nothing verifies its passcode any more.
    package func free(_ place: [UInt8]) throws(Failure) {
        guard let chip else { throw Failure(.vaultUnavailable, "The TPM of the passcode is not used in this tier.") }
        try chip.remove(place)
    }

    /// Removes what the chip stores for records that are not used any more, and then what `records` remembers of it.
    package func removeAbandoned(_ records: inout PasscodeRecords, from store: any PasscodeRecordStore) throws(Failure)
    {
        guard !records.abandoned.isEmpty else { return }
        try free(records.abandoned)
        records.abandoned = []
        try store.persist(records)
    }
}

/// The values of passcodes that a chip has accepted, by the challenges of the tokens that prove them. A value proves the
/// passcode to the keys of the chip, so that a passcode which was typed once can be used for several operations.
package typealias PasscodeValues = ExpiringTable<[UInt8], SecretBytes>

extension PasscodeValues {
    /// Creates an empty table, whose alarms are those of `clock`.
    package convenience init(clock: any Clock) {
        self.init(clock: clock, seconds: Limits.passcodeValueSeconds, limit: KeyGrants.limit)
    }
}
