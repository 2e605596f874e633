// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams

// A new passcode, from its choice at the prompt until the store has adopted it, and the removal of one.

/// A passcode that was chosen at a prompt, with what permits the choice.
struct NewPasscode: Sendable {
    let text: SecretBytes
    let kind: PasscodeKind
    /// The recovery code that was shown; nil for none.
    let code: RecoveryKeys?
    /// The recovery code that permits the choice; nil if it is not one that replaces a forgotten passcode.
    var entered: UserAuthority.EnteredCode?
    /// What the current passcode has opened; nil if it was not entered.
    var opened: OpenedPasscode?
}

extension UserAuthority {
    /// Stores a new passcode that latchkeyd is going to adopt, and answers with what it needs for that.
    func choose(_ new: NewPasscode, _ token: AuthToken, _ answer: @escaping PromptSequence.Completion) {
        stretch(.passcodeNotChecked) { [self] () throws(Failure) -> AuthenticationGrant in
            try checkMayChoose()
            let (slotKey, passcodeID) =
                if let current = try changedByChip(new) {
                    try prepareChange(of: current, to: new)
                } else {
                    try prepare(new)
                }
            let recovery = new.code.map { code in
                RecoveryGrant(
                    rootKey: new.entered?.keys.rootKey, replacement: code.rootKey,
                    slotKeys: new.entered?.slotKeys ?? [])
            }
            let entered = AuthenticationGrant.Entered.slotKey(slotKey, passcodeID: passcodeID, recovery: recovery)
            return AuthenticationGrant(token: token, entered: entered)
        } then: {
            answer($0)
        }
    }

    /// Runs a body that stretches a passcode or calls latchkeyd, which the thread that receives its frames must not do.
    ///
    /// - Parameters:
    ///   - event: the event of the log for a failure of the body.
    ///   - then: called once with the result, on the same thread.
    func stretch<R: Sendable>(
        _ event: DaemonEvent, _ body: @escaping @Sendable () throws(Failure) -> R,
        then: @escaping @Sendable (Result<R, Failure>) -> Void
    ) {
        do throws(Failure) {
            try stretching.submit(.person) { [self] in
                let result = Result { () throws(Failure) in try body() }
                if case .failure(let failure) = result { shared.log.record(event, failure) }
                then(result)
            }
        } catch {
            then(.failure(error))
        }
    }

    /// Seconds in which latchkeyd adopts a choice; it takes no more than a write to its disk.
    private static let adoptionSeconds: Int64 = 5

    /// Throws while another choice is being adopted, whose record a second one would replace.
    private func checkMayChoose() throws(Failure) {
        let now = parts.clock.uptime
        let chosen = grants.withLock { $0.choice?.time }
        guard chosen.map({ now - $0 < Self.adoptionSeconds * 1_000_000_000 }) != true else {
            throw Failure(.notPermitted, "Another change of the passcode is under way.", hint: "Try again.")
        }
    }

    /// The current record, if a chip changes the passcode in place.
    private func changedByChip(_ new: NewPasscode) throws(Failure) -> PasscodeRecord? {
        guard new.entered == nil, let current = try passcodes.passcodeRecords().current, !current.chip.isEmpty
        else { return nil }
        return current
    }

    /// Prepares a change that the chip carries out when the store has adopted it. The recovery code opens either slot
    /// from now on. Blocks for the duration of scrypt.
    private func prepareChange(
        of current: PasscodeRecord, to new: NewPasscode
    ) throws(Failure) -> (slotKey: SecretBytes, passcodeID: [UInt8]) {
        var records = try passcodes.passcodeRecords()
        try verification.removeAbandoned(&records, from: passcodes)
        guard let opened = new.opened, let secret = opened.chipSecret else {
            throw Failure(.notPermitted, "A passcode is replaced only after the current one was entered.")
        }
        let (change, changed) = try verification.prepareChange(of: current, secret: secret, to: new.text)
        let (slotKey, passcodeID) = (changed.slotKey, current.passcodeID)
        let slotKeys = [slotKey, opened.slotKey]
        let random = shared.random
        try records.encryptForRecovery(slotKeys, random)
        if let code = new.code { records.preparedRecovery = try codeRecord(of: code, slotKeys, passcodeID: passcodeID) }
        try authority.persistCounters()
        try passcodes.persist(records)
        permit(.chip(change))
        return (slotKey, passcodeID)
    }

