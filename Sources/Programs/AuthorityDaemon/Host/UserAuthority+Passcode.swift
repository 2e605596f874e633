// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams

// A new passcode, from its choice at the prompt until the store has adopted it, and the removal of one.

extension UserAuthority {
    /// Answers an evaluation that was granted, and remembers what it permits.
    ///
    /// - Parameters:
    ///   - code: the recovery code that was shown before; nil for none.
    ///   - opened: what the passcode that was entered has opened.
    func granted(
        _ grant: AuthenticationGrant, _ step: LastStep, _ account: AccountStep,
        _ code: RecoveryKeys?, _ opened: PasscodeVerification.Opened?,
        _ answer: @escaping PromptSequence.Completion
    ) {
        let token = grant.token
        grants.withLock { grants in
            switch token.purpose {
            // Without the passcode an evaluation would permit nothing but what anyone could ask for.
            case .removePasscode, .discardProtected:
                grants.removal = token.methods.contains(.passcode) || account.isProof
            case .unlock: grants.unlockByBiometry = token.methods.contains(.biometry)
            default: break
            }
        }
        guard step == .asksNewPasscode, let passcode = grant.text else { return answer(.success(grant)) }
        choose(passcode, account.kind, code: code, replacing: opened, token, answer)
    }

    /// Stores a new passcode that latchkeyd is going to adopt, and answers with what it needs for that.
    ///
    /// - Parameters:
    ///   - code: the recovery code that was shown; nil for none.
    ///   - entered: the recovery code that permits the choice; nil if it is not one that replaces a forgotten passcode.
    ///   - opened: what the current passcode has opened.
    func choose(
        _ passcode: SecretBytes, _ kind: PasscodeKind, code: RecoveryKeys?, recoveredBy entered: EnteredCode? = nil,
        replacing opened: PasscodeVerification.Opened? = nil, _ token: AuthToken,
        _ answer: @escaping PromptSequence.Completion
    ) {
        do throws(Failure) {
            try stretching.submit(.person) { [self] in
                do throws(Failure) {
                    try checkMayChoose()
                    let (slotKey, passcodeID) =
                        if let current = try changedByChip(entered) {
                            try prepareChange(of: current, passcode, code, opened)
                        } else {
                            try prepare(passcode, kind, code, entered)
                        }
                    let recovery = code.map { code in
                        RecoveryGrant(
                            rootKey: entered?.keys.rootKey, replacement: code.rootKey,
                            slotKeys: entered?.slotKeys ?? [])
                    }
                    let entered = AuthenticationGrant.Entered.slotKey(
                        slotKey, passcodeID: passcodeID, recovery: recovery)
                    answer(.success(AuthenticationGrant(token: token, entered: entered)))
                } catch {
                    shared.log.note(.passcodeNotChecked, error)
                    answer(.failure(error))
                }
            }
        } catch {
            answer(.failure(error))
        }
    }

    /// Seconds in which latchkeyd adopts a choice; it takes no more than a write to its disk.
    private static let adoptionSeconds: Int64 = 5

    /// Throws while another choice is being adopted, whose record a second one would replace.
    private func checkMayChoose() throws(Failure) {
        let now = parts.clock.uptime
        let isBusy = grants.withLock { $0.choice && now - $0.choiceTime < Self.adoptionSeconds * 1_000_000_000 }
        guard !isBusy else {
            throw Failure(.notPermitted, "Another change of the passcode is under way.", hint: "Try again.")
        }
    }

    /// The current record, if a chip changes the passcode in place.
    private func changedByChip(_ entered: EnteredCode?) throws(Failure) -> PasscodeRecord? {
        guard entered == nil, let current = try parts.passcodes.passcodeRecords().current, !current.chip.isEmpty
        else { return nil }
        return current
    }

    /// Prepares a change that the chip carries out when the store has adopted it. The recovery code opens either slot
    /// from now on. Blocks for the duration of scrypt.
    ///
    /// - Parameter opened: what the current passcode has opened; nil if it was not entered.
    private func prepareChange(
        of current: PasscodeRecord, _ passcode: SecretBytes, _ code: RecoveryKeys?,
        _ opened: PasscodeVerification.Opened?
    ) throws(Failure) -> (slotKey: SecretBytes, passcodeID: [UInt8]) {
        var records = try parts.passcodes.passcodeRecords()
        try verification.removeAbandoned(&records, from: parts.passcodes)
        guard let opened, let secret = opened.chipSecret else {
            throw Failure(.notPermitted, "A passcode is replaced only after the current one was entered.")
        }
        let (change, new) = try verification.prepareChange(of: current, secret: secret, to: passcode)
        let (slotKey, passcodeID) = (new.slotKey, current.passcodeID)
        let slotKeys = [slotKey, opened.slotKey]
        let random = shared.random
        try records.encryptForRecovery(slotKeys, random)
        if let code { records.preparedRecovery = try codeRecord(of: code, slotKeys, passcodeID: passcodeID) }
        try authority.keepCounters()
        try parts.passcodes.keep(records)
        choice(change, isRecovery: false)
        return (slotKey, passcodeID)
    }

    private func choice(_ change: PasscodeVerification.ChipChange?, isRecovery: Bool) {
        let now = parts.clock.uptime
        grants.withLock { grants in
            (grants.choice, grants.chipChange) = (true, change)
            (grants.choiceTime, grants.isRecovery) = (now, isRecovery)
        }
    }

