// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams

// A new passcode, from its choice at the prompt until the store has adopted it, and the removal of one.

extension UserAuthority {
    /// Answers an evaluation that was granted, and remembers what it permits.
    ///
    /// - Parameter secret: what a chip returned for the passcode that was entered.
    func granted(
        _ token: AuthToken, _ entered: EnteredSecret?, _ step: RequestedStep, _ account: AccountStep,
        _ secret: SecretBytes?,
        _ answer: @escaping @Sendable (AuthorityReply) -> Void
    ) {
        grants.withLock { grants in
            switch token.purpose {
            // Without the passcode an evaluation would permit nothing but what anyone could ask for.
            case .removePasscode, .discardProtected:
                grants.removal = token.methods.contains(.passcode) || account.isProof
            case .unlock: grants.unlockByBiometry = token.methods.contains(.biometry)
            default: break
            }
        }
        guard case .text(let text)? = entered else { return answer(.granted(AuthorityReply.Grant(token: token))) }
        guard case .asksNewPasscode = step else {
            return answer(.granted(AuthorityReply.Grant(token: token, entered: text)))
        }
        do throws(Failure) {
            try shared.stretching.submit(.person) { [self] in
                do throws(Failure) {
                    let (slotKey, passcodeID) = try prepare(text, account.kind, secret)
                    answer(.granted(AuthorityReply.Grant(token: token, entered: slotKey, passcodeID: passcodeID)))
                } catch {
                    shared.log.note(.passcodeNotChecked, error)
                    answer(.denied(error.status))
                }
            }
        } catch {
            answer(.denied(error.status))
        }
    }

    /// Stores the record of a new passcode beside the current one; if a chip judges both, only prepares the change.
    /// Blocks for the duration of scrypt.
    ///
    /// - Parameter secret: what the chip returned for the current passcode; nil for the first one, and without a chip.
    private func prepare(
        _ passcode: SecretBytes, _ kind: PasscodeKind, _ secret: SecretBytes?
    ) throws(Failure) -> (slotKey: SecretBytes, passcodeID: [UInt8]) {
        var records = try parts.passcodes.passcodeRecords()
        try verification.removeAbandoned(&records, from: parts.passcodes)
        if let current = records.current, !current.chip.isEmpty {
            guard let secret else {
                throw Failure(.notPermitted, "A passcode is replaced only after the current one was entered.")
            }
            let (change, slotKey) = try verification.prepareChange(of: current, secret: secret, to: passcode)
            try authority.keepCounters()
            grants.withLock { ($0.choice, $0.chipChange) = (true, change) }
            return (slotKey, current.passcodeID)
        }
        if let unused = records.prepared?.chip, !unused.isEmpty {
            // A choice that was never adopted. Its place in the chip is free before the next one is taken.
            (records.prepared, records.abandoned) = (nil, unused)
            try parts.passcodes.keep(records)
            try verification.removeAbandoned(&records, from: parts.passcodes)
        }
        let random = shared.random
        let passcodeID =
            try authority.state.isPasscodeSet
            ? records.current?.passcodeID ?? [] : random.bytes(AuthToken.identifierBytes).copyBytes()
        let (record, slotKey) = try verification.make(
            passcode, passcodeID: passcodeID, cost: shared.passcodeCost,
            salt: random.bytes(PasscodeRecord.saltBytes).copyBytes(), kind: kind)
        // Counters are stored first: a passcode without counters means that they were removed.
        try authority.keepCounters()
        records.prepared = record
        try parts.passcodes.keep(records)
        grants.withLock { ($0.choice, $0.chipChange) = (true, nil) }
        return (slotKey, passcodeID)
    }

    /// Makes the chosen passcode the current one, which the store has adopted.
    func adoptPasscode(_ number: UInt64) throws(Failure) {
        // A choice of an earlier connection is settled by the next right passcode.
        let (isChosen, chipChange) = grants.withLock { grants in
            defer { (grants.choice, grants.chipChange) = (false, nil) }
            return (grants.choice, grants.chipChange)
        }
        guard isChosen else {
            throw Failure(.malformedRequest, "No passcode was chosen that could be adopted.")
        }
        submit(number) { [self] () throws(Failure) in
            if let chipChange {
                // Until this succeeds, and if it fails, the store opens with the current passcode too.
                try verification.carryOut(chipChange)
                return report(number, .passcodeExists(true))
            }
            let records = try parts.passcodes.passcodeRecords()
            guard let prepared = records.prepared else {
                throw Failure(.malformedRequest, "No passcode was chosen that could be adopted.")
            }
            // If this fails, both records remain, and the next right passcode decides between them.
            shared.log.noting(.recordNotRead) { () throws(Failure) in
                try parts.passcodes.keep(PasscodeRecords(current: prepared))
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
            var records = try parts.passcodes.passcodeRecords()
            let chip = records.current?.chip ?? records.prepared?.chip ?? []
            records = PasscodeRecords()
            records.abandoned = chip
            try parts.passcodes.keep(records)
            // If the chip cannot be reached now, this is made up for before the next passcode is set.
            shared.log.noting(.recordNotRead) { [records] () throws(Failure) in
                var records = records
                try verification.removeAbandoned(&records, from: parts.passcodes)
            }
            store.follow(hasPasscode: false)
            report(number, .passcodeExists(false))
        }
    }
}