    private func permit(_ change: Choice.Change) {
        let choice = Choice(change: change, time: parts.clock.uptime)
        grants.withLock { $0.choice = choice }
    }

    /// Stores the record of a new passcode beside the current one. Blocks for the duration of scrypt.
    private func prepare(_ new: NewPasscode) throws(Failure) -> (slotKey: SecretBytes, passcodeID: [UInt8]) {
        let entered = new.entered
        var records = try passcodes.passcodeRecords()
        try verification.removeAbandoned(&records, from: passcodes)
        let random = shared.random
        // Before the records: with them alone, keys of the TPM would fail although the recovery is complete.
        if let entered { try approvals.restore(entered.approvalKey) }
        let known = entered?.record.passcodeID ?? records.current?.passcodeID
        let passcodeID =
            try entered != nil || authority.state.isPasscodeSet
            ? known ?? [] : random.bytes(AuthToken.identifierBytes).copyBytes()
        if let unused = records.prepared?.chip, !unused.isEmpty {
            // A choice that was never adopted. Its place in the chip is free before the next one is taken.
            (records.prepared, records.abandoned) = (nil, unused)
            if let entered { records.recovery = entered.record }
            try passcodes.persist(records)
            try verification.removeAbandoned(&records, from: passcodes)
        }
        let made: (record: PasscodeRecord, slotKey: SecretBytes)
        do throws(Failure) {
            made = try make(new, passcodeID, &records)
        } catch {
            guard error.cause is ChipHasNoRoom, let entered, try makeRoom(for: entered, records) else { throw error }
            made = try make(new, passcodeID, &records)
        }
        let (record, slotKey) = made
        // Counters are stored first: a passcode without counters means that they were removed.
        try authority.persistCounters()
        (records.prepared, records.abandoned) = (record, [])
        if let entered { records.recovery = entered.record }
        if let code = new.code {
            // The earlier keys too: until the store has adopted the new slot, it has the earlier one.
            let slotKeys = ([slotKey] + (entered?.slotKeys ?? [])).prefix(RecoveryGrant.slotKeys)
            records.preparedRecovery = try codeRecord(of: code, Array(slotKeys), passcodeID: passcodeID)
        }
        try passcodes.persist(records)
        permit(entered == nil ? .record : .recovery)
        return (slotKey, passcodeID)
    }

    /// Checks that the TPM has room for a first passcode, so that a person does not write down a recovery code in vain.
    ///
    /// The person has proven the account by then: before, any program could make the TPM write, which wears its memory.
    func checkRoomForFirst() throws(Failure) {
        try checkMayChoose()
        var records = try passcodes.passcodeRecords()
        // A passcode that was chosen meanwhile is refused or replaced when this one is stored.
        guard records.current == nil, records.prepared == nil else { return }
        try verification.removeAbandoned(&records, from: passcodes)
        guard let plan = try verification.plan() else { return }
        // Stored first, so that the index is found and removed if this process ends before it has removed it.
        records.abandoned = plan.record
        try passcodes.persist(records)
        try verification.checkRoom(for: plan)
        records.abandoned = []
        try passcodes.persist(records)
    }

    /// Makes a passcode, in tier `tpm` with a new index. Blocks for the duration of scrypt.
    private func make(
        _ new: NewPasscode, _ passcodeID: [UInt8], _ records: inout PasscodeRecords
    ) throws(Failure) -> (record: PasscodeRecord, slotKey: SecretBytes) {
        let plan = try verification.plan()
        if let plan {
            // Stored first, so that an index is found and removed if this process ends before its record is stored.
            records.abandoned = plan.record
            try passcodes.persist(records)
        }
        return try verification.make(
            new.text, passcodeID: passcodeID, cost: shared.passcodeCost,
            salt: shared.random.bytes(PasscodeRecord.saltBytes).copyBytes(), kind: new.kind, plan: plan)
    }