    /// Stores the record of a new passcode beside the current one. Blocks for the duration of scrypt.
    private func prepare(
        _ passcode: SecretBytes, _ kind: PasscodeKind, _ code: RecoveryKeys?, _ entered: EnteredCode?
    ) throws(Failure) -> (slotKey: SecretBytes, passcodeID: [UInt8]) {
        var records = try parts.passcodes.passcodeRecords()
        try verification.removeAbandoned(&records, from: parts.passcodes)
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
            try parts.passcodes.keep(records)
            try verification.removeAbandoned(&records, from: parts.passcodes)
        }
        let new: (record: PasscodeRecord, slotKey: SecretBytes)
        do throws(Failure) {
            new = try make(passcode, kind, passcodeID, &records)
        } catch {
            guard error.cause is ChipHasNoRoom, let entered, try makeRoom(for: entered, records) else { throw error }
            new = try make(passcode, kind, passcodeID, &records)
        }
        let (record, slotKey) = new
        // Counters are stored first: a passcode without counters means that they were removed.
        try authority.keepCounters()
        (records.prepared, records.abandoned) = (record, [])
        if let entered { records.recovery = entered.record }
        if let code {
            // The earlier keys too: until the store has adopted the new slot, it has the earlier one.
            let slotKeys = ([slotKey] + (entered?.slotKeys ?? [])).prefix(RecoveryGrant.slotKeys)
            records.preparedRecovery = try codeRecord(of: code, Array(slotKeys), passcodeID: passcodeID)
        }
        try parts.passcodes.keep(records)
        choice(nil, isRecovery: entered != nil)
        return (slotKey, passcodeID)
    }

    /// Checks that the TPM has room for a first passcode, so that a person does not write down a recovery code in vain.
    ///
    /// The person has proven the account by then: before, any program could make the TPM write, which wears its memory.
    func checkRoomForFirst() throws(Failure) {
        try checkMayChoose()
        var records = try parts.passcodes.passcodeRecords()
        // A passcode that was chosen meanwhile is refused or replaced when this one is stored.
        guard records.current == nil, records.prepared == nil else { return }
        try verification.removeAbandoned(&records, from: parts.passcodes)
        guard let plan = try verification.plan() else { return }
        // Stored first, so that the index is found and removed if this process ends before it has removed it.
        records.abandoned = plan.record
        try parts.passcodes.keep(records)
        try verification.checkRoom(for: plan)
        records.abandoned = []
        try parts.passcodes.keep(records)
    }

    /// Makes a passcode, in tier `tpm` with a new index. Blocks for the duration of scrypt.
    private func make(
        _ passcode: SecretBytes, _ kind: PasscodeKind, _ passcodeID: [UInt8], _ records: inout PasscodeRecords
    ) throws(Failure) -> (record: PasscodeRecord, slotKey: SecretBytes) {
        let plan = try verification.plan()
        if let plan {
            // Stored first, so that an index is found and removed if this process ends before its record is stored.
            records.abandoned = plan.record
            try parts.passcodes.keep(records)
        }
        return try verification.make(
            passcode, passcodeID: passcodeID, cost: shared.passcodeCost,
            salt: shared.random.bytes(PasscodeRecord.saltBytes).copyBytes(), kind: kind, plan: plan)
    }

    /// Removes the index of the passcode that a recovery replaces, from a chip without room for a second one. The earlier
    /// passcode is judged by nothing from then on, so the code that was entered must open the store and its slot, whatever
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
        // A choice of an earlier connection is settled by the next right passcode.
        let (isChosen, chipChange, isRecovery) = grants.withLock { grants in
            defer { (grants.choice, grants.chipChange, grants.isRecovery) = (false, nil, false) }
            return (grants.choice, grants.chipChange, grants.isRecovery)
        }
        guard isChosen else {
            throw Failure(.malformedRequest, "No passcode was chosen that could be adopted.")
        }
        submit(number) { [self] () throws(Failure) in
            var records = try parts.passcodes.passcodeRecords()
            // Whatever becomes of the change: a value of the earlier passcode would count as a wrong one.
            authority.forgetPasscodeValues()
            if let chipChange {
                if let own = records.current?.asOwn, records.current != own {
                    // Stored first: after a crash in between, either passcode would be judged without PAM. The other way
                    // round PAM would refuse the new one, and the person could enter none.
                    records.current = own
                    try parts.passcodes.keep(records)
                }
                // Until this succeeds, and if it fails, the store opens with the current passcode too.
                try verification.carryOut(chipChange)
                if records.preparedRecovery != nil {
                    records.adoptRecovery()
                    shared.log.noting(.recordNotRead) { [records] () throws(Failure) in
                        try parts.passcodes.keep(records)
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
            shared.log.noting(.recordNotRead) { [records] () throws(Failure) in
                try parts.passcodes.keep(records)
                var records = records
                // What the chip has for the earlier passcode. If it cannot be reached now, the next choice does this.
                try verification.removeAbandoned(&records, from: parts.passcodes)
            }
            if isRecovery {
                shared.log.note(.recovered, nil)
                authority.passcodeWasRecovered()
            }
            store.follow(hasPasscode: true)
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
            store.follow(hasPasscode: false)
            var records = try parts.passcodes.passcodeRecords()
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
            try parts.passcodes.keep(records)
            // If the chip cannot be reached now, this is made up for before the next passcode is set.
            shared.log.noting(.recordNotRead) { [records] () throws(Failure) in
                var records = records
                try verification.removeAbandoned(&records, from: parts.passcodes)
            }
            report(number, .passcodeExists(false))
        }
    }
}