    /// Removes the index of the passcode that a recovery replaces, from a chip without room for a second one. The earlier
    /// passcode is verified by nothing from then on, so the code that was entered must open the store and its slot, whatever
    /// happens next: latchkeyd has opened the root key with it, and opens the slot here.
    ///
    /// - Returns: whether there is room that was not there before.
    private func makeRoom(for entered: EnteredCode, _ records: PasscodeRecords) throws(Failure) -> Bool {
        guard let current = records.current, !current.chip.isEmpty else { return false }
        for slotKey in entered.slotKeys {
            guard try store.opens(slotKey, current.passcodeID) else { continue }
            try verification.free(current.chip)
            return true
        }
        return false
    }

    /// Makes the chosen passcode the current one, which the store has adopted.
    func adoptPasscode(_ number: UInt64) throws(Failure) {
        // A choice of an earlier connection is finished by the next right passcode.
        let choice = grants.withLock { grants in
            defer { grants.choice = nil }
            return grants.choice
        }
        guard let choice else {
            throw Failure(.malformedRequest, "No passcode was chosen that could be adopted.")
        }
        submit(number) { [self] () throws(Failure) in
            var records = try passcodes.passcodeRecords()
            // Whatever becomes of the change: a value of the earlier passcode would count as a wrong one.
            authority.forgetPasscodeValues()
            if case .chip(let chipChange) = choice.change {
                if let own = records.current?.asOwn, records.current != own {
                    // Stored first: after a crash in between, either passcode would be verified without PAM. The other way
                    // round PAM would refuse the new one, and the person could enter none.
                    records.current = own
                    try passcodes.persist(records)
                }
                // Until this succeeds, and if it fails, the store opens with the current passcode too.
                try verification.carryOut(chipChange)
                if records.preparedRecovery != nil {
                    records.adoptRecovery()
                    shared.log.recording(.recordNotRead) { [records] () throws(Failure) in
                        try passcodes.persist(records)
                    }
                }
                return report(number, .passcodeExists(true))
            }
            guard let prepared = records.prepared else {
                throw Failure(.malformedRequest, "No passcode was chosen that could be adopted.")
            }
            let replaced = records.current?.chip ?? []
            (records.current, records.prepared, records.needsRekey) = (prepared, nil, false)
            if !replaced.isEmpty { records.abandoned = replaced }
            records.adoptRecovery()
            // If this fails, both records remain, and the next right passcode decides between them.
            shared.log.recording(.recordNotRead) { [records] () throws(Failure) in
                try passcodes.persist(records)
                var records = records
                // What the chip has for the earlier passcode. If it cannot be reached now, the next choice does this.
                try verification.removeAbandoned(&records, from: passcodes)
            }
            if case .recovery = choice.change {
                shared.log.record(.recovered, nil)
                authority.passcodeWasRecovered()
            }
            store.update(hasPasscode: true)
            report(number, .passcodeExists(true))
        }
    }

    /// Removes the records of the passcode, which the store has removed.
    func removePasscode(_ number: UInt64) throws(Failure) {
        let isPermitted = grants.withLock { grants in
            defer { grants.removal = false }
            return grants.removal
        }
        guard isPermitted else {
            throw Failure(.notPermitted, "The passcode is removed only after an authentication for that purpose.")
        }
        submit(number) { [self] () throws(Failure) in
            // From now on the record alone decides whether a passcode is right, also if the removal fails here.
            store.update(hasPasscode: false)
            var records = try passcodes.passcodeRecords()
            let (current, prepared) = (records.current?.chip ?? [], records.prepared?.chip ?? [])
            let last = current.isEmpty ? prepared : current
            // After an interrupted recovery the chip has two places, and the records remember one: the others are freed first.
            // If that fails, nothing has changed here, and the removal can be repeated.
            for other in [records.abandoned, prepared] where !other.isEmpty && other != last {
                try verification.free(other)
            }
            authority.forgetPasscodeValues()
            records = PasscodeRecords()
            records.abandoned = last
            try passcodes.persist(records)
            // If the chip cannot be reached now, this is made up for before the next passcode is set.
            shared.log.recording(.recordNotRead) { [records] () throws(Failure) in
                var records = records
                try verification.removeAbandoned(&records, from: passcodes)
            }
            report(number, .passcodeExists(false))
        }
    }
}
